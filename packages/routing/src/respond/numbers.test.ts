import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { degreesOf, lengthIn, secondsOf } from './numbers.ts'

/** The shortest decimal text, cut off. */
function cutText(value: number, decimals: number): number {
  const text = String(value)
  const dot = text.indexOf('.')
  if (text.includes('e')) return Math.trunc(value)
  return dot < 0 ? value : Number(text.slice(0, dot + 1 + decimals))
}

test('numbers are cut as their shortest text is', () => {
  const random = seededRandom(1)
  const special = [0, 0.29, 1.005, 4.35, 8.2, 0.001, 0.0009999, 1e-7, -0.29, -9.141, 179.999_999_9, 123_456.789_9]
  const drawn = Array.from({ length: 20_000 }, () => (random() - 0.5) * 10 ** Math.floor(random() * 9))
  const short = Array.from({ length: 20_000 }, () => Math.round((random() - 0.5) * 1e7) / 1e4)
  const values = [...special, ...drawn, ...short]
  expect(values.filter((value) => secondsOf(value) !== cutText(value, 3))).toEqual([])
  expect(values.filter((value) => degreesOf(value) !== cutText(value, 6))).toEqual([])
  expect(values.filter((value) => lengthIn('kilometers', value) !== cutText(value / 1000, 3))).toEqual([])
})
