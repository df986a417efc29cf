import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { countVisit } from './example.ts'

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const folder = await mkdtemp(join(tmpdir(), 'pglite-server-readme-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  expect(await countVisit(join(folder, 'data'))).toBe(1)
  expect(await countVisit(join(folder, 'data'))).toBe(2)
})
