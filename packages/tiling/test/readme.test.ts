import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import { printTiles } from './example.ts'
import { UTM33 } from './fixtures.ts'

test('the example of the README is the one that runs here', async () => {
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
