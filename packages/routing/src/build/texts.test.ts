import { expect, test } from 'vitest'

import { TextTable } from './texts.ts'

test.each([1, 3, undefined])('texts keep their numbers however many a map holds (%s)', (most) => {
  const table = new TextTable(most)
  const texts = Array.from({ length: 20 }, (_, i) => `Straße ${(i * 7) % 10}`)
  const numbers = texts.map((text) => table.intern(text))
  expect(new Set(numbers)).toEqual(new Set(Array.from({ length: 10 }, (_, i) => i)))
  const { firstByte, textBytes } = table.pack()
  expect(firstByte).toHaveLength(11)
  const textOf = (number: number) =>
    Buffer.from(textBytes.subarray(firstByte[number], firstByte[number + 1])).toString()
  expect(numbers.map(textOf)).toEqual(texts)
})
