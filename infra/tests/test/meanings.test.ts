import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../src/tiers.ts'

/** Ambiguous inputs, their handling, and the test of each. */
const [, ...lines] = readFileSync(join(import.meta.dirname, 'meanings.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
const meanings = lines.map((line) => line.split('\t') as [string, string, string, string])

test('each way of being wrong in meaning is refused, warned of or right, as a test shows', () => {
  const missing = meanings.filter(([outcome, , file, title]) => {
    const source = readFileSync(join(ROOT, file), 'utf8')
    const hasTest = ["'", '"', '`'].some((quote) => source.includes(`(${quote}${title}${quote},`))
    return !hasTest || !['refused', 'warned', 'right'].includes(outcome)
  })
  expect(missing).toEqual([])
  expect(new Set(meanings.map(([, wrong]) => wrong)).size).toBe(meanings.length)
  expect(meanings.length).toBeGreaterThanOrEqual(60)
})
