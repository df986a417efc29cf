import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { printFile } from './example.ts'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrane-readme-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the example of the README is the one that runs here', async () => {
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const path = join(folder, 'towns.txt')
  writeFileSync(path, gzipSync('name,people,lon,lat\nUlm,126949,9.99,48.4\nBern,134591,7.45,46.95\nnowhere,,,\n'))
  const lines: string[] = []
  await printFile(path, (line) => lines.push(line))
  expect(lines).toEqual([
    'table: 3 rows in EPSG:4326, name text, people int4, lon float8, lat float8',
    'Ulm, 126949, 9.99, 48.4 and 21 bytes of WKB',
    'Bern, 134591, 7.45, 46.95 and 21 bytes of WKB',
    'nowhere, null, null, null and 0 bytes of WKB',
  ])
})
