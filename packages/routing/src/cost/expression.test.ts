import { randomCases } from '@terrane/testing/property'
import { describe, expect, it } from 'vitest'

import {
  compile,
  type Expression,
  factor,
  product,
  quotient,
  run,
  seconds,
  share,
  speed,
  sum,
  tabulate,
} from './expression.ts'

const FACTS = { use: 0, meters: 1, kind: 2 } as const
type Fact = keyof typeof FACTS

const valueOf = (expression: Expression<Fact>, facts: readonly number[]): number =>
  run(compile(expression, FACTS), Int32Array.from(facts))

describe('a term', () => {
  it('weighs a value that it does not list by what changes nothing', () => {
    expect([3, 7].map((use) => valueOf(seconds('wait', 'use', { 3: 20 }), [use, 0, 0]))).toEqual([20, 0])
    expect([3, 7].map((use) => valueOf(share('surface', 'use', { 3: 0.5 }), [use, 0, 0]))).toEqual([0.5, 0])
    expect([3, 63].map((use) => valueOf(factor('kind', 'use', { 3: 4 }), [use, 0, 0]))).toEqual([4, 1])
    expect(
      valueOf(
        speed(
          'speed',
          'meters',
          tabulate({ shift: 0, mask: 255 }, (value) => value / 2),
        ),
        [0, 255, 0],
      ),
    ).toBe(127.5)
  })

  it('multiplies what it lists, and nothing else', () => {
    const term = factor('kind', 'use', [0, 2, 3], 10)
    expect([1, 2, 9].map((use) => valueOf(term, [use, 0, 0]))).toEqual([20, 30, 1])
  })
})

describe('a program', () => {
  it('leaves out what changes nothing', () => {
    const idle = sum(seconds('wait', 'use', {}), product(seconds('other', 'use', [5, 6]), 0), 0)
    expect(compile(idle, FACTS).code.length).toBe(3)
    expect(compile(product(1, factor('kind', 'use', {}), 1), FACTS).code.length).toBe(3)
    expect(valueOf(quotient(1, { fact: 'meters' }), [0, 8, 0])).toBe(0.125)
  })

  it('says what its expression says, term by term, for any expression', async () => {
    await randomCases(500, (random) => {
      const number = (most: number): number => Math.floor(random() * most)
      const weights = (): number[] =>
        Array.from({ length: 8 }, () => (random() < 0.3 ? 0 : Math.round(random() * 40) / 8))
      const fact = (): Fact => (['use', 'meters', 'kind'] as const)[number(3)]!
      const draw = (depth: number): Expression<Fact> => {
        const kind = depth === 0 ? number(3) : number(7)
        if (kind === 0) return [0, 1, 2.5, 7][number(4)]!
        if (kind === 1) return { fact: fact() }
        if (kind === 2) return (random() < 0.5 ? share : factor)('term', fact(), weights(), random() < 0.5 ? 1 : 3)
        const parts = Array.from({ length: 2 + number(3) }, () => draw(depth - 1))
        if (kind === 3)
          return { by: fact(), cases: { [number(8)]: parts[0]!, [number(8)]: parts[1]! }, otherwise: draw(depth - 1) }
        if (kind === 4) return quotient(parts[0]!, sum(1, product(parts[1]!, parts[1]!)))
        return kind === 5 ? sum(...parts) : product(...parts)
      }
      const expression = draw(4)
      const facts = [number(8), number(8), number(8)]
      expect(valueOf(expression, facts)).toBeCloseTo(plainly(expression, facts), 9)
    })
  })
})

/** What an expression says, by the plainest way to ask it. */
function plainly(expression: Expression<Fact>, facts: readonly number[]): number {
  if (typeof expression === 'number') return expression
  if ('fact' in expression) return facts[FACTS[expression.fact]]!
  if ('term' in expression) return expression.scale * expression.weights[facts[FACTS[expression.by]]!]!
  if ('cases' in expression)
    return plainly(expression.cases[facts[FACTS[expression.by]]!] ?? expression.otherwise, facts)
  const [first, ...others] = expression.parts.map((part) => plainly(part, facts))
  const step = {
    sum: (a: number, b: number) => a + b,
    product: (a: number, b: number) => a * b,
    quotient: (a: number, b: number) => a / b,
  }
  return others.reduce(step[expression.operation], first!)
}
