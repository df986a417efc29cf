import { describe, expect, test } from 'vitest'
import { imageOf } from '@terrane/testing/geotiff'
import { randomCases } from '@terrane/testing/property'
import type { GeoTiffOptions, ImageSource } from '@terrane/testing/geotiff'
import { fixture, valueOf } from '../../test/fixtures.ts'
import { planTiles, tileWindow } from './plan.ts'
import type { PlanRequest } from './plan.ts'
import type { Scale } from './scale.ts'
import type { ByteSource } from './source.ts'
import { createTileReader } from './tile-reader.ts'
import type { TileReaderOptions, TileReading } from './tile-reader.ts'

const BYTES: Scale = { origin: 'fixed', min: [0, 0, 0], max: [255, 255, 255] }
const MEAN = [0.43, 0.411, 0.296]
const STD = [0.213, 0.156, 0.143]

interface Read extends TileReading {
  readonly values: Float32Array
}

type Request = Partial<TileReaderOptions> & { readonly tiling?: Partial<PlanRequest>; readonly tile?: number }

/** Writes an image, reads one of its tiles. */
async function tileOf(image: ImageSource, options: Partial<GeoTiffOptions>, request: Request = {}): Promise<Read> {
  const { raster, source } = await fixture(image, { type: 'uint8', tileSize: 16, ...options })
  const plan = planTiles({ width: image.width, height: image.height, tileSize: 8, ...request.tiling })
  const bands = request.bands ?? Array.from({ length: Math.min(3, raster.bands.length) }, (_, band) => band)
  const channels = bands.length
  const reader = createTileReader({
    source,
    raster,
    plan,
    bands,
    scale: { origin: 'explicit', min: bands.map(() => 0), max: bands.map(() => 255) },
    mean: bands.map(() => 0),
    std: bands.map(() => 1),
    ...request,
  })
  const values = new Float32Array(channels * reader.width * reader.height)
  return { ...(await reader.read(request.tile ?? 0, values)), values }
}

const flat = (bands: number, value: (band: number) => number): ImageSource =>
  imageOf({ width: 8, height: 8, bands }, (_x, _y, band) => value(band))

describe('normalisation', () => {
  test('is (v / 255 - mean) / std in planes of red, green and blue', async () => {
    const { values, validFraction } = await tileOf(
      flat(3, (band) => [255, 128, 0][band] as number),
      {},
      { scale: BYTES, mean: MEAN, std: STD },
    )
    expect(validFraction).toBe(1)
    expect(values[0]).toBeCloseTo((1 - 0.43) / 0.213, 5)
    expect(values[64]).toBeCloseTo((128 / 255 - 0.411) / 0.156, 5)
    expect(values[128]).toBeCloseTo((0 - 0.296) / 0.143, 5)
  })

  test('clamps to the scale', async () => {
    const image = imageOf({ width: 8, height: 8, bands: 1 }, (x) => [0, 100, 150, 200, 250][x] ?? 100)
    const scale: Scale = { origin: 'explicit', min: [100], max: [200] }
    const { values } = await tileOf(image, {}, { scale })
    expect([...values.subarray(0, 5)]).toEqual([0, 0, 0.5, 1, 1])
  })

  test('follows the order of bands and repeats one', async () => {
    const image = flat(4, (band) => band * 51)
    const wanted = async (bands: number[]): Promise<number[]> => {
      const { values } = await tileOf(image, { extraSamples: [0] }, { bands })
      return bands.map((_, channel) => Math.fround(values[channel * 64] as number))
    }
    expect(await wanted([3, 1, 0])).toEqual([Math.fround(0.6), Math.fround(0.2), 0])
    expect(await wanted([2, 2, 2])).toEqual([Math.fround(0.4), Math.fround(0.4), Math.fround(0.4)])
    expect(await wanted([1])).toEqual([Math.fround(0.2)])
  })

  test('uses physical values where a band has scale and offset', async () => {
    const bandItems = [
      { band: 0, role: 'scale', value: '0.1' },
      { band: 0, role: 'offset', value: '-20' },
    ]
    const scale: Scale = { origin: 'explicit', min: [-20], max: [-10] }
    const { values } = await tileOf(
      flat(1, () => 50),
      { bandItems },
      { scale },
    )
    expect(values[0]).toBeCloseTo(0.5, 6)
  })

  test('turns an image around whose zero is white', async () => {
    expect(
      (
        await tileOf(
          flat(1, () => 255),
          { color: 'gray-inverted' },
        )
      ).values[0],
    ).toBe(0)
  })

  test('expands a palette', async () => {
    const palette = [
      [0, 51, 255],
      [255, 102, 0],
    ] as const
    const image = imageOf({ width: 8, height: 8, bands: 1 }, (x) => x % 2)
    const { values } = await tileOf(image, { color: 'palette', palette }, { bands: [0, 1, 2] })
    expect([values[0], values[64], values[128]]).toEqual([0, Math.fround(0.2), 1])
    expect([values[1], values[65], values[129]]).toEqual([1, Math.fround(0.4), 0])
  })

  test('writes into shared memory', async () => {
    const image = imageOf({ width: 8, height: 8, bands: 3 }, (x, y, band) => x + y + band)
    const { raster, source } = await fixture(image, { type: 'uint8', tileSize: 16 })
    const plan = planTiles({ width: 8, height: 8, tileSize: 8 })
    const reader = createTileReader({
      source,
      raster,
      plan,
      bands: [0, 1, 2],
      scale: BYTES,
      mean: [0, 0, 0],
      std: [1, 1, 1],
    })
    const slot = new Float32Array(new SharedArrayBuffer(2 * 192 * 4), 192 * 4, 192)
    await reader.read(0, slot)
    expect(slot[191]).toBe(Math.fround(16 / 255))
  })

  test('resamples to the size of the model', async () => {
    const image = imageOf({ width: 8, height: 8, bands: 3 }, (x) => x * 30)
    const { values } = await tileOf(image, {}, { size: { width: 16, height: 4 } })
    expect(values.length).toBe(3 * 64)
    expect(values[0]).toBeCloseTo(0, 6)
    expect(values[15]).toBeCloseTo(210 / 255, 6)
    expect(values[8]).toBeCloseTo(112.5 / 255, 6)
  })
})

describe('what is invalid', () => {
  const half = imageOf({ width: 8, height: 8, bands: 3 }, (x, _y, band) => (x < 4 ? 0 : 51 * (band + 1)))

  test('is nodata in every selected band', async () => {
    expect(await tileOf(half, { nodata: '0' })).toMatchObject({ validFraction: 0.5 })
    const dark = imageOf({ width: 8, height: 8, bands: 3 }, (x, _y, band) => (x < 4 && band === 0 ? 0 : 51))
    expect(await tileOf(dark, { nodata: '0' })).toMatchObject({ validFraction: 1 })
    expect(await tileOf(dark, { nodata: '0' }, { bands: [0] })).toMatchObject({ validFraction: 0.5 })
    expect(await tileOf(dark, { nodata: '0', planar: true }, { bands: [0, 0, 0] })).toMatchObject({
      validFraction: 0.5,
    })
  })

  test('is filled from what is valid', async () => {
    const { values } = await tileOf(half, { nodata: '0' })
    expect(new Set(values.subarray(0, 64))).toEqual(new Set([Math.fround(0.2)]))
    expect(new Set(values.subarray(128))).toEqual(new Set([Math.fround(0.6)]))
  })

  test('is NaN and infinity in any selected band, nodata or not', async () => {
    const value = (x: number, _y: number, band: number): number =>
      x === 0 && band === 1 ? Number.NaN : x === 1 ? Infinity : 5
    for (const planar of [false, true]) {
      const { validFraction, values } = await tileOf(imageOf({ width: 8, height: 8, bands: 3 }, value), {
        type: 'float32',
        planar,
      })
      expect(validFraction).toBe(0.75)
      expect(values.every(Number.isFinite)).toBe(true)
    }
  })

  test('is nodata of a float as the file rounds it', async () => {
    const image = imageOf({ width: 8, height: 8, bands: 1 }, (x) => (x < 2 ? -3.402_823_466_385_288_6e38 : 5))
    expect(await tileOf(image, { type: 'float32', nodata: '-3.4028234663852886e+38' })).toMatchObject({
      validFraction: 0.75,
    })
    const tenth = imageOf({ width: 8, height: 8, bands: 1 }, (x) => (x < 2 ? 0.1 : 5))
    expect(await tileOf(tenth, { type: 'float32', nodata: '0.1' })).toMatchObject({ validFraction: 0.75 })
  })

  test('is the largest single float in a file of doubles, but no larger double', async () => {
    const [fill, large] = [3.402_823_466_385_288_6e38, 1e300]
    const image = imageOf({ width: 8, height: 8, bands: 1 }, (x) =>
      x < 2 ? -fill : x === 2 ? fill : x === 3 ? large : 5,
    )
    expect(await tileOf(image, { type: 'float64' })).toMatchObject({ validFraction: 5 / 8 })
  })

  test('is an alpha of zero', async () => {
    const image = imageOf({ width: 8, height: 8, bands: 4 }, (x, _y, band) => (band === 3 ? x * 30 : 100))
    for (const planar of [false, true]) {
      expect(await tileOf(image, { extraSamples: [2], planar })).toMatchObject({ validFraction: 7 / 8 })
      expect(await tileOf(image, { extraSamples: [0], planar })).toMatchObject({ validFraction: 1 })
    }
  })

  test('is zero in the internal mask', async () => {
    const image = imageOf({ width: 40, height: 40, bands: 3 }, () => 9)
    const mask = (x: number, y: number): boolean => x >= 36 || y >= 38
    const reading = await tileOf(image, { mask }, { tiling: { tileSize: 32 }, tile: 3 })
    expect(reading.validFraction).toBe((4 * 8 + 4 * 2) / 64)
  })

  test('is an index of a palette', async () => {
    const palette = Array.from({ length: 8 }, (_, i) => [i, i, i] as const)
    const image = imageOf({ width: 8, height: 8, bands: 1 }, (x) => x)
    expect(await tileOf(image, { color: 'palette', palette, nodata: '3' }, { bands: [0, 1, 2] })).toMatchObject({
      validFraction: 7 / 8,
    })
  })

  test('leaves zeros when nothing is valid', async () => {
    const reading = await tileOf(
      flat(3, () => 0),
      { nodata: '0' },
      { mean: MEAN, std: STD, scale: BYTES },
    )
    expect(reading.validFraction).toBe(0)
    expect(new Set(reading.values)).toEqual(new Set([0]))
  })

  test('is not what lies outside of the raster: that is mirrored', async () => {
    const image = imageOf({ width: 13, height: 10, bands: 1 }, (x, y) => x * 10 + y)
    const { validFraction, values } = await tileOf(image, {}, { tile: 3 })
    expect(validFraction).toBe(1)
    const row = [...values.subarray(0, 8)].map((value) => Math.round(value * 255))
    expect(row).toEqual([88, 98, 108, 118, 128, 128, 118, 108])
    const column = Array.from({ length: 8 }, (_, y) => Math.round((values[y * 8] as number) * 255))
    expect(column).toEqual([88, 89, 89, 88, 88, 89, 89, 88])
  })

  test('does not depend on which tile was read before', async () => {
    const image = imageOf({ width: 12, height: 8, bands: 3 }, () => 7)
    const { raster, source } = await fixture(image, { type: 'uint8', tileSize: 16 })
    const plan = planTiles({ width: 12, height: 8, tileSize: 8 })
    const reader = createTileReader({
      source,
      raster,
      plan,
      bands: [0, 1, 2],
      scale: BYTES,
      mean: [0, 0, 0],
      std: [1, 1, 1],
    })
    const out = new Float32Array(192)
    for (const index of [1, 0, 1, 0]) {
      out.fill(Number.NaN)
      expect(await reader.read(index, out)).toEqual({ validFraction: 1 })
      expect(new Set(out)).toEqual(new Set([Math.fround(7 / 255)]))
    }
  })
})

test('random layouts, plans and bands give the values that the definition gives', async () => {
  await randomCases(80, async (random) => {
    const upTo = (limit: number): number => 1 + Math.floor(random() * limit)
    const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const type = oneOf(['uint8', 'int16', 'uint16', 'float32'] as const)
    const [width, height, count] = [upTo(70), upTo(70), upTo(5)]
    const image = imageOf({ width, height, bands: count }, (x, y, band) => valueOf(type, x, y, band))
    const layout = random() < 0.5 ? { tileSize: 16 * upTo(3) } : { rowsPerStrip: upTo(height) }
    const { raster, source } = await fixture(image, {
      type,
      ...layout,
      planar: random() < 0.3,
      compression: oneOf(['none', 'deflate', 'lzw']),
    })
    const tileSize = upTo(24)
    const plan = planTiles({ width, height, tileSize, stride: upTo(tileSize), edge: oneOf(['pad', 'shift']) })
    const bands = Array.from({ length: oneOf([1, 3, 4]) }, () => upTo(count) - 1)
    const scale: Scale = { origin: 'explicit', min: bands.map(() => 10), max: bands.map(() => 10 + upTo(300)) }
    const mean = bands.map(() => random())
    const std = bands.map(() => 0.1 + random())
    const reader = createTileReader({
      source,
      raster,
      plan,
      bands,
      scale,
      mean,
      std,
      cacheBytes: oneOf([0, 1_000, 1_000_000]),
    })
    const out = new Float32Array(bands.length * tileSize ** 2)
    const index = upTo(plan.count) - 1
    expect(await reader.read(index, out)).toEqual({ validFraction: 1 })
    const window = tileWindow(plan, index)
    bands.forEach((band, channel) => {
      for (let y = 0; y < tileSize && window.y + y < height; y++) {
        for (let x = 0; x < tileSize && window.x + x < width; x++) {
          const value = (valueOf(type, window.x + x, window.y + y, band) - 10) / ((scale.max[channel] as number) - 10)
          const wanted = (Math.max(0, Math.min(1, value)) - (mean[channel] as number)) / (std[channel] as number)
          const found = out[channel * tileSize ** 2 + y * tileSize + x] as number
          expect(Math.abs(found - wanted)).toBeLessThan(1e-5 * (1 + Math.abs(wanted)))
        }
      }
    })
  })
})

describe('in the order of the plan each block is read once', () => {
  const cases: [string, Partial<GeoTiffOptions>, Partial<PlanRequest>][] = [
    ['tiles like the blocks', { tileSize: 16 }, { tileSize: 16 }],
    ['smaller tiles', { tileSize: 32 }, { tileSize: 16 }],
    ['larger tiles', { tileSize: 16 }, { tileSize: 48 }],
    ['overlapping tiles', { tileSize: 32 }, { tileSize: 24, stride: 10 }],
    ['strips', { rowsPerStrip: 3 }, { tileSize: 16 }],
    ['planes', { tileSize: 32, planar: true }, { tileSize: 20 }],
  ]
  test.each(cases)('%s', async (_, options, tiling) => {
    const image = imageOf({ width: 150, height: 130, bands: 3 }, (x, y, band) => valueOf('uint8', x, y, band))
    const { raster, source } = await fixture(image, { type: 'uint8', compression: 'deflate', ...options })
    const reads = new Map<number, number>()
    const counting: ByteSource = {
      size: source.size,
      read(offset, length) {
        reads.set(offset, (reads.get(offset) ?? 0) + 1)
        return source.read(offset, length)
      },
    }
    const plan = planTiles({ width: 150, height: 130, tileSize: 16, ...tiling })
    const reader = createTileReader({
      source: counting,
      raster,
      plan,
      bands: [0, 1, 2],
      scale: BYTES,
      mean: MEAN,
      std: STD,
    })
    const out = new Float32Array(3 * plan.tileSize ** 2)
    for (let index = 0; index < plan.count; index++) await reader.read(index, out)
    expect(reads.size).toBe(raster.blockOffsets.length)
    expect(Math.max(...reads.values())).toBe(1)
  })
})

test('a damaged block is an error that says where it is', async () => {
  const image = imageOf({ width: 64, height: 64, bands: 1 }, (x, y) => valueOf('uint8', x, y, 0))
  for (const compression of ['deflate', 'lzw', 'zstd', 'jpeg', 'webp', 'lerc'] as const) {
    const bands = compression === 'webp' ? 3 : 1
    const picture =
      bands === 1 ? image : imageOf({ width: 64, height: 64, bands }, (x, y, b) => valueOf('uint8', x, y, b))
    const { raster, source, bytes } = await fixture(picture, { type: 'uint8', compression, tileSize: 32 })
    bytes.fill(0xaa, (raster.blockOffsets[3] as number) + 2, (raster.blockOffsets[3] as number) + 60)
    const plan = planTiles({ width: 64, height: 64, tileSize: 32 })
    const reader = createTileReader({ source, raster, plan, bands: [0], scale: BYTES, mean: [0], std: [1] })
    const out = new Float32Array(1_024)
    await reader.read(2, out)
    await expect(reader.read(3, out), compression).rejects.toMatchObject({
      code: 'CORRUPT_TILE',
      message: expect.stringMatching(/^The image block at column 1, row 1 cannot be decoded: /),
    })
    await reader.read(0, out)
  }
})
