import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { imageOf, writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from '../harness.ts'

const [WIDTH, HEIGHT, STEP] = [150, 100, 0.001]
const TILE = 64

/** Rasters as writers other than ours make them; the right quarter of each that can say so is invalid. */
const LAYOUTS: readonly (readonly [name: string, bands: number, options: GeoTiffOptions, invalid: boolean])[] = [
  [
    'big-endian BigTIFF, LZW strips',
    3,
    { type: 'uint8', compression: 'lzw', predictor: 2, rowsPerStrip: 7, littleEndian: false, bigTiff: true },
    false,
  ],
  ['signed bytes with nodata', 3, { type: 'int8', compression: 'deflate', nodata: '-128' }, true],
  ['12 bits in planes', 4, { type: 'uint16', bitsPerSample: 12, compression: 'zstd', planar: true }, false],
  ['one bit', 1, { type: 'uint8', bitsPerSample: 1, compression: 'packbits', rowsPerStrip: 100 }, false],
  [
    '32 bits with nodata',
    3,
    { type: 'int32', compression: 'deflate', predictor: 2, nodata: '-2147483648', tileSize: 32 },
    true,
  ],
  [
    'half floats with NaN',
    3,
    { type: 'float16', compression: 'deflate', predictor: 3, nodata: 'nan', tileSize: 48 },
    true,
  ],
  ['doubles with a fraction as nodata', 1, { type: 'float64', compression: 'zstd', predictor: 3, nodata: '0.1' }, true],
  [
    'LERC of big-endian samples',
    1,
    { type: 'int16', compression: 'lerc', lercWrapper: 'zstd', tileSize: 32, littleEndian: false, nodata: '-9' },
    true,
  ],
  ['two bands, the second alpha', 2, { type: 'uint8', compression: 'deflate', extraSamples: [2] }, true],
  [
    'a mask',
    3,
    { type: 'uint8', compression: 'jpeg', color: 'ycbcr', halveChroma: true, tileSize: 32, mask: (x) => x < 112 },
    true,
  ],
  [
    'a palette with nodata',
    1,
    {
      type: 'uint8',
      bitsPerSample: 4,
      palette: Array.from({ length: 16 }, (_, i) => [16 * i, 255 - 16 * i, i] as const),
      nodata: '15',
    },
    true,
  ],
  [
    'lossless WEBP with alpha, south up',
    4,
    { type: 'uint8', compression: 'webp', quality: 100, extraSamples: [2], tileSize: 64 },
    true,
  ],
]

let worker: TestWorker
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'terrane-rasters-'))
  worker = await openWorker({ env: { TERRANE_DATA_ROOTS: folder, TERRANE_MODEL_DOWNLOAD: 'false' } })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test.each(LAYOUTS.map((layout, index) => [layout[0], index] as const))('%s', async (name, index) => {
  const [, bands, options, invalid] = LAYOUTS[index] as (typeof LAYOUTS)[number]
  const south = name.endsWith('south up')
  const affine = [13, STEP, 0, 50, 0, south ? STEP : -STEP] as const
  const image = imageOf({ width: WIDTH, height: HEIGHT, bands }, (x, y, band) => valueAt(options, x, y, band, bands))
  const bytes = await writeGeoTiff(image, { ...options, georeference: { affine, epsg: 4_326, geographic: true } })
  writeFileSync(join(folder, `${index}.tif`), bytes)
  const tableName = `odd_${index}`
  const { body } = await submit(worker, 'createGeoEmbeddings', {
    geotiffPath: `${index}.tif`,
    tableName,
    modelName: BUILT_IN_MODEL,
    tileSize: TILE,
    minValidFraction: 0,
    ...(bands === 2 ? { bands: [0] } : {}),
  })
  const job = await until(worker, body.links.self, ({ terminal }) => terminal, 120_000)
  expect(job).toMatchObject({ status: 'success', result: { rows: 6, dims: 64, crs: 'EPSG:4326' } })
  const { rows } = await worker.db.database.query<{ px: number; py: number; valid: number; box: string }>(
    `select px, py, valid_fraction as valid, box2d(geom)::text as box from geoembeddings.${tableName} order by py, px`,
  )
  expect(rows).toHaveLength(6)
  for (const { px, py, valid, box } of rows) {
    const [right, bottom] = [Math.min(px + TILE, WIDTH), Math.min(py + TILE, HEIGHT)]
    expect(valid).toBeCloseTo(invalid ? Math.max(0, Math.min(112, right) - px) / (right - px) : 1, 6)
    const [top, low] = [50 + py * affine[5], 50 + bottom * affine[5]]
    const wanted = [13 + px * STEP, Math.min(top, low), 13 + right * STEP, Math.max(top, low)]
    const found = (box.match(/-?[\d.]+/g) ?? []).map(Number)
    expect(Math.max(...wanted.map((value, i) => Math.abs(value - (found[i] ?? Number.NaN))))).toBeLessThan(1e-8)
  }
})

/** Some texture; from column 112 on nodata, or an alpha of zero. */
function valueAt(
  { type, nodata, bitsPerSample = 8, mask }: GeoTiffOptions,
  x: number,
  y: number,
  band: number,
  bands: number,
): number {
  const beyond = x >= 112 && mask === undefined
  if (nodata !== undefined && beyond) return Number(nodata)
  if ((bands === 2 && band === 1) || (bands === 4 && band === 3 && type === 'uint8')) return beyond ? 0 : 255
  const top = Math.min(2 ** bitsPerSample - 1, type === 'int8' ? 127 : 4_095)
  return (x * 7 + y * 13 + band * 29 + ((x * y) % 11) * 17) % top
}
