import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { memoryScratch } from '../../test/memory-scratch.ts'
import { MemberWays } from './member-ways.ts'
import { Once } from './once.ts'

const random = seededRandom(6)
const ids = Array.from({ length: 3000 }, () => Math.floor(random() * 6000) - 500)

test('ways are found by id, asked for in any order', () => {
  const members = new MemberWays(Float64Array.from(ids))
  const sorted = [...new Set(ids)].toSorted((a, b) => a - b)
  const asked = [...sorted, ...ids, ...Array.from({ length: 7000 }, (_, i) => i - 700), ...sorted.toReversed()]
  expect(asked.filter((id) => members.find(id) !== sorted.indexOf(id))).toEqual([])
  expect(new MemberWays(new Float64Array()).find(7)).toBe(-1)
})

test.for([
  ['in memory', undefined],
  // Four points at a time.
  ['in a file', 128],
] as const)('the line that was kept comes back %s, and the first one stays', ([, memoryBytes]) => {
  const { state, openScratch } = memoryScratch()
  const spill = memoryBytes === undefined ? undefined : { memoryBytes, openScratch }
  {
    using members = new MemberWays(Float64Array.of(10, 20, 30, 40), spill)
    members.set(2, Int32Array.of(1, 2, 3, 99), Int32Array.of(4, 5, 6, 99), 3)
    members.set(0, Int32Array.of(7, 8), Int32Array.of(9, 10), 2)
    members.set(2, Int32Array.of(0, 0), Int32Array.of(0, 0), 2)
    members.set(3, Int32Array.of(1, 2, 3, 4, 5, 6), Int32Array.of(6, 5, 4, 3, 2, 1), 6)
    const line = (row: number): number[][] => {
      const count = members.load(row)
      return [members.lon, members.lat].map((axis) => [...axis.subarray(0, count)])
    }
    const lines = [[[7, 8], [9, 10]], [[], []], [[1, 2, 3], [4, 5, 6]], [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]]] // prettier-ignore
    for (const order of [[0, 1, 2, 3], [3, 2, 1, 0, 3, 2]]) expect(order.map(line)).toEqual(order.map((row) => lines[row])) // prettier-ignore
    expect(state.opened).toBe(spill ? 1 : 0)
  }
  expect(state.open).toBe(0)
})

test('an id comes for the first time once, in any order', () => {
  for (const list of [ids, ids.toSorted((a, b) => a - b), [1, 2, 2, 3, 1]]) {
    const once = new Once()
    const seen = new Set<number>()
    for (const id of list) {
      expect(once.first(id)).toBe(!seen.has(id))
      seen.add(id)
    }
  }
})
