import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ByteSource } from './source.ts'
import { openFileSource } from './file-source.ts'
import { bufferSource } from './source.ts'

const bytes = Uint8Array.from({ length: 1_000 }, (_, i) => i & 255)
let folder = ''
let path = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrane-source-'))
  path = join(folder, 'bytes')
  writeFileSync(path, bytes)
})

afterAll(() => rmSync(folder, { recursive: true }))

const kinds: [string, () => ByteSource][] = [
  ['a buffer', () => bufferSource(Buffer.from(bytes))],
  ['a file', () => openFileSource(path)],
]

test.each(kinds)('%s is read at any position and cut at its end', (_, open) => {
  const source = open()
  expect(source.size).toBe(1_000)
  expect([...source.read(254, 4)]).toEqual([254, 255, 0, 1])
  expect(source.read(990, 100).length).toBe(10)
  expect(source.read(2_000, 100).length).toBe(0)
})

test.each(kinds)('what %s returns belongs to the caller', (_, open) => {
  const source = open()
  source.read(0, 10).fill(99)
  expect([...source.read(0, 3)]).toEqual([0, 1, 2])
})

test('a closed file is closed once and cannot be read', () => {
  const source = openFileSource(path)
  source.close()
  source.close()
  expect(() => source.read(0, 1)).toThrow('EBADF')
})
