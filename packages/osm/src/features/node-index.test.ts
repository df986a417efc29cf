import { seededRandom } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import { UNDEFINED_COORDINATE } from '../block.ts'
import type { NodeColumns } from '../block.ts'
import { NodeIndex } from './node-index.ts'

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

describe('nodes are found by id', () => {
  const random = seededRandom(5)
  const anywhere = (): number => Math.floor(random() * 2 ** 53) * (random() < 0.3 ? -1 : 1)
  const near = (): number => Math.floor(random() * 300_000)
  test.for<[string, number[]]>([
    ['in ascending order', Array.from({ length: 5000 }, (_, i) => i * 37)],
    ['without gaps', Array.from({ length: 200_000 }, (_, i) => 70_000 + i)],
    ['in descending order', Array.from({ length: 5000 }, (_, i) => 1e10 - i * 37)],
    ['in any order', Array.from({ length: 20_000 }, near)],
    ['anywhere, negative too', Array.from({ length: 5000 }, anywhere)],
    ['each twice', Array.from({ length: 4000 }, (_, i) => (i % 2000) * 11)],
    ['none', []],
  ])('%s', ([, ids]) => {
    const index = new NodeIndex()
    for (let at = 0; at < ids.length; at += 700) {
      index.add(block(ids.slice(at, at + 700).map((id, i) => [id, at + i])))
    }
    index.finish()
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
    ]
    const mistaken = asked.filter((id) => {
      const row = index.find(id)
      return row < 0 ? last.has(id) : index.lon(row) !== last.get(id) || index.lat(row) !== -index.lon(row)
    })
    expect(mistaken).toEqual([])
  })

  test('but for those without a location', () => {
    const index = new NodeIndex()
    index.add(block([[1, 5], [2, UNDEFINED_COORDINATE], [3, 7]])) // prettier-ignore
    index.finish()
    expect([index.size, index.find(1), index.find(2), index.find(3)]).toEqual([2, 0, -1, 1])
  })
})

test('more nodes than allowed are an error', () => {
  const index = new NodeIndex(3)
  index.add(block([[1, 1], [2, 2]])) // prettier-ignore
  expect(() => index.add(block([[3, 3], [4, 4]]))).toThrow('The number of nodes is 4, more than the limit of 3') // prettier-ignore
})
