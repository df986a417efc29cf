import { seededRandom } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import { memoryScratch } from '../../test/memory-scratch.ts'
import { UNDEFINED_COORDINATE } from '../block.ts'
import type { NodeColumns } from '../block.ts'
import { NodeLocations } from './node-locations.ts'
import type { NodeLimits } from './node-locations.ts'
import { spillBytes } from './spill.ts'

function block(nodes: readonly (readonly [id: number, lon: number])[]): NodeColumns {
  return {
    count: nodes.length,
    ids: Float64Array.from(nodes, ([id]) => id),
    lon: Int32Array.from(nodes, ([, lon]) => lon),
    lat: Int32Array.from(nodes, ([, lon]) => -lon),
    tagOffsets: new Uint32Array(nodes.length + 1),
    tags: new Uint32Array(),
  }
}

const LANES: readonly (readonly [string, () => NodeLimits])[] = [
  ['in memory', () => ({})],
  ['in memory that was taken before', () => ({ expectedNodes: 3000 })],
  // 1,500 nodes at a time, and no more than sixteen pages of them.
  ['in a file', () => ({ spill: { memoryBytes: 20_000, openScratch: memoryScratch().openScratch } })],
]

describe.for(LANES)('nodes are found by id %s', ([, limits]) => {
  const random = seededRandom(5)
  const anywhere = (): number => Math.floor(random() * 2 ** 53) * (random() < 0.3 ? -1 : 1)
  const near = (): number => Math.floor(random() * 300_000)
  test.for<[string, number[]]>([
    ['in ascending order', Array.from({ length: 5000 }, (_, i) => i * 37)],
    ['without gaps', Array.from({ length: 100_000 }, (_, i) => 40_000 + i)],
    ['with gaps of more than 32 bits', Array.from({ length: 5000 }, (_, i) => Math.floor(i / 7) * 2 ** 32 + (i % 7))],
    ['in descending order', Array.from({ length: 5000 }, (_, i) => 1e10 - i * 37)],
    ['in any order', Array.from({ length: 8000 }, near)],
    ['anywhere, negative too', Array.from({ length: 2500 }, anywhere)],
    ['each twice', Array.from({ length: 4000 }, (_, i) => (i % 2000) * 11)],
    ['none', []],
  ])('%s', ([, ids]) => {
    using locations = new NodeLocations(limits())
    for (let at = 0; at < ids.length; at += 700) {
      locations.add(block(ids.slice(at, at + 700).map((id, i) => [id, at + i])))
    }
    const lookup = locations.finish()
    const last = new Map(ids.map((id, i) => [id, i]))
    const asked = [
      ...ids,
      ...ids.map((id) => id + 1),
      ...ids.toReversed(),
      ...Array.from({ length: 500 }, near),
      0,
      -1,
      65535,
      65536,
      (ids[0] ?? 0) + 2 ** 32 - 1,
    ]
    const mistaken = asked.filter((id) => {
      const row = lookup.find(id)
      return row < 0 ? last.has(id) : lookup.lon(row) !== last.get(id) || lookup.lat(row) !== -lookup.lon(row)
    })
    expect(mistaken).toEqual([])
  })

  test('but for those without a location', () => {
    using locations = new NodeLocations(limits())
    locations.add(block([[1, 5], [2, UNDEFINED_COORDINATE], [3, 7]])) // prettier-ignore
    const lookup = locations.finish()
    expect([lookup.find(1) >= 0, lookup.find(2), lookup.find(3) >= 0]).toEqual([true, -1, true])
  })
})

test('what fits into memory opens no file, and what does not is written once', () => {
  const add = (count: number, memoryBytes: number) => {
    const { state, openScratch } = memoryScratch()
    using locations = new NodeLocations({ spill: { memoryBytes, openScratch } })
    for (let at = 0; at < count; at += 500) locations.add(block(Array.from({ length: 500 }, (_, i) => [at + i, 1])))
    locations.finish()
    return state
  }
  expect(spillBytes(6000, 80_000)).toBe(0)
  expect(add(6000, 80_000)).toMatchObject({ opened: 0 })
  expect(spillBytes(6001, 80_000)).toBe(16 * 6001)
  // Pages of 1,024: six for the first 6,000 nodes, one for the rest.
  expect(add(6500, 80_000)).toMatchObject({ opened: 1, open: 0, written: 7 * 1024 * 12 })
})

test('more nodes than allowed are an error', () => {
  using locations = new NodeLocations({ maxNodes: 3 })
  locations.add(block([[1, 1], [2, 2]])) // prettier-ignore
  expect(() => locations.add(block([[3, 3], [4, 4]]))).toThrow('The number of nodes is 4, more than the limit of 3') // prettier-ignore
})
