import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { RecordSorter } from './record-sorter.ts'
import { memoryScratch } from '../../../test/vector/memory-scratch.ts'

const text = new TextDecoder()

function sortAll(records: readonly { key: number; value: string }[], limit: number) {
  const { open, files } = memoryScratch()
  using sorter = new RecordSorter(open, limit)
  for (const { key, value } of records) {
    const bytes = new TextEncoder().encode(value)
    sorter.reserve(bytes.length + 5)
    sorter.log.bytes.set(bytes, sorter.log.at)
    sorter.commit(key, sorter.log.at + bytes.length)
  }
  const sorted: { key: number; value: string }[] = []
  const cursor = sorter.sorted()
  while (cursor.next()) {
    sorted.push({ key: cursor.key, value: text.decode(cursor.bytes.subarray(cursor.start, cursor.end)) })
  }
  expect(cursor.next()).toBe(false)
  return { sorted, files: files.length }
}

test.each([
  { name: 'in memory', limit: Number.POSITIVE_INFINITY, spills: 0 },
  { name: 'through runs of about 1,000 records', limit: 1 << 15, spills: 1 },
  { name: 'with a run per record', limit: 0, spills: 1 },
])('records come back sorted, equal keys in their order, $name', ({ limit, spills }) => {
  const random = seededRandom(3)
  const records = Array.from({ length: limit === 0 ? 300 : 20_000 }, (_, i) => ({
    key: random() < 0.5 ? Math.floor(random() * 100) : Math.floor(random() * 2 ** 52),
    value: `${i}`.repeat(Math.floor(random() * 20)),
  }))
  const { sorted, files } = sortAll(records, limit)
  expect(sorted).toEqual(records.toSorted((a, b) => a.key - b.key))
  expect(files).toBe(spills)
})

test('a record larger than every buffer survives', () => {
  const records = [
    { key: 2, value: 'small' },
    { key: 1, value: 'x'.repeat(3_000_000) },
    { key: 0, value: '' },
  ]
  expect(sortAll(records, 1 << 10).sorted).toEqual(records.toReversed().toSorted((a, b) => a.key - b.key))
  expect(sortAll([], 1 << 10).sorted).toEqual([])
})
