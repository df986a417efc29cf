import { expect, test } from 'vitest'
import { refuseCostlyJson } from './bodies.ts'

const fields = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`
const codeOf = (text: string, maxValues?: number): unknown => {
  try {
    refuseCostlyJson(text, maxValues)
    return null
  } catch (error) {
    return (error as { code: string }).code
  }
}

test.each([
  ['100 levels', `${'['.repeat(100)}${']'.repeat(100)}`, null],
  ['101 levels', `${'['.repeat(101)}${']'.repeat(101)}`, 'BODY_TOO_DEEP'],
  ['101 levels of objects', `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, 'BODY_TOO_DEEP'],
  ['499,999 numbers', `[${'1,'.repeat(499_998)}1]`, null],
  ['half a million and two', `[${'1,'.repeat(500_001)}1]`, 'BODY_TOO_WIDE'],
  ['300,000 empty objects', `[${'{},'.repeat(299_999)}{}]`, 'BODY_TOO_WIDE'],
  ['20,000 fields', fields(20_000), null],
  ['20,001 fields', fields(20_001), 'BODY_TOO_WIDE'],
  ['many objects of 15,000 fields each', `[${Array.from({ length: 20 }, () => fields(15_000)).join(',')}]`, null],
  [
    'fields on both sides of an object',
    `{${'"a":1,'.repeat(15_000)}"b":{},${'"c":1,'.repeat(15_000)}"d":1}`,
    'BODY_TOO_WIDE',
  ],
  ['signs inside of texts', JSON.stringify({ a: `${'[{,:'.repeat(300_000)}"\\"` }), null],
  ['what closes and never opened', `${']'.repeat(1000)}[]`, null],
  ['a text without an end', `"${'x'.repeat(1000)}`, null],
])('%s', (_, text, code) => {
  expect(codeOf(text)).toBe(code)
})

test('another server’s answer may hold more', () => {
  const text = `[${'1,'.repeat(700_000)}1]`
  expect([codeOf(text), codeOf(text, 1_000_000)]).toEqual(['BODY_TOO_WIDE', null])
})
