import { seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { describe, expect, it } from 'vitest'

import { orderOf, type TourEnds } from './order.ts'

/** The order that is found, and how many steps that took. */
function solve(costs: Float64Array, count: number, ends: TourEnds): { order: number[] | null; steps: number } {
  const searching = orderOf(costs, count, ends)
  let steps = 1
  let step = searching.next()
  for (; step.done !== true; step = searching.next()) steps++
  return { order: step.value, steps }
}

function sumOf(costs: Float64Array, count: number, order: readonly number[], closed: boolean): number {
  const legs = closed ? [...order, order[0]!] : order
  return legs.slice(1).reduce((sum, to, i) => sum + costs[legs[i]! * count + to]!, 0)
}

/** The least sum over all orders with these ends. */
function leastOf(costs: Float64Array, count: number, { first, last, closed }: TourEnds): number {
  let least = Infinity
  const order: number[] = first === null ? [] : [first]
  const left = new Set(Array.from({ length: count }, (_, i) => i).filter((i) => i !== first))
  const go = (): void => {
    if (left.size === 0) least = Math.min(least, sumOf(costs, count, order, closed))
    for (const stop of Array.from(left)) {
      // Wherever a ring begins it costs the same.
      if (stop === last && left.size > 1 && !(closed && first === null)) continue
      left.delete(stop)
      order.push(stop)
      go()
      order.pop()
      left.add(stop)
    }
  }
  go()
  return least
}

/** The least sum of a closed tour, by sets of stops. */
function leastClosed(costs: Float64Array, count: number): number {
  const sets = 2 ** (count - 1)
  const least = new Float64Array(sets * count).fill(Infinity)
  for (let to = 0; to + 1 < count; to++) least[(1 << to) * count + to] = costs[to + 1]!
  for (let set = 1; set < sets; set++) {
    for (let at = 0; at + 1 < count; at++) {
      const here = least[set * count + at]!
      if (here === Infinity) continue
      for (let to = 0; to + 1 < count; to++) {
        if ((set & (1 << to)) !== 0) continue
        const next = (set | (1 << to)) * count + to
        least[next] = Math.min(least[next]!, here + costs[(at + 1) * count + to + 1]!)
      }
    }
  }
  return Math.min(
    ...Array.from({ length: count - 1 }, (_, at) => least[(sets - 1) * count + at]! + costs[(at + 1) * count]!),
  )
}

const KINDS = [true, false].flatMap((closed) =>
  ['first', null].flatMap((first) => ['last', null].map((last) => ({ closed, first, last }))),
)

function endsOf({ closed, first, last }: (typeof KINDS)[number], count: number): TourEnds {
  return { closed, first: first === null ? null : 0, last: last === null ? null : count - 1 }
}

/** Costs in hundredths, different in each direction; some are missing. */
function randomCosts(count: number, random: () => number, missing = 0): Float64Array {
  return Float64Array.from({ length: count * count }, () =>
    random() < missing ? Infinity : Math.ceil(random() * 1e5) / 100,
  )
}

describe.each(KINDS)('a tour, closed $closed, from $first, to $last', (kind) => {
  it('of few stops costs as little as the best of all orders', async () => {
    await randomCases(30, (random) => {
      const count = 2 + Math.floor(random() * 5)
      const ends = endsOf(kind, count)
      const costs = randomCosts(count, random, random() < 0.5 ? 0.3 : 0)
      const { order } = solve(costs, count, ends)
      const least = leastOf(costs, count, ends)
      if (order === null) return expect(least).toBe(Infinity)
      expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i))
      expect(sumOf(costs, count, order, ends.closed)).toBeCloseTo(least, 6)
      if (ends.first !== null) expect(order[0]).toBe(ends.first)
      const lastAt = ends.closed && ends.first === null ? 0 : -1
      if (ends.last !== null) expect(order.at(lastAt)).toBe(ends.last)
    })
  })

  it('of many stops is found again, in steps, with all of them', () => {
    const count = 25
    const ends = endsOf(kind, count)
    const costs = randomCosts(count, seededRandom(5))
    const { order, steps } = solve(costs, count, ends)
    expect(order!.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i))
    if (ends.first !== null) expect(order![0]).toBe(0)
    expect(solve(costs, count, ends).order).toEqual(order)
    expect(steps).toBeGreaterThan(3)
  })
})

describe('a closed tour', () => {
  it('around a circle goes around it', () => {
    const count = 60
    const random = seededRandom(3)
    const angles = Array.from({ length: count }, () => random() * 2 * Math.PI)
    const costs = Float64Array.from({ length: count * count }, (_, i) => {
      const [a, b] = [angles[Math.floor(i / count)]!, angles[i % count]!]
      return 1000 * Math.hypot(Math.cos(a) - Math.cos(b), Math.sin(a) - Math.sin(b))
    })
    const around = angles.map((_, i) => i).toSorted((a, b) => angles[a]! - angles[b]!)
    const { order } = solve(costs, count, { first: null, last: null, closed: true })
    expect(sumOf(costs, count, order!, true)).toBeCloseTo(sumOf(costs, count, around, true), 3)
  })

  it('finds cheap ways that lead one way only among dear ones', () => {
    const count = 60
    const random = seededRandom(4)
    const hidden = Array.from({ length: count }, (_, i) => i).toSorted(() => random() - 0.5)
    const costs = Float64Array.from({ length: count * count }, () => 100 + random() * 900)
    for (const [i, stop] of hidden.entries()) costs[stop * count + hidden[(i + 1) % count]!] = 50
    const { order } = solve(costs, count, { first: null, last: null, closed: true })
    expect(sumOf(costs, count, order!, true)).toBeCloseTo(50 * count, 6)
  })

  it.each([14, 15])('of %i stops costs at most a hundredth more than the best', (count) => {
    for (let seed = 1; seed <= 4; seed++) {
      const costs = randomCosts(count, seededRandom(seed))
      const { order } = solve(costs, count, { first: null, last: null, closed: true })
      expect(sumOf(costs, count, order!, true)).toBeLessThanOrEqual(1.01 * leastClosed(costs, count))
    }
  })

  it('does not exist where a stop has no way out', () => {
    const count = 20
    const costs = randomCosts(count, seededRandom(6))
    costs.fill(Infinity, 7 * count, 8 * count)
    expect(solve(costs, count, { first: null, last: null, closed: true }).order).toBeNull()
    const open = solve(costs, count, { first: 0, last: null, closed: false }).order
    expect(open!.at(-1)).toBe(7)
  })
})
