import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parsePolicy } from '../src/policy.ts'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

test('the example of the README is the function that the examples test runs', () => {
  expect(readme).toContain(readFileSync(join(import.meta.dirname, '../examples/hello/index.ts'), 'utf8'))
})

test('the README tells of every field of function.json', () => {
  const table = readme.slice(readme.indexOf('| field |'), readme.indexOf('## The idea'))
  for (const field of Object.keys(parsePolicy({}))) expect(table).toContain(`\`${field}\``)
})
