// What a raster's numbers mean: units, clamped samples, pictures of rasters that are not 8 bits deep.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { imageOf, textureImage, writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from './harness.ts'

const TILE = 64
const SIDE = 4 * TILE
const UTM = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
let worker: TestWorker

beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_MODEL_DOWNLOAD: 'false' } })
  await mkdir(join(worker.folder, 'data'))
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
})

const ground = textureImage({ width: SIDE, height: SIDE, bands: 1, seed: 5, noise: 8, type: 'uint16' }).read(
  0,
  0,
  SIDE,
  SIDE,
)

/** The ground as one band, each value as `stored` says. */
async function raster(file: string, options: Partial<GeoTiffOptions>, stored = (value: number) => value) {
  const image = imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x, y) => stored(ground[y * SIDE + x] as number))
  const bytes = await writeGeoTiff(image, {
    type: 'uint16',
    compression: 'deflate',
    georeference: UTM,
    color: 'gray',
    ...options,
  })
  await writeFile(join(worker.folder, 'data', file), bytes)
}

async function embed(geotiffPath: string, tableName: string, more: object = {}) {
  const body = { geotiffPath, tableName, modelName: BUILT_IN_MODEL, tileSize: TILE, ...more }
  const { status, body: record } = await submit(worker, 'createGeoEmbeddings', body)
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self, (job) => job.terminal, 110_000)
}

const scaleTags = (scale: string): Partial<GeoTiffOptions> => ({
  bandItems: [
    { band: 0, role: 'scale', value: scale },
    { band: 0, role: 'offset', value: '0' },
  ],
})

describe('scaleFrom', () => {
  beforeAll(async () => {
    await raster('stored.tif', {})
    expect(await embed('stored.tif', 'stored')).toMatchObject({
      status: 'success',
      result: { scale: { values: 'uint16', clamped: 0 } },
    })
  })

  test.each<[string, Partial<GeoTiffOptions>, (value: number) => number, string]>([
    ['the same as reflectance', { type: 'float32' }, (value) => value / 10_000, 'float32 as stored'],
    ['floats of the same size', { type: 'float32' }, (value) => value, 'float32 as stored'],
    ['values by scale tags', scaleTags('0.0001'), (value) => value, 'physical by scale tags'],
    ['signed numbers', { type: 'int16' }, (value) => Math.min(32_767, value), 'int16 as stored'],
  ])('refuses %s, and names both sides', async (_, options, stored, values) => {
    await raster('other.tif', options, stored)
    expect(await embed('other.tif', 'other', { scaleFrom: { table: 'stored' } })).toMatchObject({
      status: 'failed',
      error: {
        code: 'SCALE_FROM_UNUSABLE',
        message: expect.stringMatching(`"stored" .* values are ${values}, .* uint16 as stored`) as string,
      },
    })
  })

  test('takes another date in the same units', async () => {
    await raster('later.tif', {}, (value) => value * 0.9 + 100)
    const later = await embed('later.tif', 'later', { scaleFrom: { table: 'stored' }, strict: true })
    expect(later).toMatchObject({ status: 'success', result: { scale: { origin: 'table', values: 'uint16' } } })
  })
})

describe('samples that a stretch clamps', () => {
  // Values 1 to 100 of equal share.
  const even = async (file: string) => {
    const image = imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x, y) => 1 + ((x * 7 + y * 13) % 100))
    const options = { type: 'uint16', compression: 'deflate', georeference: UTM, color: 'gray' } as const
    await writeFile(join(worker.folder, 'data', file), await writeGeoTiff(image, options))
  }
  const warning = (percent: string) => [
    { code: 'SAMPLES_CLAMPED', message: expect.stringMatching(`^${percent} % of the samples of band 0 `) as string },
  ]

  test.each([
    [[0, 85], []],
    [[0, 75], warning('25')],
    [[50, 85], warning('6[34]')],
    [[80, 91], warning('8[89]')],
  ])('are counted: %j', async (scale, warnings) => {
    await even('even.tif')
    const table = `even_${scale.join('_')}`
    const { status, result } = await embed('even.tif', table, { scale })
    expect({ status, warnings: result?.['warnings'] ?? [] }).toEqual({ status: 'success', warnings })
  })

  test('are refused from 90 % on', async () => {
    await even('even.tif')
    expect(await embed('even.tif', 'out', { scale: [1000, 2000] })).toMatchObject({
      status: 'failed',
      error: { code: 'SAMPLES_CLAMPED', message: expect.stringContaining('100 %') as string },
    })
    expect(await embed('even.tif', 'nearly_out', { scale: [96, 101] })).toMatchObject({
      status: 'failed',
      error: { code: 'SAMPLES_CLAMPED' },
    })
  })

  test('fail a strict request', async () => {
    await even('even.tif')
    expect(await embed('even.tif', 'strict', { scale: [50, 85], strict: true })).toMatchObject({
      status: 'failed',
      error: { code: 'WARNINGS_REFUSED' },
    })
  })
})
