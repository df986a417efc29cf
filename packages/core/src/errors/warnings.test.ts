import { expect, test } from 'vitest'
import { Warnings } from './warnings.ts'

test('counts of a kind add up, with the first message and the first ten examples', () => {
  const warnings = new Warnings()
  warnings.addUp('ROWS_LEFT_OUT', 'Rows were left out.', 0)
  expect(warnings.list()).toEqual([])
  warnings.addUp('ROWS_LEFT_OUT', 'Rows were left out.', 9, [1, 2, 3, 4, 5, 6, 7, 8, 9])
  warnings.addUp('ROWS_LEFT_OUT', 'Others were left out.', 3, [10, 11, 12])
  warnings.addUp('ROWS_LEFT_OUT', 'Rows were left out.', 0, [13])
  const examples = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  expect(warnings.list()).toEqual([{ code: 'ROWS_LEFT_OUT', message: 'Rows were left out.', count: 12, examples }])
})
