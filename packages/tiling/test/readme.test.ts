import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import { tileMeans } from './browser-example.ts'
import { printTiles } from './example.ts'
import { UTM33 } from './fixtures.ts'
import { archivePlaces } from './vector/example.ts'
import { point } from './vector/feature-source.ts'
import { readArchive } from './vector/read-archive.ts'
import { wkbOfGeoJson } from '@terrane/core'

test('the first example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'terrane-readme-'))
  try {
    const path = join(folder, 'raster.tif')
    const image = imageOf({ width: 300, height: 200, bands: 3 }, (x) => (x < 256 ? 255 : 0))
    writeFileSync(path, await writeGeoTiff(image, { type: 'uint8', compression: 'deflate', georeference: UTM33 }))
    const lines: string[] = []
    await printTiles(path, (line) => lines.push(line))
    expect(lines).toEqual([
      expect.stringMatching(/^tile 0: 1 valid, at 13\.58866\d+ 50\.54337\d+, first value 2\.500$/),
      expect.stringMatching(/^tile 1: 1 valid, at 13\.5958849.*, first value -2\.500$/),
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the second example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'vector/example.ts'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'terrane-readme-'))
  try {
    const path = join(folder, 'places.pmtiles')
    const wkb = [point(11, 48), point(-70, -33)].map((geometry) => wkbOfGeoJson(geometry)!)
    expect(await archivePlaces(wkb, ['here', 'there'], path)).toBe('2 features in 22 tiles of zooms 0 to 10')
    const { header } = await readArchive(Uint8Array.from(readFileSync(path)))
    expect([header.minZoom, header.maxZoom, header.minLon, header.maxLat]).toEqual([0, 10, -70, 48])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the example for browsers is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'browser-example.ts'), 'utf8'))
  const image = imageOf({ width: 128, height: 64, bands: 1 }, (x) => (x < 64 ? 0 : 255))
  const bytes = await writeGeoTiff(image, { type: 'uint8', compression: 'lzw', georeference: UTM33 })
  expect(await tileMeans(bytes)).toEqual([0, 1])
})
