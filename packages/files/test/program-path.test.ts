import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { programPath } from '../src/program-path.ts'

test('a program in a file is run where it is, and one that is carried as text from the work folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-program-'))
  try {
    const path = join(folder, 'a program.mjs')
    expect(programPath(pathToFileURL(path), folder)).toBe(path)
    const text = Buffer.from("console.log('from text, é')").toString('base64')
    const written = programPath(new URL(`data:text/javascript;base64,${text}`), folder)
    expect(dirname(written)).toBe(folder)
    expect(execFileSync(process.execPath, [written], { encoding: 'utf8' })).toBe('from text, é\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
