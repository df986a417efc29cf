import { expect, test } from 'vitest'
import { splitList } from './split-list.ts'

test('lists are trimmed, without empty entries', () => {
  expect(splitList(' a, ,b ')).toEqual(['a', 'b'])
  expect(splitList('')).toEqual([])
})
