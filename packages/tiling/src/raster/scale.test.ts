import { describe, expect, test } from 'vitest'
import { seededRandom } from '@terrane/core'
import { imageOf } from '@terrane/testing/geotiff'
import type { GeoTiffOptions, ImageSource } from '@terrane/testing/geotiff'
import { fixture } from '../../test/fixtures.ts'
import type { Scale } from './scale.ts'
import { estimateScale } from './scale.ts'

async function scaleOf(
  image: ImageSource,
  options: Partial<GeoTiffOptions>,
  bands: readonly number[] = [0],
): Promise<Scale> {
  const { source, raster } = await fixture(image, { type: 'uint16', tileSize: 64, compression: 'deflate', ...options })
  return await estimateScale(source, raster, bands)
}

/** Values 0 to 9999, each as often, scattered over the image. */
const scattered = imageOf({ width: 100, height: 100, bands: 1 }, (x, y) => ((y * 100 + x) * 7_919) % 10_000)

describe('without percentiles', () => {
  test('a requested range serves all channels', async () => {
    const { source, raster } = await fixture(scattered, { type: 'uint16' })
    expect(await estimateScale(source, raster, [0, 0, 0], [-5, 12.5])).toEqual({
      origin: 'explicit',
      min: [-5, -5, -5],
      max: [12.5, 12.5, 12.5],
    })
  })

  test.each([
    [3, 3],
    [4, 3],
    [Number.NaN, 3],
    [0, Infinity],
    [0, 1e-320],
    [-1.7e308, 1.7e308],
  ])('the range [%d, %d] is refused', async (min, max) => {
    const { source, raster } = await fixture(scattered, { type: 'uint16' })
    await expect(estimateScale(source, raster, [0], [min, max])).rejects.toMatchObject({
      code: 'INVALID_SCALE',
      errors: [{ path: '/scale', message: expect.any(String) }],
    })
  })

  test('bytes, packed bits and palettes have a range of their own', async () => {
    const small = imageOf({ width: 16, height: 16, bands: 1 }, (x) => x % 2)
    const palette = Array.from({ length: 16 }, (_, i) => [i, i, i] as const)
    const fixed = async (options: Partial<GeoTiffOptions>): Promise<number[]> => {
      const { origin, min, max } = await scaleOf(small, { type: 'uint8', ...options })
      expect(origin).toBe('fixed')
      return [min[0] as number, max[0] as number]
    }
    expect(await fixed({})).toEqual([0, 255])
    expect(await fixed({ bitsPerSample: 4 })).toEqual([0, 15])
    expect(await fixed({ bitsPerSample: 4, color: 'palette', palette })).toEqual([0, 255])
  })
})

describe('by percentiles', () => {
  test('the 2nd and the 98th of a small raster are exact', async () => {
    const { origin, min, max } = await scaleOf(scattered, {})
    expect(origin).toBe('percentile')
    // NumPy's linear quantiles of 0 … 9999.
    expect(min[0]).toBeCloseTo(199.98, 6)
    expect(max[0]).toBeCloseTo(9_799.02, 2)
  })

  test('each band has its own, in the order of the channels', async () => {
    const image = imageOf({ width: 64, height: 64, bands: 3 }, (x, y, band) => (x + 64 * y) * 2 ** band)
    const { min, max } = await scaleOf(image, { planar: true }, [2, 0, 2])
    expect(min[0]).toBeCloseTo(4 * (min[1] as number), 6)
    expect(max[2]).toBe(max[0])
  })

  test('physical values are used where a band has scale and offset, bytes included', async () => {
    const bandItems = [
      { band: 0, role: 'scale', value: '-0.5' },
      { band: 0, role: 'offset', value: '100' },
    ]
    const image = imageOf({ width: 50, height: 50, bands: 1 }, (x) => x)
    const { origin, min, max } = await scaleOf(image, { type: 'uint8', bandItems })
    expect(origin).toBe('percentile')
    expect(min[0]).toBeCloseTo(75.99, 6)
    expect(max[0]).toBeCloseTo(99.51, 6)
  })

  test('invalid pixels do not count', async () => {
    const value = (x: number, y: number): number => (x < 20 ? 60_000 : 100 + ((x + y) % 50))
    const image = imageOf({ width: 64, height: 64, bands: 1 }, value)
    const wanted = { min: [100], max: [149] }
    expect(await scaleOf(image, { nodata: '60000' })).toMatchObject(wanted)
    expect(await scaleOf(image, { mask: (x) => x >= 20 })).toMatchObject(wanted)
    const alpha = imageOf({ width: 64, height: 64, bands: 2 }, (x, y, band) =>
      band === 1 ? (x < 20 ? 0 : 1) : value(x, y),
    )
    expect(await scaleOf(alpha, { extraSamples: [2] })).toMatchObject(wanted)
    const nan = imageOf({ width: 64, height: 64, bands: 1 }, (x, y) => (x < 20 ? Number.NaN : value(x, y)))
    expect(await scaleOf(nan, { type: 'float32' })).toMatchObject(wanted)
  })

  test('a raster without any valid pixel has no scale', async () => {
    await expect(
      scaleOf(
        imageOf({ width: 9, height: 9, bands: 1 }, () => 4),
        { nodata: '4' },
      ),
    ).rejects.toMatchObject({
      code: 'NO_VALID_PIXELS',
    })
  })

  test('values beyond single precision do not make the range infinite', async () => {
    const image = imageOf({ width: 64, height: 64, bands: 1 }, (x, y) => (x < 4 ? 1e300 : (x * y) % 50))
    const { min, max } = await scaleOf(image, { type: 'float64' })
    expect([min[0], max[0]]).toEqual([0, 48])
  })

  test('a constant raster still has a range', async () => {
    expect(
      await scaleOf(
        imageOf({ width: 9, height: 9, bands: 1 }, () => 4),
        {},
      ),
    ).toMatchObject({ min: [4], max: [5] })
  })
})

describe('of a raster that is sampled', () => {
  const random = seededRandom(9)
  const noise = Float64Array.from({ length: 1 << 16 }, () => Math.floor(random() * 10_000))
  const large = imageOf(
    { width: 3_000, height: 2_500, bands: 1 },
    (x, y) => noise[(x * 31 + y * 977) & 0xffff] as number,
  )

  test.each([
    ['tiles', { tileSize: 128 }],
    ['strips', { rowsPerStrip: 2 }],
  ])('%s give the percentiles nearly, and the same each time', async (_, layout) => {
    const { source, raster } = await fixture(large, { type: 'uint16', compression: 'deflate', ...layout })
    const first = await estimateScale(source, raster, [0])
    expect(Math.abs((first.min[0] as number) - 200)).toBeLessThan(25)
    expect(Math.abs((first.max[0] as number) - 9_800)).toBeLessThan(25)
    expect(await estimateScale(source, raster, [0])).toEqual(first)
  })

  test('the overview nearest 1024 pixels is read, with its mask', async () => {
    const image = imageOf(
      { width: 2_048, height: 64, bands: 1 },
      (x) => (x % 2 === 0 ? 0 : 1_000) + (x < 1_024 ? 0 : 20_000),
    )
    const { min, max } = await scaleOf(image, { overviews: 2, mask: (x) => x < 1_024 })
    expect([min[0], max[0]]).toEqual([500, 501])
  })
})
