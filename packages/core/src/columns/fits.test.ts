import { expect, test } from 'vitest'
import { fitsColumn } from './fits.ts'

test('what a column cannot hold is known before it is sent', () => {
  expect(['2019-02-29', '2020-13-01', 'x'].map((text) => fitsColumn('date', text))).toEqual([false, false, false])
  expect(['date', 'timestamp'].map((type) => fitsColumn(type, '-infinity'))).toEqual([true, true])
  expect(fitsColumn('timestamptz', '2024-02-29 13:45:10 CET')).toBe(false)
  expect([2 ** 31 - 1, 2 ** 31].map((value) => fitsColumn('int4', value))).toEqual([true, false])
  expect([2n ** 63n - 1n, 2n ** 63n].map((value) => fitsColumn('int8', value))).toEqual([true, false])
  expect(['25:00', '24:00:00', '12:60'].map((text) => fitsColumn('time', text))).toEqual([false, true, false])
})
