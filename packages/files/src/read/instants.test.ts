import { expect, test } from 'vitest'
import { isoOfCount, isoOfDays } from './instants.ts'

test('counts of times are ISO texts, also before Christ and without an end', () => {
  expect(isoOfCount(1_709_214_310_123_456n, 1_000_000n)).toBe('2024-02-29T13:45:10.123456Z')
  expect(isoOfCount(1_709_214_310_123_456_789n, 1_000_000_000n)).toBe('2024-02-29T13:45:10.123456789Z')
  expect(isoOfCount(-1n, 1_000_000_000n)).toBe('1969-12-31T23:59:59.999999999Z')
  expect(isoOfCount(-63_517_780_800_000_000n, 1_000_000n)).toBe('-000043-03-15T12:00:00Z')
  expect([2n ** 63n - 1n, 1n - 2n ** 63n].map((count) => isoOfCount(count, 1_000_000n))).toEqual([
    'infinity',
    '-infinity',
  ])
  expect([19_782, 2 ** 31 - 1, 1 - 2 ** 31].map(isoOfDays)).toEqual(['2024-02-29', 'infinity', '-infinity'])
})

test('counts beyond the calendar are their digits, which no column of times holds', () => {
  expect([isoOfCount(2n ** 62n, 1000n), isoOfDays(2 ** 30)]).toEqual(['4611686018427387904', '1073741824'])
})
