import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { storeNote } from './example.ts'

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'terrane-readme-'))
  try {
    expect(await storeNote(`file:${folder}`, {}, 'Hello, storage')).toMatch(/^"[^"]+" Hello$/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
