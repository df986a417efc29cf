import { expressionUnreadable } from '../errors.ts'

/** One number per pixel, or one for all pixels. */
export type Value = Float64Array | number

/** Returns the values of a band by its name in the expression. */
export type BandLookup = (name: string) => Float64Array

/** One expression for each part between semicolons. */
export interface Expression {
  /** Texts of the parts. */
  readonly parts: readonly string[]
  /** Names of bands that occur, each once. */
  readonly names: readonly string[]
  /** The values of each part for a number of pixels. */
  evaluate(band: BandLookup, count: number): Float64Array[]
}

type Node =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'band'; readonly name: string }
  | { readonly kind: 'call'; readonly work: (...values: number[]) => number; readonly of: readonly Node[] }

const MAX_CHARACTERS = 1000
const MAX_NODES = 200
const MAX_DEPTH = 50
const MAX_PARTS = 16

const truth = (value: boolean): number => (value ? 1 : 0)
const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '<': (a, b) => truth(a < b),
  '<=': (a, b) => truth(a <= b),
  '>': (a, b) => truth(a > b),
  '>=': (a, b) => truth(a >= b),
  '==': (a, b) => truth(a === b),
  '!=': (a, b) => truth(a !== b),
  '|': (a, b) => a | b,
  '&': (a, b) => a & b,
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  // The result has the sign of the divisor, as in Python.
  '%': (a, b) => a - b * Math.floor(a / b),
  '**': (a, b) => a ** b,
}
/** Operators by precedence, from the loosest to the tightest, as in Python. */
const LEVELS = [['<', '<=', '>', '>=', '==', '!='], ['|'], ['&'], ['+', '-'], ['*', '/', '%']] as const

const FUNCTIONS: Readonly<Record<string, readonly [count: number, work: (...values: number[]) => number]>> = {
  abs: [1, Math.abs],
  sqrt: [1, Math.sqrt],
  exp: [1, Math.exp],
  log: [1, Math.log],
  log10: [1, Math.log10],
  log1p: [1, Math.log1p],
  sin: [1, Math.sin],
  cos: [1, Math.cos],
  tan: [1, Math.tan],
  arcsin: [1, Math.asin],
  arccos: [1, Math.acos],
  arctan: [1, Math.atan],
  arctan2: [2, Math.atan2],
  floor: [1, Math.floor],
  ceil: [1, Math.ceil],
  min: [2, (a, b) => Math.min(a, b)],
  max: [2, (a, b) => Math.max(a, b)],
  where: [3, (condition, yes, no) => (condition === 0 ? no : yes)],
}

/**
 * Reads an expression of bands in the syntax of NumExpr: `(b4-b1)/(b4+b1)`, `where(b1>10, 1, 0)`, several with `;` between.
 *
 * @throws EXPRESSION_UNREADABLE, also beyond 1,000 characters, 16 parts or 200 operations
 */
export function parseExpression(text: string): Expression {
  if (text.length > MAX_CHARACTERS) throw expressionUnreadable({ why: `it has more than ${MAX_CHARACTERS} characters` })
  const parts = text.split(';').map((part) => part.trim())
  if (parts.at(-1) === '') parts.pop()
  if (parts.length === 0 || parts.length > MAX_PARTS) {
    throw expressionUnreadable({ why: `1 to ${MAX_PARTS} parts are allowed` })
  }
  const nodes = parts.map((part) => new Parser(part).parse())
  const names = new Set<string>()
  for (const node of nodes) collectNames(node, names)
  if (names.size === 0) throw expressionUnreadable({ why: 'it names no band' })
  return {
    parts,
    names: [...names],
    evaluate: (band, count) => nodes.map((node) => evaluateInRuns(node, band, count)),
  }
}

/** Number of pixels that are computed together, which bounds the memory of intermediate results. */
const RUN = 1 << 14

function evaluateInRuns(node: Node, band: BandLookup, count: number): Float64Array {
  const out = new Float64Array(count)
  for (let from = 0; from < count; from += RUN) {
    const to = Math.min(count, from + RUN)
    const value = valueOf(node, (name) => band(name).subarray(from, to), to - from)
    if (typeof value === 'number') out.fill(value, from, to)
    else out.set(value, from)
  }
  return out
}

function collectNames(node: Node, names: Set<string>): void {
  if (node.kind === 'band') names.add(node.name)
  else if (node.kind === 'call') for (const part of node.of) collectNames(part, names)
}

function valueOf(node: Node, band: BandLookup, count: number): Value {
  if (node.kind === 'number') return node.value
  if (node.kind === 'band') return band(node.name)
  const { work } = node
  const values = node.of.map((part) => valueOf(part, band, count))
  if (values.every((value) => typeof value === 'number')) return work(...values)
  const at = (value: Value | undefined, i: number): number =>
    typeof value === 'object' ? (value[i] as number) : (value ?? 0)
  const [a, b, c] = values
  const out = new Float64Array(count)
  for (let i = 0; i < count; i++) out[i] = work(at(a, i), at(b, i), at(c, i))
  return out
}

const TOKEN = /\s*(?:((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)|([a-z_]\w*)|(\*\*|<=|>=|==|!=|[-+*/%<>&|~(),]))/iy

/** Recursive descent over the tokens of one part. */
class Parser {
  readonly #tokens: readonly string[]
  #at = 0
  #nodes = 0
  #depth = 0

  constructor(text: string) {
    this.#tokens = tokensOf(text)
  }

  parse(): Node {
    const node = this.#level(0)
    if (this.#peek() !== undefined) throw expressionUnreadable({ why: `${this.#peek()} was not expected` })
    return node
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at]
  }

  #level(level: number): Node {
    if (++this.#depth > MAX_DEPTH * LEVELS.length) throw expressionUnreadable({ why: 'it is nested too deeply' })
    const operators = LEVELS[level] as readonly string[] | undefined
    let node = operators === undefined ? this.#unary() : this.#level(level + 1)
    while (operators?.includes(this.#peek() ?? '')) {
      const work = OPERATORS[this.#next()]!
      node = this.#call(work, [node, this.#level(level + 1)])
    }
    this.#depth--
    return node
  }

  #unary(): Node {
    const sign = this.#peek()
    if (sign !== '-' && sign !== '+' && sign !== '~') return this.#power()
    this.#next()
    // Limits chains such as `- - - …`, which have no brackets.
    if (++this.#depth > MAX_DEPTH * LEVELS.length) throw expressionUnreadable({ why: 'it is nested too deeply' })
    const of = [this.#unary()]
    this.#depth--
    if (sign === '+') return of[0]!
    return this.#call(sign === '-' ? (a) => -a : (a) => truth(a === 0), of)
  }

  #power(): Node {
    const base = this.#primary()
    if (this.#peek() !== '**') return base
    this.#next()
    return this.#call(OPERATORS['**']!, [base, this.#unary()])
  }

  #primary(): Node {
    const token = this.#next()
    if (token === '(') {
      const node = this.#level(0)
      this.#expect(')')
      return node
    }
    if (/^[\d.]/.test(token)) return this.#count({ kind: 'number', value: Number(token) })
    if (!/^[a-z_]/i.test(token)) throw expressionUnreadable({ why: `${token} was not expected` })
    return this.#peek() === '(' ? this.#function(token) : this.#count({ kind: 'band', name: token })
  }

  #function(name: string): Node {
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
    if (!known) {
      throw expressionUnreadable({
        why: `there is no function ${name}; there are ${Object.keys(FUNCTIONS).join(', ')}`,
      })
    }
    const [count, work] = known
    this.#expect('(')
    const of = [this.#level(0)]
    while (of.length < count) {
      this.#expect(',')
      of.push(this.#level(0))
    }
    this.#expect(')')
    return this.#call(work, of)
  }

  #call(work: (...values: number[]) => number, of: readonly Node[]): Node {
    return this.#count({ kind: 'call', work, of })
  }

  #count<T extends Node>(node: T): T {
    if (++this.#nodes > MAX_NODES) throw expressionUnreadable({ why: `it has more than ${MAX_NODES} operations` })
    return node
  }

  #next(): string {
    const token = this.#tokens[this.#at++]
    if (token === undefined) throw expressionUnreadable({ why: 'it ends too early' })
    return token
  }

  #expect(wanted: string): void {
    const token = this.#next()
    if (token !== wanted) throw expressionUnreadable({ why: `${wanted} was expected in the place of ${token}` })
  }
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex
    const found = TOKEN.exec(text)
    if (!found) throw expressionUnreadable({ why: `${text.slice(from, from + 10).trim()} cannot be read` })
    tokens.push((found[1] ?? found[2] ?? found[3])!)
  }
  return tokens
}
