import { describe, expect, test } from 'vitest'
import { seededRandom } from '@terrane/core'
import { imageOf } from '@terrane/testing/geotiff'
import type { FixtureType, GeoTiffOptions } from '@terrane/testing/geotiff'
import { bufferSource, openGeoTiff, readWindow } from '../src/raster/index.ts'
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

test.each([
  ['uint8', '300', 255],
  ['int8', '-9999', -128],
  ['uint8', 'nan', 0],
] as const)('a sparse block of %s holds nodata %s as %i', async (type, nodata, value) => {
  const image = imageOf({ width: 32, height: 16, bands: 1 }, () => 5)
  const file = await fixture(image, { type, tileSize: 16, nodata, isSparse: (column) => column === 1 })
  const samples = await readWindow(file.source, file.raster, { x: 15, y: 0, width: 2, height: 1, band: 0 })
  expect([...samples]).toEqual([5, value])
})

test('bits from the least significant one are turned around', async () => {
  const value = (x: number, y: number): number => valueOf('uint8', x, y, 0) % 8
  const image = imageOf({ width: 33, height: 20, bands: 1 }, value)
  for (const [bits, compression] of [
    [3, 'none'],
    [8, 'deflate'],
  ] as const) {
    const { bytes, raster } = await fixture(image, {
      type: 'uint8',
      bitsPerSample: bits,
      compression,
      rowsPerStrip: 20,
      fields: [{ tag: 266, type: 3, values: [2] }],
    })
    const turned = Uint8Array.from(bytes)
    const [start = 0, length = 0] = [raster.blockOffsets[0], raster.blockByteCounts[0]]
    for (let i = start; i < start + length; i++) {
      turned[i] = Number.parseInt((turned[i] as number).toString(2).padStart(8, '0').split('').toReversed().join(''), 2)
    }
    await expectWindow(
      { bytes: turned, raster, source: bufferSource(turned) },
      { x: 0, y: 0, width: 33, height: 20 },
      value,
    )
  }
})

test('an uncompressed strip that is too short is an error, not empty', async () => {
  const image = imageOf({ width: 700, height: 1_000, bands: 1 }, (x, y) => valueOf('uint8', x, y, 0))
  const whole = await fixture(image, { type: 'uint8', rowsPerStrip: 1_000 })
  const length = whole.raster.blockByteCounts[0] as number
  const cut = await fixture(image, {
    type: 'uint8',
    rowsPerStrip: 1_000,
    fields: [{ tag: 279, type: 4, values: [length] }],
  })
  await expect(
    readWindow(cut.source, cut.raster, { x: 0, y: 999, width: 9, height: 1, band: 0 }),
  ).rejects.toMatchObject({ code: 'CORRUPT_TILE' })
})

test('LERC of a big-endian file holds swapped samples', async () => {
  const value = (x: number, y: number, band: number): number => valueOf('int16', x, y, band)
  const image = imageOf({ width: 40, height: 30, bands: 1 }, value)
  for (const littleEndian of [true, false]) {
    const file = await fixture(image, { type: 'int16', compression: 'lerc', tileSize: 32, littleEndian })
    await expectWindow(file, { x: 0, y: 0, width: 40, height: 30 }, value)
  }
})

describe('LERC of bytes with alpha', () => {
  const image = imageOf({ width: 16, height: 16, bands: 4 }, () => 0)
  const withBlob = async (blob: Uint8Array): Promise<Fixture> => {
    const lerc: Partial<GeoTiffOptions> = {
      fields: [
        { tag: 259, type: 3, values: [34_887] },
        { tag: 50_674, type: 4, values: [4, 0] },
        { tag: 325, type: 4, values: [blob.length] },
      ],
    }
    const { bytes } = await fixture(image, { type: 'uint8', tileSize: 16, extraSamples: [2], ...lerc })
    const raster = openGeoTiff(bufferSource(bytes))
    bytes.set(blob, raster.blockOffsets[0])
    return { bytes, raster, source: bufferSource(bytes) }
  }

  test('has it in the mask alone, as libtiff writes it', async () => {
    const file = await withBlob(constantLerc([10, 20, 30], (pixel) => pixel % 3 > 0))
    const value = (x: number, y: number, band: number): number => {
      const opaque = (16 * y + x) % 3 > 0
      return band === 3 ? (opaque ? 255 : 0) : opaque ? 10 * (band + 1) : 0
    }
    await expectWindow(file, { x: 0, y: 0, width: 16, height: 16 }, value)
  })

  test.each([
    ['declares a billion samples per pixel', 22, 1 << 30],
    ['declares a million rows', 14, 1 << 20],
    ['is no LERC', 0, 0],
  ])('that %s is an error before anything is decoded', async (_, at, value) => {
    const blob = constantLerc([10, 20, 30], () => true)
    new DataView(blob.buffer).setInt32(at, value, true)
    const file = await withBlob(blob)
    await expect(
      readWindow(file.source, file.raster, { x: 0, y: 0, width: 1, height: 1, band: 0 }),
    ).rejects.toMatchObject({ code: 'CORRUPT_TILE' })
  })
})

/** A LERC2 blob, version 4, of 16 × 16 pixels whose bands are constant. Source: Esri's public reference decoder. */
function constantLerc(values: readonly number[], isValid: (pixel: number) => boolean): Uint8Array<ArrayBuffer> {
  const flags = new Uint8Array(32)
  for (let pixel = 0; pixel < 256; pixel++)
    if (isValid(pixel)) flags[pixel >> 3] = (flags[pixel >> 3] as number) | (0x80 >> (pixel & 7))
  const valid = Array.from({ length: 256 }, (_, pixel) => pixel).filter(isValid).length
  const mask = valid === 256 ? [] : [32, 0, ...flags, 0x00, 0x80]
  const blob = new Uint8Array(66 + 4 + mask.length + 2 * values.length)
  const view = new DataView(blob.buffer)
  blob.set(Buffer.from('Lerc2 '))
  const integers = [4, 0, 16, 16, values.length, valid, 8, blob.length, 1]
  integers.forEach((value, i) => view.setInt32(6 + 4 * i, value, true))
  const reals = [0.5, Math.min(...values), Math.max(...values)]
  reals.forEach((value, i) => view.setFloat64(42 + 8 * i, value, true))
  view.setInt32(66, mask.length, true)
  blob.set([...mask, ...values, ...values], 70)
  view.setUint32(10, fletcher32(blob.subarray(14)), true)
  return blob
}

function fletcher32(bytes: Uint8Array): number {
  let [low, high] = [0xffff, 0xffff]
  for (let i = 0; i < bytes.length; i += 2) {
    low = (low + ((bytes[i] as number) << 8) + (bytes[i + 1] ?? 0)) % 0xffff
    high = (high + low) % 0xffff
  }
  return ((high || 0xffff) * 0x10000 + (low || 0xffff)) >>> 0
}

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

  test('JPEG whose stream ends early or holds a second frame is an error, not gray', async () => {
    const { bytes, source, raster } = await fixture(rgb, { type: 'uint8', compression: 'jpeg', tileSize: 64 })
    const last = raster.blockOffsets.length - 1
    const end = (raster.blockOffsets[last] as number) + (raster.blockByteCounts[last] as number)
    const corner = { x: 99, y: 69, width: 1, height: 1, band: 0 }
    await readWindow(source, raster, corner)
    for (const marker of [0x00, 0xc0]) {
      bytes[end - 1] = marker
      await expect(readWindow(source, raster, corner)).rejects.toMatchObject({ code: 'CORRUPT_TILE' })
    }
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
