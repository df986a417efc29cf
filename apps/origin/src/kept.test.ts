import { expect, test } from 'vitest'
import { Kept, bytesHeld } from './kept.ts'

test('what was asked for longest ago goes first, and costs are given back', () => {
  const kept = new Kept<Uint8Array | null>(900, bytesHeld)
  for (const name of ['a', 'b', 'c']) kept.set(name, new Uint8Array(100))
  expect(kept.get('a')).toHaveLength(100)
  kept.set('d', null)
  expect([kept.get('a'), kept.get('b'), kept.get('d')]).toEqual([new Uint8Array(100), undefined, null])
  kept.set('a', null)
  kept.set('e', new Uint8Array(100))
  expect(kept.get('e')).toHaveLength(100)
  expect(kept.get('c')).toBeUndefined()
})

test('a value is good for its time and no longer; with no time nothing is kept', async () => {
  const brief = new Kept<number>(10, () => 1, 30)
  brief.set('a', 1)
  expect(brief.get('a')).toBe(1)
  await expect.poll(() => brief.get('a'), { interval: 5 }).toBeUndefined()
  const none = new Kept<number>(10, () => 1, 0)
  none.set('a', 1)
  expect(none.get('a')).toBeUndefined()
})
