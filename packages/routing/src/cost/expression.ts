import type { Field } from '../graph/fields.ts'

/**
 * What something costs, as data: a sum or product of terms, each of which looks up its weight by one fact, a small whole
 * number such as the class of a road.
 */
export type Expression<Fact extends string> =
  | number
  | Term<Fact>
  | { readonly fact: Fact }
  | { readonly by: Fact; readonly cases: Cases<Fact>; readonly otherwise: Expression<Fact> }
  | { readonly operation: Operation; readonly parts: readonly Expression<Fact>[] }

type Cases<Fact extends string> = Readonly<Record<number, Expression<Fact>>>

/** A weight by one fact. Values of the fact that have none weigh what changes nothing. */
export interface Term<Fact extends string> {
  readonly term: string
  readonly unit: Unit
  readonly by: Fact
  readonly weights: Weights
  /** What all weights are multiplied by. */
  readonly scale: number
}

/** Weights by the value of a fact. */
export type Weights = readonly number[] | Readonly<Record<number, number>>

/** Seconds and shares are added, factors multiplied; speeds are km/h. */
type Unit = 'seconds' | 'share' | 'factor' | 'km/h'

const NO_CHANGE: Readonly<Record<Unit, number>> = { seconds: 0, share: 0, factor: 1, 'km/h': 0 }

const term =
  (unit: Unit) =>
  <Fact extends string>(name: string, by: Fact, weights: Weights, scale = 1): Term<Fact> => {
    return { term: name, unit, by, weights, scale }
  }

/** A term in seconds. */
export const seconds = term('seconds')
/** A term that is added to a factor. */
export const share = term('share')
export const factor = term('factor')
export const speed = term('km/h')

type Operation = 'sum' | 'product' | 'quotient'

const operation =
  (name: Operation) =>
  <Fact extends string>(...parts: readonly Expression<Fact>[]): Expression<Fact> => ({ operation: name, parts })

export const sum = operation('sum')
export const product = operation('product')
export const quotient = operation('quotient')

/** Weights for each value of a field, from nothing on. */
export function tabulate({ mask }: Field, weigh: (value: number) => number): number[] {
  return Array.from({ length: mask + 1 }, (_, value) => weigh(value))
}

/** An expression for the machine that evaluates it: instructions, and the numbers and tables that they refer to. */
export interface Program {
  readonly code: Int32Array
  readonly numbers: Float64Array
}

/** Instructions by what they do with a value; each has two operands. */
const Code = { push: 0, add: 1, multiply: 2, divide: 3, jump: 4, choose: 5 } as const
/** Where the value of an instruction comes from. */
const From = { number: 0, fact: 8, table: 16, stack: 24 } as const

const CODES: Readonly<Record<Operation, number>> = { sum: Code.add, product: Code.multiply, quotient: Code.divide }

/** Most values of a fact by which cases or a few weights are listed. */
export const VALUES = 64

/**
 * Writes an expression as a program. Terms that change nothing, whatever the fact, are left out.
 *
 * @param facts place of each fact among those that the program is run on
 */
export function compile<Fact extends string>(
  expression: Expression<Fact>,
  facts: Readonly<Record<Fact, number>>,
): Program {
  const code: number[] = []
  const numbers: number[] = []
  const tables = new Map<Term<Fact>, number>()

  /** Does something with the value of an expression. */
  function write(part: Expression<Fact>, act: number): void {
    const constant = constantOf(part)
    if (constant !== null) code.push(act + From.number, act, numbers.push(constant) - 1)
    else if (typeof part === 'number') throw new Error('a number is constant')
    else if ('fact' in part) code.push(act + From.fact, facts[part.fact], act)
    else if ('term' in part) code.push(act + From.table, facts[part.by], tableOf(part))
    else {
      if ('cases' in part) writeCases(part)
      else countingParts(part).forEach((each, i) => write(each, i === 0 ? Code.push : CODES[part.operation]))
      if (act !== Code.push) code.push(act + From.stack, act, act)
    }
  }

  function writeCases({ by, cases, otherwise }: Extract<Expression<Fact>, { cases: unknown }>): void {
    const table = numbers.length
    numbers.push(...new Float64Array(VALUES))
    code.push(Code.choose, facts[by], table)
    const ends: number[] = []
    const writeCase = (part: Expression<Fact>): number => {
      const begin = code.length
      write(part, Code.push)
      ends.push(code.push(Code.jump, 0, 0) - 1)
      return begin
    }
    numbers.fill(writeCase(otherwise), table, table + VALUES)
    for (const [value, part] of Object.entries(cases)) numbers[table + Number(value)] = writeCase(part)
    for (const end of ends) code[end] = code.length
  }

  function tableOf(part: Term<Fact>): number {
    let at = tables.get(part)
    if (at === undefined) {
      tables.set(part, (at = numbers.length))
      numbers.push(...weightsOf(part))
    }
    return at
  }

  write(expression, Code.push)
  return { code: Int32Array.from(code), numbers: Float64Array.from(numbers) }
}

function weightsOf({ unit, weights, scale }: Term<string>): number[] {
  const length = Array.isArray(weights) ? Math.max(VALUES, weights.length) : VALUES
  return Array.from({ length }, (_, value) => (weights[value] === undefined ? NO_CHANGE[unit] : scale * weights[value]))
}

const NEUTRAL: Readonly<Record<Operation, number>> = { sum: 0, product: 1, quotient: 1 }

/** The parts of an operation without those that change nothing. */
function countingParts<Fact extends string>({
  operation: name,
  parts,
}: Extract<Expression<Fact>, { operation: unknown }>): readonly Expression<Fact>[] {
  return parts.filter((part, i) => (i === 0 && name === 'quotient') || constantOf(part) !== NEUTRAL[name])
}

/** Constants of expressions, each of which is asked about by all that it is part of. */
const constants = new WeakMap<object, number | null>()

/** The value of an expression that is the same whatever the facts; else null. */
function constantOf(expression: Expression<string>): number | null {
  if (typeof expression === 'number') return expression
  let constant = constants.get(expression)
  if (constant === undefined) constants.set(expression, (constant = findConstant(expression)))
  return constant
}

function findConstant(expression: Exclude<Expression<string>, number>): number | null {
  if ('term' in expression) {
    const [first, ...others] = weightsOf(expression)
    return others.every((weight) => weight === first) ? first! : null
  }
  if (!('operation' in expression)) return null
  const counting = countingParts(expression)
  if (counting.length === 0) return NEUTRAL[expression.operation]
  if (counting.length === 1) return constantOf(counting[0]!)
  const values = counting.map((part) => constantOf(part))
  return expression.operation === 'product' && values.includes(0) ? 0 : null
}

const stack = new Float64Array(32)

/** The value of a program for some facts. Not re-entrant. */
export function run({ code, numbers }: Program, facts: Int32Array): number {
  let top = -1
  for (let at = 0; at < code.length; at += 3) {
    const act = code[at]!
    const first = code[at + 1]!
    const second = code[at + 2]!
    if (act === Code.choose) {
      at = numbers[second + facts[first]!]! - 3
      continue
    }
    if (act === Code.jump) {
      at = second - 3
      continue
    }
    let value: number
    if (act >= From.stack) value = stack[top--]!
    else if (act >= From.table) value = numbers[second + facts[first]!]!
    else value = act >= From.fact ? facts[first]! : numbers[second]!
    switch (act & 7) {
      case Code.push:
        stack[++top] = value
        break
      case Code.add:
        stack[top]! += value
        break
      case Code.multiply:
        stack[top]! *= value
        break
      default:
        stack[top]! /= value
    }
  }
  return stack[0]!
}
