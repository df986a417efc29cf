import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writePbf } from '@terrane/osm'
import { expect, test } from 'vitest'
import { printStreets } from './example.ts'

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'terrane-readme-'))
  try {
    const path = join(folder, 'town.osm.pbf')
    const corners = [[11.6, 48.1], [11.61, 48.1], [11.61, 48.11], [12, 49]] // prettier-ignore
    const file = writePbf(
      [
        ...corners.map(([lon = 0, lat = 0], i) => ({ type: 'node', id: i + 1, lon, lat }) as const),
        { type: 'way', id: 1, refs: [1, 2, 3, 1], tags: { building: 'yes', name: 'Town hall' } },
        { type: 'way', id: 2, refs: [2, 4], tags: { highway: 'primary', name: 'Main Street' } },
        { type: 'way', id: 3, refs: [4, 4], tags: { highway: 'primary' } },
      ],
      { timestamp: new Date('2026-01-02T03:04:05Z') },
    )
    writeFileSync(path, Buffer.concat([...file]))
    const lines: string[] = []
    const square = [[11.5, 48], [11.7, 48], [11.7, 48.2], [11.5, 48.2]] // prettier-ignore
    await printStreets(path, { type: 'Polygon', coordinates: [square] }, (line) => lines.push(line))
    expect(lines).toEqual([
      'buildings W 1 Town hall',
      'streets W 2 Main Street',
      'as of 2026-01-02T03:04:05.000Z, 0 features outside',
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
