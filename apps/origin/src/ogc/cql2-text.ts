import { badFilter } from './errors.ts'
import { numberOf, Numeral } from './exact-json.ts'

/** An expression in the form of CQL2 JSON (OGC 21-065r2, annex C); well-known text is `{ wkt }`. */
export type Node = string | number | Numeral | boolean | null | readonly Node[] | { readonly [name: string]: Node }

const MAX_LENGTH = 8192
const MAX_DEPTH = 40
/** One token: a text, a quoted name, a number, a name, an operator. */
const TOKEN =
  /\s*(?:('(?:[^'\\]|''|\\[^])*')|("(?:[^"]|"")*")|(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([\p{L}_][\p{L}\p{N}_.:]*)|(<>|<=|>=|[-+*/^%=<>(),]))/uy
const SHAPES = /^(?:point|linestring|polygon|multipoint|multilinestring|multipolygon|geometrycollection)$/i
const CALLS = /^(?:casei|accenti|[st]_\w+)$/i
/** Precedence of operators; NOT is between AND and comparisons. */
const BINDS: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  '=': 4,
  '<>': 4,
  '<': 4,
  '>': 4,
  '<=': 4,
  '>=': 4,
  not: 4,
  like: 4,
  ilike: 4,
  between: 4,
  in: 4,
  is: 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
  div: 6,
  '^': 7,
}
const [COMPARISON, SUM] = [4, 5]
/** Control characters by the letter behind a backslash (requirement cql2-text/escaping). */
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
}

/** A letter that a backslash does not escape. */
const KEPT = /[^abtnvfr'\\%_]/
/** A path that begins with a drive or a server. */
const PATH = /^(?:[a-z]:\\(?!\\)|\\\\[^\\]+\\(?![\\']))/i

interface Token {
  readonly kind: 'text' | 'name' | 'number' | 'word' | 'sign' | 'end'
  readonly value: string
  readonly start: number
  readonly end: number
}

/** Parses CQL2 text in time linear in its length. @throws BAD_FILTER */
export function parseCql2Text(text: string): Node {
  if (text.length > MAX_LENGTH) throw badFilter(`it is longer than ${MAX_LENGTH} characters`)
  return new Parser(text).whole()
}

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0
  /** Within the pattern of LIKE, where a backslash takes the meaning from %, _ and itself. */
  #isPattern = false

  constructor(text: string) {
    this.#text = text
    this.#tokens = tokensOf(text)
  }

  whole(): Node {
    const node = this.#expression(0)
    if (this.#next.kind !== 'end') throw this.#unexpected('the end')
    return node
  }

  get #next(): Token {
    return this.#tokens[this.#at]!
  }

  #expression(least: number): Node {
    if (++this.#depth > MAX_DEPTH) throw badFilter(`it is nested deeper than ${MAX_DEPTH} levels`)
    let left = this.#operand()
    for (;;) {
      const { kind, value } = this.#next
      const operator = kind === 'word' ? value.toLowerCase() : kind === 'sign' ? value : ''
      const binds = Object.hasOwn(BINDS, operator) ? BINDS[operator]! : -1
      if (binds < 0 || binds < least) break
      this.#at++
      left =
        binds === COMPARISON ? this.#comparison(left, operator) : joined(left, operator, this.#expression(binds + 1))
    }
    this.#depth--
    return left
  }

  #comparison(left: Node, operator: string): Node {
    if (operator === 'is') {
      const negated = this.#take('not')
      if (!this.#take('null')) throw this.#unexpected('NULL')
      return not(negated, { op: 'isNull', args: [left] })
    }
    const negated = operator === 'not'
    const of = negated ? ['like', 'ilike', 'between', 'in'].find((word) => this.#take(word)) : operator
    if (of === 'like') return not(negated, { op: 'like', args: [left, this.#pattern()] })
    // `ilike` is from the draft and is sent by GDAL 3.10.
    if (of === 'ilike') {
      const args = [left, this.#pattern()].map((arg) => ({ op: 'casei', args: [arg] }))
      return not(negated, { op: 'like', args })
    }
    if (of === 'between') {
      const from = this.#expression(SUM)
      if (!this.#take('and')) throw this.#unexpected('AND')
      return not(negated, { op: 'between', args: [left, from, this.#expression(SUM)] })
    }
    if (of === 'in') return not(negated, { op: 'in', args: [left, this.#list()] })
    if (negated) throw this.#unexpected('LIKE, BETWEEN or IN')
    return { op: operator, args: [left, this.#expression(SUM)] }
  }

  #pattern(): Node {
    this.#isPattern = true
    const pattern = this.#expression(SUM)
    this.#isPattern = false
    return pattern
  }

  #operand(): Node {
    const { kind, value } = this.#next
    if (kind === 'sign' && value === '(') {
      this.#at++
      const inner = this.#expression(0)
      this.#close()
      return inner
    }
    if (kind === 'sign' && (value === '-' || value === '+')) {
      this.#at++
      const operand = this.#expression(7)
      if (value === '+') return operand
      if (operand instanceof Numeral) return new Numeral(`-${operand.text}`.replace('--', ''))
      return typeof operand === 'number' ? -operand : { op: '*', args: [-1, operand] }
    }
    if (kind === 'word') return this.#word(value)
    if (kind === 'end' || kind === 'sign') throw this.#unexpected('a property or a value')
    this.#at++
    if (kind === 'number') return numberOf(value)
    return kind === 'text' ? unescaped(value, this.#isPattern) : { property: value }
  }

  #word(word: string): Node {
    const start = this.#next.start
    this.#at++
    const lower = word.toLowerCase()
    if (lower === 'not') return { op: 'not', args: [this.#expression(3)] }
    if (lower === 'true' || lower === 'false') return lower === 'true'
    if (lower === 'null') return null
    const isCall = this.#next.value === '(' && this.#next.kind === 'sign'
    if (SHAPES.test(word) && (isCall || /^z$/i.test(this.#next.value))) return { wkt: this.#shape(start) }
    if (!isCall) return { property: word }
    if (lower === 'date' || lower === 'timestamp') return { [lower]: this.#list()[0] ?? null }
    if (lower === 'interval' || lower === 'bbox') return { [lower]: this.#list() }
    if (CALLS.test(word)) return { op: lower, args: this.#list() }
    throw badFilter(`there is no function ${word.slice(0, 100)}`)
  }

  /** Coordinates are read by the database. */
  #shape(start: number): string {
    let depth = 0
    do {
      const { kind, value } = this.#next
      if (kind === 'end') throw this.#unexpected(')')
      if (kind === 'sign') depth += value === '(' ? 1 : value === ')' ? -1 : 0
      this.#at++
    } while (depth > 0 || this.#tokens[this.#at - 1]!.kind === 'word')
    return this.#text.slice(start, this.#tokens[this.#at - 1]!.end)
  }

  #list(): readonly Node[] {
    if (!this.#take('(')) throw this.#unexpected('(')
    const items = [this.#expression(0)]
    while (this.#take(',')) items.push(this.#expression(0))
    this.#close()
    return items
  }

  #close(): void {
    if (!this.#take(')')) throw this.#unexpected(')')
  }

  #take(word: string): boolean {
    const { kind, value } = this.#next
    const isIt = (kind === 'word' || kind === 'sign') && value.toLowerCase() === word
    if (isIt) this.#at++
    return isIt
  }

  #unexpected(wanted: string): Error {
    const { start, kind, value } = this.#next
    return badFilter(
      `${wanted} is wanted at ${start}, where ${kind === 'end' ? 'it ends' : `${value.slice(0, 40)} stands`}`,
    )
  }
}

/**
 * A text without its escapes. Other letters behind a backslash stay with it.
 *
 * @throws BAD_FILTER for single backslashes that may be meant as themselves: in a path such as `C:\temp`, which has a tab
 *   by the standard, and beside ones that escape nothing
 */
function unescaped(text: string, isPattern: boolean): string {
  const letters = [...text.matchAll(/\\([^])/g)].map(([, letter]) => letter!)
  const isMixed = letters.some((letter) => letter in CONTROLS) && letters.some((letter) => KEPT.test(letter))
  if (isMixed || PATH.test(text)) throw badFilter(`write \\\\ for each backslash in '${text.slice(0, 100)}'`)
  return text.replaceAll(/''|\\([^])/g, (pair, letter: string | undefined) => {
    if (letter === undefined || letter === "'") return "'"
    if (letter === '\\') return isPattern ? pair : letter
    return CONTROLS[letter] ?? pair
  })
}

/** Chains of AND or OR become one list, of any length. */
function joined(left: Node, op: string, right: Node): Node {
  const isChain =
    (op === 'and' || op === 'or') && typeof left === 'object' && left !== null && 'op' in left && left.op === op
  return { op, args: isChain ? [...(left as { args: readonly Node[] }).args, right] : [left, right] }
}

function not(negated: boolean, node: Node): Node {
  return negated ? { op: 'not', args: [node] } : node
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex
    const found = TOKEN.exec(text)
    if (!found) throw badFilter(`${text.slice(from, from + 40)} cannot be read at ${from}`)
    const [, quoted, name, number, word, sign] = found
    const value = quoted?.slice(1, -1) ?? name?.slice(1, -1).replaceAll('""', '"') ?? number ?? word ?? sign ?? ''
    const kind =
      quoted !== undefined
        ? 'text'
        : name !== undefined
          ? 'name'
          : number !== undefined
            ? 'number'
            : word !== undefined
              ? 'word'
              : 'sign'
    tokens.push({ kind, value, start: TOKEN.lastIndex - found[0].trimStart().length, end: TOKEN.lastIndex })
  }
  return [...tokens, { kind: 'end', value: '', start: end, end }]
}
