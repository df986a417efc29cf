import { seededRandom } from '@terrane/core'
import { expect, it } from 'vitest'

import { UNREACHABLE } from '../search.ts'
import { ArcPacker, Format, FORMAT_SHIFT, middleOfArc, OFFSET, ones, type SearchArcs } from './arcs.ts'

/** Arcs, some of them kept, with weights and middles up to some size. */
function drawn(count: number, share: number, largest: { weight: number; middle: number }) {
  const random = seededRandom(count + largest.weight)
  const upTo = (most: number): number => Math.floor(random() ** 3 * (most + 1))
  const weight = new Int32Array(count).fill(UNREACHABLE)
  for (let arc = 0; arc < count; arc++) if (random() < share) weight[arc] = upTo(largest.weight)
  return { weight, middle: Int32Array.from({ length: count }, () => upTo(largest.middle)) }
}

/** The weight of a kept arc. */
function weightOfArc({ index, pool: { words, bytes } }: SearchArcs, arc: number): number {
  const kept = index[2 * (arc >>> 5)]!
  const place = index[2 * (arc >>> 5) + 1]!
  const format = place >>> FORMAT_SHIFT
  const offset = place & OFFSET
  const before = ones(kept & ((1 << (arc & 31)) - 1))
  const low = words[offset + before]!
  if (format === Format.narrow) return low
  const above = 2 * (offset + ones(kept))
  if (format !== Format.widest) return low | (bytes[above + before]! << 16)
  return low | (bytes[above + 2 * before]! << 16) | (bytes[above + 2 * before + 1]! << 24)
}

function expectArcs(arcs: SearchArcs, { weight, middle }: { weight: Int32Array; middle: Int32Array }): void {
  for (let arc = 0; arc < weight.length; arc++) {
    const isKept = ((arcs.index[2 * (arc >>> 5)]! >>> (arc & 31)) & 1) === 1
    expect(isKept).toBe(weight[arc]! < UNREACHABLE)
    if (isKept) expect([weightOfArc(arcs, arc), middleOfArc(arcs, arc)]).toEqual([weight[arc], middle[arc]])
  }
}

it.each([
  [0, 1000, 200],
  [0, 65_535, 65_535],
  [1, 70_000, 300],
  [2, 1000, 70_000],
  [3, 2 ** 28, 10],
  [3, UNREACHABLE - 1, 2 ** 31 - 1],
])(
  'gives back what arcs carry, in format %i where they weigh up to %i and lead up to %i down',
  (most, weight, middle) => {
    const packer = new ArcPacker()
    const formats = new Set<number>()
    for (const [count, share] of [
      [1, 1],
      [64, 0],
      [500, 0.4],
      [1031, 1],
    ] as const) {
      const given = drawn(count, share, { weight, middle })
      const index = packer.add(given)
      expectArcs({ index, pool: packer.pool() }, given)
      for (let word = 0; 2 * word < index.length; word++) formats.add(index[2 * word + 1]! >>> FORMAT_SHIFT)
    }
    expect(Math.max(...formats)).toBe(most)
  },
)

it('keeps once what two directions share', () => {
  const packer = new ArcPacker()
  const one = drawn(3200, 0.5, { weight: 70_000, middle: 300 })
  const index = packer.add(one)
  const size = packer.pool().words.length
  expect(packer.add(one, index)).toEqual(index)
  expect(packer.pool().words.length).toBe(size)
  const other = { weight: one.weight.slice(), middle: one.middle.slice() }
  other.weight[7] = 12
  other.weight[1600] = UNREACHABLE
  other.middle[3199]! += 1
  const like = packer.add(other, index)
  expect(packer.pool().words.length).toBeLessThan(size * 1.05)
  expectArcs({ index: like, pool: packer.pool() }, other)
  expectArcs({ index, pool: packer.pool() }, one)
})
