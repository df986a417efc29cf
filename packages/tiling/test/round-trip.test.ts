import { describe, expect, test } from 'vitest'
import { seededRandom } from '@terrane/core'
import { imageOf } from '@terrane/testing/geotiff'
import type { FixtureType, GeoTiffOptions } from '@terrane/testing/geotiff'
import { readWindow } from '../src/raster/index.ts'
import type { Fixture } from './fixtures.ts'
import { fixture, valueOf } from './fixtures.ts'

const TYPES: readonly FixtureType[] = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint32',
  'int32',
  'float16',
  'float32',
  'float64',
]
const COMPRESSIONS = ['none', 'lzw', 'deflate', 'zstd', 'packbits'] as const

async function expectWindow(
  { source, raster }: Fixture,
  rect: { x: number; y: number; width: number; height: number },
  value: (x: number, y: number, band: number) => number,
): Promise<void> {
  for (let band = 0; band < raster.samplesPerPixel; band++) {
    const samples = await readWindow(source, raster, { ...rect, band })
    const wanted = Array.from(samples, (_, i) =>
      value(rect.x + (i % rect.width), rect.y + Math.floor(i / rect.width), band),
    )
    expect([...samples], `band ${band} of ${JSON.stringify(rect)}`).toEqual(wanted)
  }
}

describe.each(TYPES)('%s', (type) => {
  const predictors = (compression: string): readonly (1 | 2 | 3)[] => {
    if (compression === 'none' || compression === 'packbits') return [1]
    return type === 'float32' || type === 'float64' || type === 'float16' ? [1, 2, 3] : [1, 2]
  }
  const cases = COMPRESSIONS.flatMap((compression) =>
    predictors(compression).flatMap((predictor) =>
      [true, false].map((littleEndian) => ({ compression, predictor, littleEndian })),
    ),
  )
  test.each(cases)('$compression, predictor $predictor, little-endian $littleEndian', async (coding) => {
    const value = (x: number, y: number, band: number): number => valueOf(type, x, y, band)
    const image = imageOf({ width: 41, height: 37, bands: 3 }, value)
    const whole = { x: 0, y: 0, width: 41, height: 37 }
    await expectWindow(await fixture(image, { type, ...coding, tileSize: 16, bigTiff: true }), whole, value)
    await expectWindow(await fixture(image, { type, ...coding, rowsPerStrip: 7, planar: true }), whole, value)
  })
})

test.each([1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 23, 24, 25, 31])(
  'samples of %i bits',
  async (bitsPerSample) => {
    const type = bitsPerSample < 8 ? 'uint8' : bitsPerSample < 16 ? 'uint16' : 'uint32'
    const value = (x: number, y: number, band: number): number =>
      Math.floor((valueOf('uint16', x, y, band) / 65_536) * 2 ** bitsPerSample)
    const image = imageOf({ width: 21, height: 19, bands: 2 }, value)
    for (const littleEndian of [true, false]) {
      const options: GeoTiffOptions = { type, bitsPerSample, littleEndian, compression: 'lzw', rowsPerStrip: 5 }
      const file = await fixture(image, options)
      expect(file.raster.sampleType).toBe(type)
      await expectWindow(file, { x: 0, y: 0, width: 21, height: 19 }, value)
    }
  },
)

test('random layouts and windows hold the pixels that were written', async () => {
  const random = seededRandom(20)
  const upTo = (limit: number): number => 1 + Math.floor(random() * limit)
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  for (let round = 0; round < 120; round++) {
    const type = oneOf(TYPES)
    const [width, height, bands] = [upTo(90), upTo(90), upTo(6)]
    const compression = oneOf(COMPRESSIONS)
    const layout = random() < 0.5 ? { tileSize: 16 * upTo(4) } : { rowsPerStrip: upTo(height + 5) }
    const planar = random() < 0.4
    const sparse = new Set(
      Array.from({ length: upTo(3) }, () => `${upTo(3) - 1} ${upTo(3) - 1} ${planar ? upTo(bands) - 1 : 0}`),
    )
    const predictor = compression === 'none' || compression === 'packbits' ? 1 : oneOf([1, 2] as const)
    const file = await fixture(
      imageOf({ width, height, bands }, (x, y, band) => valueOf(type, x, y, band)),
      {
        type,
        compression,
        predictor,
        ...layout,
        planar,
        littleEndian: random() < 0.5,
        bigTiff: random() < 0.5,
        isSparse: (column, row, plane) => sparse.has(`${column} ${row} ${plane}`),
      },
    )
    const { tileSize = width, rowsPerStrip = tileSize } = { tileSize: undefined, rowsPerStrip: undefined, ...layout }
    const blockWidth = 'tileSize' in layout ? tileSize : width
    const value = (x: number, y: number, band: number): number => {
      const block = `${Math.floor(x / blockWidth)} ${Math.floor(y / rowsPerStrip)} ${planar ? band : 0}`
      return sparse.has(block) ? 0 : valueOf(type, x, y, band)
    }
    const [x, y] = [upTo(width) - 1, upTo(height) - 1]
    await expectWindow(file, { x, y, width: upTo(width - x), height: upTo(height - y) }, value)
  }
})

test('a sparse block holds nodata', async () => {
  const image = imageOf({ width: 32, height: 16, bands: 1 }, () => 5)
  const file = await fixture(image, { type: 'int16', tileSize: 16, nodata: '-9', isSparse: (column) => column === 1 })
  const samples = await readWindow(file.source, file.raster, { x: 15, y: 0, width: 2, height: 1, band: 0 })
  expect([...samples]).toEqual([5, -9])
})

test('an uncompressed image in one strip is read in pieces', async () => {
  const value = (x: number, y: number, band: number): number => valueOf('uint16', x, y, band)
  const image = imageOf({ width: 700, height: 500, bands: 2 }, value)
  for (const planar of [false, true]) {
    const file = await fixture(image, { type: 'uint16', rowsPerStrip: 500, planar })
    expect(file.raster.blockHeight).toBe(planar ? 187 : 93)
    await expectWindow(file, { x: 3, y: 80, width: 11, height: 130 }, value)
  }
})

describe('pictures', () => {
  /** Smooth, so that lossy codecs stay close. */
  const smooth = (x: number, y: number, band: number): number => 128 + 100 * Math.sin(x / 40 + band) * Math.cos(y / 30)
  const rgb = imageOf({ width: 100, height: 70, bands: 3 }, smooth)
  const whole = { x: 0, y: 0, width: 100, height: 70 }

  async function largestError(file: Fixture, wanted: (x: number, y: number, band: number) => number): Promise<number> {
    let largest = 0
    for (let band = 0; band < file.raster.samplesPerPixel; band++) {
      const samples = await readWindow(file.source, file.raster, { ...whole, band })
      samples.forEach(
        (sample, i) => (largest = Math.max(largest, Math.abs(sample - wanted(i % 100, Math.floor(i / 100), band)))),
      )
    }
    return largest
  }

  test.each([
    { rowsPerStrip: 16 },
    { tileSize: 64 },
    { tileSize: 64, sharedJpegTables: true },
    { tileSize: 32, littleEndian: false, bigTiff: true },
  ])('JPEG in YCbCr is RGB: %j', async (layout) => {
    const file = await fixture(rgb, { type: 'uint8', compression: 'jpeg', color: 'ycbcr', quality: 98, ...layout })
    expect(await largestError(file, smooth)).toBeLessThan(4)
  })

  test('JPEG that is said to be RGB is not transformed, whatever its markers say', async () => {
    const file = await fixture(rgb, { type: 'uint8', compression: 'jpeg', color: 'rgb', quality: 98, tileSize: 64 })
    const ycbcr = (x: number, y: number, band: number): number => {
      const [r, g, b] = [smooth(x, y, 0), smooth(x, y, 1), smooth(x, y, 2)]
      const luma = 0.299 * r + 0.587 * g + 0.114 * b
      return [luma, 128 + 0.564 * (b - luma), 128 + 0.713 * (r - luma)][band] as number
    }
    expect(await largestError(file, ycbcr)).toBeLessThan(4)
  })

  test('JPEG of one band, and of one band each', async () => {
    const gray = imageOf({ width: 100, height: 70, bands: 1 }, smooth)
    const single = await fixture(gray, { type: 'uint8', compression: 'jpeg', quality: 98, tileSize: 64 })
    expect(await largestError(single, smooth)).toBeLessThan(3)
    const planar = await fixture(rgb, { type: 'uint8', compression: 'jpeg', quality: 98, tileSize: 64, planar: true })
    expect(await largestError(planar, smooth)).toBeLessThan(3)
  })

  test('WEBP of three and four bands is exact when it is lossless', async () => {
    const value = (x: number, y: number, band: number): number =>
      band === 3 ? (x < 50 ? 255 : x) : valueOf('uint8', x, y, band)
    for (const bands of [3, 4]) {
      const image = imageOf({ width: 100, height: 70, bands }, value)
      for (const layout of [{ tileSize: 64 }, { rowsPerStrip: 9 }]) {
        await expectWindow(
          await fixture(image, { type: 'uint8', compression: 'webp', quality: 100, ...layout }),
          whole,
          value,
        )
      }
    }
  })

  test.each(['none', 'deflate', 'zstd'] as const)(
    'LERC wrapped in %s, with NaN where it has no value',
    async (lercWrapper) => {
      for (const type of ['uint8', 'int16', 'uint32', 'float32', 'float64'] as const) {
        const hole = type.startsWith('float')
        const value = (x: number, y: number): number => (hole && x > 30 && y < 20 ? Number.NaN : valueOf(type, x, y, 0))
        const image = imageOf({ width: 100, height: 70, bands: 1 }, value)
        await expectWindow(await fixture(image, { type, compression: 'lerc', lercWrapper, tileSize: 64 }), whole, value)
      }
    },
  )
})
