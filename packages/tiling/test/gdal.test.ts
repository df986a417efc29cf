// Slow: compares random rasters with GDAL.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  coveredRect,
  createCrsCatalogue,
  createTileReader,
  estimateScale,
  footprint,
  inspectGeoTiff,
  openFileSource,
  openGeoTiff,
  planTiles,
  readWindow,
  tileWindow,
} from '../src/raster/index.ts'
import type { InspectRequest, RasterInfo } from '../src/raster/index.ts'
import { sharedFolder } from './shared.ts'

/** Properties of a file by GDAL 3.6.2. */
interface Expected {
  readonly width: number
  readonly height: number
  readonly bands: number
  readonly dtype: readonly string[]
  readonly block: readonly [number, number]
  readonly compression: string
  readonly nodata: readonly string[]
  readonly color: readonly string[]
  readonly scale: number | null
  readonly offset: number | null
  readonly geotransform: readonly number[] | null
  readonly gcps: number
  readonly epsg: string | null
  readonly overviews: readonly (readonly [number, number])[]
  readonly valid_fraction_band1_mask?: number
  readonly tile256_mid?: {
    readonly x: number
    readonly y: number
    readonly ring_lonlat: readonly (readonly [number, number])[]
  }
  readonly windows?: readonly {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
    readonly band: number
    readonly sha256_le: string
    readonly mean?: number
  }[]
}

const folder = sharedFolder('data')
const oracle = folder === null ? null : join(folder, 'gdal_expected.json')
const files: [string, Expected][] =
  oracle === null || !existsSync(oracle)
    ? []
    : Object.entries((JSON.parse(readFileSync(oracle, 'utf8')) as { files: Record<string, Expected> }).files).map(
        ([name, expected]) => [name.replace(/^dev\//, ''), expected],
      )

const REFUSED: Readonly<Record<string, string>> = {
  'geotiff/corrupt.tif': 'GEOTIFF_TRUNCATED',
  'geotiff/slc.tif': 'UNSUPPORTED_DTYPE',
}
const NOT_EMBEDDED: Readonly<Record<string, string>> = {
  ...REFUSED,
  'geotiff/cog_gcps.tif': 'NO_GEOREFERENCE',
  'geotiff-synthetic/u8_nocrs.tif': 'NO_GEOREFERENCE',
  'geotiff/cog_hirise_mars.tif': 'UNSUPPORTED_CRS',
  'geotiff/cog_world.tif': 'size_guard_exceeded',
}
/** NaN pixels of files whose nodata is a number: GDAL's mask counts them as valid, but no model can take them. */
const NAN_PIXELS: Readonly<Record<string, number>> = { 'geotiff/cog_nodata_nan.tif': 4 }

const REQUEST: InspectRequest = {
  tileSize: 256,
  channels: ['red', 'green', 'blue'],
  bands: [0],
  maxTiles: { limit: 10_000, setting: 'GEOEMBEDDINGS_MAX_TILES' },
}
const read = files.filter(([name]) => REFUSED[name] === undefined)
const embedded = files.filter(([name]) => NOT_EMBEDDED[name] === undefined)

function open(name: string): ReturnType<typeof openFileSource> {
  return openFileSource(join(folder ?? '', name))
}

test.runIf(files.length === 0)('SKIPPED: the shared GDAL oracle is not there, set TERRANE_SHARED', () => {
  expect(files).toEqual([])
})

describe.runIf(files.length > 0)('beside GDAL', () => {
  test.each(read)('%s has the same headers', (name, expected) => {
    using source = open(name)
    const raster = openGeoTiff(source)
    expect(summaryOf(raster)).toEqual({
      size: [expected.width, expected.height],
      samplesPerPixel: expected.bands,
      type: expected.dtype[0]?.toLowerCase().replace('byte', 'uint8'),
      block: expected.block,
      nodata: expected.nodata[0] === 'None' ? null : Number(expected.nodata[0]),
      colors: expected.color.map((color) => color.toLowerCase()),
      scale: [expected.scale ?? 1, expected.offset ?? 0],
      affine: expected.geotransform,
      groundControlPoints: expected.gcps,
      epsg: expected.epsg,
      overviews: expected.overviews,
    })
  })

  test.each(read)('%s has the same pixels', async (name, expected) => {
    using source = open(name)
    const raster = openGeoTiff(source)
    const lossy = expected.compression.includes('JPEG') || expected.compression === 'WEBP'
    expect(expected.windows?.length).toBeGreaterThan(0)
    for (const { x, y, w, h, band, sha256_le: sha256, mean } of expected.windows ?? []) {
      const samples = await readWindow(source, raster, { x, y, width: w, height: h, band })
      const found = Array.from(samples).reduce((a, b) => a + b, 0) / samples.length
      if (lossy) expect(Math.abs(found - (mean ?? Number.NaN))).toBeLessThan(0.2)
      else expect(hashOf(samples)).toBe(sha256)
    }
  })

  test.each(Object.entries(NOT_EMBEDDED))('%s is refused with %s', (name, code) => {
    using source = open(name)
    expect(() => inspectGeoTiff(source, REQUEST)).toThrow(expect.objectContaining({ code, hint: expect.any(String) }))
  })

  test.each(embedded.filter(([, { tile256_mid: tile }]) => tile !== undefined))(
    '%s has its middle tile in the same place',
    (name, { tile256_mid: tile }) => {
      using source = open(name)
      const { raster, crs } = inspectGeoTiff(source, REQUEST)
      const { polygons } = footprint(crs, raster.affine, { x: tile?.x ?? 0, y: tile?.y ?? 0, width: 256, height: 256 })
      for (const [lng, lat] of tile?.ring_lonlat ?? []) {
        const meters = polygons
          .flat()
          .map(([x, y]) => 111_320 * Math.hypot((x - lng) * Math.cos((lat * Math.PI) / 180), y - lat))
        expect(Math.min(...meters)).toBeLessThan(0.001)
      }
    },
  )

  test.each(embedded)('%s has the same share of valid pixels in its first band', async (name, expected) => {
    using source = open(name)
    const { raster, plan, bands } = inspectGeoTiff(source, { ...REQUEST, channels: ['gray'] })
    const scale = await estimateScale(source, raster, bands, [0, 1])
    const reader = createTileReader({ source, raster, plan, bands, scale, mean: [0], std: [1] })
    const out = new Float32Array(256 * 256)
    let valid = 0
    for (let index = 0; index < plan.count; index++) {
      const { width, height } = coveredRect(plan, tileWindow(plan, index))
      valid += (await reader.read(index, out)).validFraction * width * height
      expect(out.every(Number.isFinite)).toBe(true)
    }
    const share = valid / (raster.width * raster.height)
    const nans = (NAN_PIXELS[name] ?? 0) / (raster.width * raster.height)
    const wanted = (expected.valid_fraction_band1_mask ?? Number.NaN) - nans
    expect(Math.abs(share - wanted)).toBeLessThan(1e-9)
  })
})

test.runIf(files.length > 0)('a raster of 10,011 tiles is refused in milliseconds', () => {
  using source = open('geotiff/cog_world.tif')
  expect(() => inspectGeoTiff(source, REQUEST)).toThrow(
    expect.objectContaining({ message: 'The raster makes 10011 tiles; GEOEMBEDDINGS_MAX_TILES allows 10000.' }),
  )
  expect(planTiles({ width: 36_000, height: 18_000, tileSize: 256 }).count).toBe(10_011)
  expect(createCrsCatalogue().find(4_326)?.name).toBe('WGS 84')
})

function summaryOf(raster: RasterInfo): Record<string, unknown> {
  return {
    size: [raster.width, raster.height],
    samplesPerPixel: raster.samplesPerPixel,
    type: raster.sampleType,
    block: [raster.blockWidth, raster.blockHeight],
    nodata: raster.nodata,
    colors: raster.bands.map(({ color }) => color),
    scale: [raster.bands[0]?.scale, raster.bands[0]?.offset],
    affine: raster.affine,
    groundControlPoints: raster.groundControlPoints,
    // GDAL names no CRS for control points here.
    epsg: raster.groundControlPoints > 0 || raster.epsg === null ? null : String(raster.epsg),
    overviews: raster.overviews.map(({ width, height }) => [width, height]),
  }
}

function hashOf(samples: ArrayBufferView): string {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  return createHash('sha256').update(bytes).digest('hex')
}
