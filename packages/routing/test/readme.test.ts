import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { directions } from './example.ts'
import { townPbf } from './support/town.ts'

it('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'terrane-readme-'))
  try {
    const extract = join(folder, 'town.osm.pbf')
    writeFileSync(extract, townPbf())
    const lines = await directions(extract, { lat: 48.0975, lon: 11.5922 }, { lat: 48.1085, lon: 11.5879 })
    expect(lines[0]).toMatch(/^Bike \w+.* \([\d.]+ km\)$/)
    expect(lines.at(-1)).toMatch(/(destination|arrived).*\(0 km\)$/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
