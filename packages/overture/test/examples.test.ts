import { join } from 'node:path'
import { examplesOf, runExample } from '@terrane/testing/examples'
import { expect, test } from 'vitest'
import * as face from '../src/index.ts'

const folder = join(import.meta.dirname, '..')
const examples = examplesOf(folder)

test('every export that is not a type has an example', () => {
  const shown = new Set(examples.map(({ name }) => name))
  expect(Object.keys(face).filter((name) => !shown.has(name))).toEqual([])
})

test.each(examples)('the example of $name runs', async (example) => {
  await expect(runExample(folder, example)).resolves.toBeUndefined()
})
