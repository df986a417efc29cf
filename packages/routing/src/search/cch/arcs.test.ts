import { seededRandom } from '@terrane/core'
import { expect, it } from 'vitest'

import { bitsFor, keptArc, keptBefore, numberAt, searchArcs } from './arcs.ts'

/** Arcs of which some are kept, with a weight and a middle each. */
function drawn(count: number, share: number, largest: number, seed: number) {
  const random = seededRandom(seed)
  const kept = bitsFor(count)
  const which: number[] = []
  for (let arc = 0; arc < count; arc++) {
    if (random() >= share) continue
    kept[arc >>> 5]! |= 1 << (arc & 31)
    which.push(arc)
  }
  const numbers = () => Int32Array.from(which, () => Math.floor(random() * (largest + 1)))
  const [weights, middles] = [numbers(), numbers()]
  return { which, weights, middles, arcs: searchArcs(kept, weights, middles) }
}

it('numbers kept arcs in the order of the topology, and gives back what they carry', () => {
  for (const [count, share, largest] of [
    [1, 1, 5],
    [127, 0.5, 70_000],
    [128, 1, 2 ** 24 - 1],
    [1000, 0.4, 2 ** 24],
    [1031, 0.02, 2 ** 31 - 1],
    [500, 0, 1],
  ] as const) {
    const { which, weights, middles, arcs } = drawn(count, share, largest, count)
    expect(which.map((arc) => keptBefore(arcs, arc))).toEqual(which.map((_, i) => i))
    for (let arc = 0; arc < count; arc++) expect(keptBefore(arcs, arc)).toBe(which.filter((at) => at < arc).length)
    expect(which.map((_, i) => numberAt(arcs.weight, i))).toEqual([...weights])
    expect(which.map((_, i) => numberAt(arcs.middle, i))).toEqual([...middles])
  }
})

it('takes three bytes for a number, and four only where one needs them', () => {
  const bytes = (largest: number) => {
    const { low, high } = searchArcs(bitsFor(2), Int32Array.of(1, largest), Int32Array.of(0, 0)).weight
    return low.BYTES_PER_ELEMENT + high.BYTES_PER_ELEMENT
  }
  expect([1, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1].map(bytes)).toEqual([3, 3, 4, 4])
})

it('finds the arc between two ranks', () => {
  const topology = { firstUp: Uint32Array.of(0, 3, 5, 5), upHead: Uint32Array.of(1, 2, 7, 2, 9) }
  const kept = bitsFor(5)
  kept[0] = 0b11101
  const arcs = searchArcs(kept, new Int32Array(4), new Int32Array(4))
  expect(keptArc(arcs, topology, 0, 1)).toBe(0)
  expect(keptArc(arcs, topology, 0, 7)).toBe(1)
  expect(keptArc(arcs, topology, 1, 2)).toBe(2)
  expect(keptArc(arcs, topology, 1, 9)).toBe(3)
})
