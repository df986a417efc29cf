import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFileSource, openRenderer, tileView, type RenderStyle } from '../../src/raster/index.ts'
import { answer } from '../../src/raster/render/thread/answer.ts'
import type { RasterStatistics } from '../../src/raster/render/thread/messages.ts'
import { readValues } from '../../src/raster/render/values/derive.ts'

const script = readFileSync(join(import.meta.dirname, 'values-gdal.py'), 'utf8')
// oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
const oracle = [process.env['GDAL_PYTHON'] ?? 'python3', 'python3', '/usr/bin/python3']
  .map((command) => command.split(' '))
  .find(([command, ...more]) => {
    const look = 'import numpy; from osgeo import gdal'
    return spawnSync(command!, [...more, '-c', look]).status === 0
  })
const there = oracle !== undefined

test.skipIf(there)('SKIPPED: no Python with GDAL and NumPy (GDAL_PYTHON)', () => {
  expect(there).toBe(false)
})

function ask(file: string, job: object): Record<string, unknown> {
  const [command, ...more] = oracle!
  const input = JSON.stringify({ ...job, data: readFileSync(file).toString('base64') })
  const { stdout, stderr, status } = spawnSync(command!, [...more, '-c', script], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Record<string, unknown>
}

const doublesOf = (text: string): Float64Array => new Float64Array(new Uint8Array(Buffer.from(text, 'base64')).buffer)

describe.runIf(there)('values beside GDAL and NumPy', () => {
  let folder: string
  let [heights, bands] = ['', '']
  const SIDE = 600

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'terrane-values-'))
    const georeference = { affine: [500_000, 20, 0, 5_100_000, 0, -20] as const, epsg: 32632 }
    const hills = imageOf(
      { width: SIDE, height: SIDE, bands: 1 },
      (x, y) => 800 + 300 * Math.sin(x / 23) * Math.cos(y / 31) + 40 * Math.sin((x + y) / 5),
    )
    const colors = imageOf(
      { width: SIDE, height: SIDE, bands: 4 },
      (x, y, band) => 100 + ((x * 37 + y * 101 + band * 710) % 4000),
    )
    ;[heights, bands] = ['heights', 'bands'].map((name) => join(folder, `${name}.tif`)) as [string, string]
    writeFileSync(heights, await writeGeoTiff(hills, { type: 'float32', georeference }))
    writeFileSync(bands, await writeGeoTiff(colors, { type: 'uint16', georeference }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const tileOf = (file: string) => {
    const {
      bounds: [west, south, east, north],
    } = openRenderer(openFileSource(file))
    const z = 13
    const down = 0.5 - Math.asinh(Math.tan((((south + north) / 2) * Math.PI) / 180)) / (2 * Math.PI)
    return { z, x: Math.floor((((west + east) / 2 + 180) / 360) * 2 ** z), y: Math.floor(down * 2 ** z) }
  }
  const bilinear = { resampling: 'bilinear' } as const
  const algorithm = (name: string) => ({ algorithm: { name, parameters: {} } })

  const CASES: readonly (readonly [name: string, file: () => string, style: RenderStyle, most: number])[] = [
    ['hillshade', () => heights, { ...bilinear, ...algorithm('hillshade') }, 1],
    ['slope', () => heights, { ...bilinear, ...algorithm('slope') }, 1e-3],
    ['terrarium', () => heights, algorithm('terrarium'), 0],
    ['terrainrgb', () => heights, algorithm('terrainrgb'), 0],
    ['index', () => bands, { expression: '(b4-b1)/(b4+b1)' }, 1e-12],
    ['bands', () => bands, { bidx: [1, 2, 3, 4] }, 0],
  ]

  test.each(CASES)('%s of a tile', async (name, file, style, most) => {
    const place = tileOf(file())
    const { layer } = openRenderer(openFileSource(file()))
    const values = await readValues(layer, tileView(place.z, place.x, place.y, 256), style, [0])
    const { bands: expected } = ask(file(), { kind: 'picture', name, ...place })
    const planes = (expected as string[]).map(doublesOf)
    expect(values?.pixels.planes.length).toBe(planes.length)
    let [worst, wrong, seen] = [0, 0, 0]
    for (const [band, plane] of planes.entries()) {
      for (let i = 0; i < plane.length; i++) {
        if (values!.pixels.alpha[i] === 0) continue
        seen++
        const difference = Math.abs((values!.pixels.planes[band]![i] as number) - (plane[i] as number))
        worst = Math.max(worst, difference)
        if (difference > most) wrong++
      }
    }
    expect(seen).toBeGreaterThan(60_000)
    // A pixel that lies on the border of two of the source may be either.
    expect(wrong / seen, `largest difference ${worst}, ${wrong} of ${seen}`).toBeLessThan(
      name === 'hillshade' || name === 'slope' ? 1e-9 : 1e-3,
    )
  })

  test('statistics of a whole raster', async () => {
    const renderer = openRenderer(openFileSource(heights))
    const options = { percentiles: [2, 98], bins: 10, range: null, isCategorical: false, categories: [] }
    const area = { type: 'preview', maxSize: 1024, size: null } as const
    const found = (await answer(renderer, { kind: 'statistics', area, style: {}, options })) as RasterStatistics
    const expected = ask(heights, { kind: 'statistics' })
    for (const name of ['min', 'max', 'mean', 'std', 'median', 'percentile_2', 'percentile_98', 'unique'])
      expect(found['b1']![name], name).toBeCloseTo(expected[name] as number, 6)
    expect((found['b1']!['histogram'] as number[][])[0]).toEqual((expected['histogram'] as number[][])[0])
  })

  test('a tile as tif is what GDAL reads: values, place, mask and names', async () => {
    const { z, x, y } = tileOf(bands)
    const renderer = openRenderer(openFileSource(bands))
    const area = { type: 'tile', set: 'WebMercatorQuad', z: z - 3, x: x >> 3, y: y >> 3, size: 256, buffer: 0 } as const
    const request = { kind: 'picture', style: {}, format: 'tif', mask: true, area } as const
    const path = join(folder, 'tile.tif')
    writeFileSync(path, (await answer(renderer, request)) as Uint8Array)
    const read = ask(path, { kind: 'read' })
    const values = await readValues(renderer.layer, tileView(area.z, area.x, area.y, 256), {}, [0, 1, 2, 3])
    const mask = doublesOf(read['mask'] as string)
    expect(mask.some((value) => value === 0) && mask.some((value) => value === 1)).toBe(true)
    expect([...mask]).toEqual([...values!.pixels.alpha].map((value) => (value === 0 ? 0 : 1)))
    for (const [band, text] of (read['bands'] as string[]).entries()) {
      const wanted = [...values!.pixels.planes[band]!].map((value, i) => (mask[i] === 0 ? 0 : value))
      expect([...doublesOf(text)]).toEqual(wanted)
    }
    expect(read).toMatchObject({ epsg: 3857, names: ['b1', 'b2', 'b3', 'b4'] })
    const span = (2 * Math.PI * 6_378_137) / 2 ** area.z
    expect((read['transform'] as number[])[0]).toBeCloseTo(-Math.PI * 6_378_137 + area.x * span, 6)
  })
})
