import { describe, expect, test } from 'vitest'
import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import type { GeoTiffOptions } from '@terrane/testing/geotiff'
import { bufferSource } from '../source.ts'
import type { RasterInfo } from '../raster-info.ts'
import { openGeoTiff } from './open.ts'

const rgb = imageOf({ width: 100, height: 70, bands: 3 }, (x, y, band) => x + y + band)

async function opened(options: Partial<GeoTiffOptions>, image = rgb): Promise<RasterInfo> {
  return openGeoTiff(bufferSource(await writeGeoTiff(image, { type: 'uint8', tileSize: 64, ...options })))
}

async function bytesOf(options: Partial<GeoTiffOptions> = {}, image = rgb): Promise<Uint8Array> {
  return await writeGeoTiff(image, { type: 'uint8', tileSize: 64, ...options })
}

/** The position of the entry of a tag in the first directory of a little-endian classic TIFF. */
function entryOf(bytes: Uint8Array, tag: number): number {
  const view = new DataView(bytes.buffer)
  const first = view.getUint32(4, true)
  const count = view.getUint16(first, true)
  const index = Array.from({ length: count }, (_, i) => view.getUint16(first + 2 + 12 * i, true)).indexOf(tag)
  if (index === -1) throw new RangeError(`no tag ${tag}`)
  return first + 2 + 12 * index
}

/** The file with another value, count or field type of a tag that has one number. */
async function altered(
  tag: number,
  change: { value?: number; count?: number; type?: number },
  options: Partial<GeoTiffOptions> = {},
): Promise<() => RasterInfo> {
  const bytes = await bytesOf(options)
  const view = new DataView(bytes.buffer)
  const entry = entryOf(bytes, tag)
  if (change.type !== undefined) view.setUint16(entry + 2, change.type, true)
  if (change.count !== undefined) view.setUint32(entry + 4, change.count, true)
  if (change.value !== undefined) {
    const short = view.getUint16(entry + 2, true) === 3
    if (short) view.setUint16(entry + 8, change.value, true)
    else view.setUint32(entry + 8, change.value, true)
  }
  return () => openGeoTiff(bufferSource(bytes))
}

const withCode = (code: string, message?: RegExp): unknown =>
  expect.objectContaining({
    code,
    hint: expect.stringMatching(/\S/),
    ...(message === undefined ? {} : { message: expect.stringMatching(message) }),
  })

test('texts of GDAL are escaped twice, and those of others once', async () => {
  const metadata = [
    '<Item name="k">1 &amp;amp; 2 &amp;lt;x&amp;gt;</Item>',
    '<Item name="once">R &amp; D, &#228;&#xE9;</Item>',
    '<Item name="DESCRIPTION" sample="0" role="description">a &amp;lt; b &amp;amp; &amp;quot;c&amp;quot; \u00e9</Item>',
  ]
  const xml = Buffer.from(`<GDALMetadata>${metadata.join('')}</GDALMetadata>\0`)
  const { bands, tags } = await opened({ fields: [{ tag: 42_112, type: 2, values: xml }] })
  expect(tags).toMatchObject({ k: '1 & 2 <x>', once: 'R & D, \u00e4\u00e9' })
  expect(bands[0]!.name).toBe('a < b & "c" \u00e9')
})

describe('the layout', () => {
  test('tiles', async () => {
    expect(await opened({ compression: 'deflate', predictor: 2 })).toMatchObject({
      width: 100,
      height: 70,
      blockWidth: 64,
      blockHeight: 64,
      blocksAcross: 2,
      blocksDown: 2,
      tiled: true,
      planar: false,
      samplesPerPixel: 3,
      bitsPerSample: 8,
      sampleType: 'uint8',
      compression: 'deflate',
      predictor: 2,
      color: 'rgb',
      littleEndian: true,
    })
  })

  test('strips, planes, the other byte order and BigTIFF', async () => {
    const raster = await opened({ type: 'int16', rowsPerStrip: 9, planar: true, littleEndian: false, bigTiff: true })
    expect(raster).toMatchObject({ blockWidth: 100, blockHeight: 9, blocksDown: 8, planar: true, sampleType: 'int16' })
    expect(raster.blockOffsets.length).toBe(24)
    expect(raster.littleEndian).toBe(false)
  })

  test('overviews, the mask and their sizes', async () => {
    const raster = await opened({ overviews: 2, mask: (x) => x > 5 })
    expect(raster.overviews.map(({ width, height, mask }) => [width, height, mask?.width])).toEqual([
      [50, 35, 50],
      [25, 18, 25],
    ])
    expect(raster.mask).toMatchObject({ width: 100, height: 70, bitsPerSample: 1, color: 'mask' })
  })

  test('an overview that cannot be read is left out', async () => {
    const bytes = await bytesOf({ overviews: 2 })
    const view = new DataView(bytes.buffer)
    const first = view.getUint32(4, true)
    const second = view.getUint32(first + 2 + 12 * view.getUint16(first, true), true)
    const tags = Array.from({ length: view.getUint16(second, true) }, (_, i) =>
      view.getUint16(second + 2 + 12 * i, true),
    )
    view.setUint16(second + 2 + 12 * tags.indexOf(259) + 8, 34_712, true)
    expect(openGeoTiff(bufferSource(bytes)).overviews.map(({ width }) => width)).toEqual([25])
  })

  test('a predictor of an uncompressed file is ignored, as libtiff does', async () => {
    expect((await opened({ compression: 'none', predictor: 2 })).predictor).toBe(1)
  })
})

describe('the bands', () => {
  const colors = async (options: Partial<GeoTiffOptions>, bands: number): Promise<string[]> => {
    const raster = await opened(
      options,
      imageOf({ width: 16, height: 16, bands }, () => 0),
    )
    return raster.bands.map(({ color }) => color)
  }

  test('are named by the photometric interpretation and the extra samples', async () => {
    expect(await colors({}, 1)).toEqual(['gray'])
    expect(await colors({}, 3)).toEqual(['red', 'green', 'blue'])
    expect(await colors({ extraSamples: [0, 2] }, 5)).toEqual(['red', 'green', 'blue', 'undefined', 'alpha'])
    expect(await colors({ color: 'gray', extraSamples: [1] }, 2)).toEqual(['gray', 'alpha'])
  })

  test('are named by GDAL metadata where there is some', async () => {
    const bandItems = ['Blue', 'Green', 'Red', 'Alpha'].map((value, band) => ({ band, role: 'colorinterp', value }))
    expect(await colors({ color: 'gray', bandItems }, 4)).toEqual(['blue', 'green', 'red', 'alpha'])
  })

  test('of a palette are its colours', async () => {
    const palette = [[10, 20, 30] as const, [255, 254, 253] as const]
    const raster = await opened(
      { color: 'palette', palette },
      imageOf({ width: 16, height: 16, bands: 1 }, () => 0),
    )
    expect(raster.bands.map(({ color }) => color)).toEqual(['red', 'green', 'blue'])
    expect(raster.palette?.slice(0, 6)).toEqual(Uint8Array.of(10, 20, 30, 255, 254, 253))
  })

  test('have scale and offset', async () => {
    const raster = await opened({
      bandItems: [
        { band: 1, role: 'scale', value: '0.0001' },
        { band: 1, role: 'offset', value: '-3' },
        { band: 2, role: 'scale', value: 'broken' },
      ],
    })
    expect(raster.bands.map(({ scale, offset }) => [scale, offset])).toEqual([
      [1, 0],
      [0.0001, -3],
      [1, 0],
    ])
  })

  test.each([
    ['-9999', -9_999],
    ['nan', Number.NaN],
    ['-inf', -Infinity],
    [' 1e3 ', 1_000],
    ['none', null],
  ])('nodata "%s" is %d', async (nodata, value) => {
    expect((await opened({ nodata })).nodata).toBe(value)
  })
})

describe('bands beyond the colours', () => {
  const extra = (extraSamples: readonly number[], color: 'rgb' | 'gray'): Promise<RasterInfo> =>
    opened(
      { extraSamples, color },
      imageOf({ width: 20, height: 20, bands: 4 }, () => 1),
    )

  test.each([
    [[2], 'rgb', 3],
    [[0, 2], 'rgb', 3],
    [[2, 0, 0], 'rgb', null],
    [[0, 0, 2], 'gray', 3],
    [[0, 2], 'gray', 2],
  ] as const)('ExtraSamples %j of %s: the alpha band is %j, as for GDAL', async (samples, color, alpha) => {
    expect((await extra(samples, color)).alphaBand).toBe(alpha)
  })
})

describe('heights', () => {
  const HEIGHT = { width: 20, height: 20, bands: 1 }
  const withKeys = (minor: number, ...vertical: number[]): Promise<RasterInfo> =>
    opened(
      {
        fields: [
          { tag: 33_550, type: 12, values: [10, 10, 0.01] },
          { tag: 33_922, type: 12, values: [0, 0, 3, 400_000, 5_600_000, -100] },
          {
            tag: 34_735,
            type: 3,
            values: [1, 1, minor, 2 + vertical.length / 4, 1024, 0, 1, 1, 3072, 0, 1, 32_633, ...vertical],
          },
        ],
      },
      imageOf(HEIGHT, () => 1),
    )

  test('take scale and offset from the third dimension of the transform', async () => {
    expect((await withKeys(1, 4096, 0, 1, 5773)).bands[0]).toMatchObject({ scale: 0.01, offset: -100.03 })
  })

  test('do not without a vertical CRS, nor before GeoTIFF 1.1', async () => {
    expect((await withKeys(1)).bands[0]).toMatchObject({ scale: 1, offset: 0 })
    expect((await withKeys(0, 4096, 0, 1, 5773)).bands[0]).toMatchObject({ scale: 1, offset: 0 })
  })
})

describe('the georeference', () => {
  const affine = [400_000, 2, 0, 5_600_000, 0, -2] as const

  test('is the same from pixel corners and from pixel centers', async () => {
    for (const pixelIsPoint of [false, true]) {
      const raster = await opened({ georeference: { affine, epsg: 32_633, pixelIsPoint } })
      expect(raster).toMatchObject({ affine, epsg: 32_633, groundControlPoints: 0 })
    }
  })

  test('may be rotated or south-up', async () => {
    for (const turned of [
      [400_000, 1.9, 0.6, 5_600_000, 0.6, -1.9],
      [400_000, 2, 0, 5_600_000, 0, 2],
    ] as const) {
      expect((await opened({ georeference: { affine: turned, epsg: 32_633, pixelIsPoint: true } })).affine).toEqual(
        turned,
      )
    }
  })

  test('of longitude and latitude, with a citation', async () => {
    const georeference = {
      affine: [13, 0.1, 0, 50, 0, -0.1] as const,
      epsg: 4_326,
      geographic: true,
      citation: 'WGS 84',
    }
    expect(await opened({ georeference })).toMatchObject({ epsg: 4_326, crsName: 'WGS 84' })
  })

  test('that is user-defined has a name and no code', async () => {
    const georeference = { affine, epsg: 32_767, citation: 'Equirectangular MARS' }
    expect(await opened({ georeference })).toMatchObject({ epsg: null, crsName: 'Equirectangular MARS' })
  })

  test('by ground control points is none', async () => {
    const groundControlPoints = [
      [0, 0, 13, 50],
      [99, 0, 14, 50],
      [0, 69, 13, 49],
    ] as const
    expect(await opened({ georeference: { groundControlPoints } })).toMatchObject({
      affine: null,
      groundControlPoints: 3,
    })
  })

  test('whose transform has no inverse is none', async () => {
    expect((await opened({ georeference: { affine: [0, 1, 1, 0, 1, 1], epsg: 32_633 } })).affine).toBeNull()
  })

  test('may be missing', async () => {
    expect(await opened({})).toMatchObject({ affine: null, epsg: null, crsName: null })
  })
})

describe('what is no GeoTIFF', () => {
  test.each([
    ['an empty file', Buffer.alloc(0), /only 0 bytes/],
    ['a PNG named .tif', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), /PNG/],
    ['a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0]), /JPEG/],
    ['a web page', Buffer.from('<!doctype html><title>404'), /HTML/],
    ['an archive', Buffer.from('PK\x03\x04aaaaaaaaaaaa'), /ZIP/],
    ['something else', Buffer.from('II+hello, world!'), /49 49 2b 68/],
  ])('%s is refused', (_, bytes, message) => {
    expect(() => openGeoTiff(bufferSource(bytes))).toThrow(withCode('NOT_A_GEOTIFF', message))
  })

  test('a file cut anywhere in its headers is truncated', async () => {
    const bytes = await bytesOf({ overviews: 1 })
    for (const length of [8, 9, 50, 200, 300]) {
      expect(() => openGeoTiff(bufferSource(bytes.subarray(0, length)))).toThrow(withCode('GEOTIFF_TRUNCATED'))
    }
  })

  test('a file cut in its pixels is truncated, with both figures', async () => {
    const bytes = await bytesOf()
    const cut = bufferSource(bytes.subarray(0, bytes.length - 1))
    expect(() => openGeoTiff(cut)).toThrow(
      withCode('GEOTIFF_TRUNCATED', new RegExp(`${bytes.length - 1} bytes.* byte ${bytes.length}`)),
    )
  })
})

describe('headers that are damaged or hostile', () => {
  test('directories in a loop', async () => {
    const bytes = await bytesOf()
    const view = new DataView(bytes.buffer)
    const first = view.getUint32(4, true)
    view.setUint32(first + 2 + 12 * view.getUint16(first, true), first, true)
    expect(() => openGeoTiff(bufferSource(bytes))).toThrow(withCode('GEOTIFF_MALFORMED', /loop at byte 8/))
  })

  test('no directory', () => {
    const bytes = Uint8Array.of(0x49, 0x49, 42, 0, 0, 0, 0, 0)
    expect(() => openGeoTiff(bufferSource(bytes))).toThrow(withCode('GEOTIFF_MALFORMED', /no image/))
  })

  test('a BigTIFF that declares 2^60 entries', () => {
    const bytes = Buffer.alloc(64)
    bytes.set([0x49, 0x49, 43, 0, 8, 0, 0, 0, 16])
    bytes.writeBigUInt64LE(1n << 60n, 16)
    expect(() => openGeoTiff(bufferSource(bytes))).toThrow(withCode('GEOTIFF_MALFORMED', /entries/))
  })

  test.each([
    [256, { value: 0 }, 'GEOTIFF_MALFORMED', /width is 0/],
    [256, { value: 0xffffffff }, 'GEOTIFF_MALFORMED', /width/],
    [257, { value: 1 << 30 }, 'GEOTIFF_MALFORMED', /blocks/],
    [277, { value: 60_000 }, 'GEOTIFF_MALFORMED', /60000 samples/],
    [322, { value: 0 }, 'GEOTIFF_MALFORMED', /tile width/],
    [322, { value: 1 << 24 }, 'BLOCK_TOO_LARGE', /3221225472 bytes/],
    [324, { count: 1 }, 'GEOTIFF_MALFORMED', /4 blocks, but only 1/],
    [325, { count: 0xffffffff, value: 8 }, 'GEOTIFF_TRUNCATED', /./],
    [324, { type: 99 }, 'GEOTIFF_MALFORMED', /field type 99/],
    [259, { value: 6 }, 'UNSUPPORTED_COMPRESSION', /old-style JPEG/],
    [259, { value: 34_712 }, 'UNSUPPORTED_COMPRESSION', /JPEG 2000/],
    [259, { value: 12_345 }, 'UNSUPPORTED_COMPRESSION', /12345/],
    [262, { value: 5 }, 'UNSUPPORTED_LAYOUT', /CMYK/],
    [262, { value: 6 }, 'UNSUPPORTED_LAYOUT', /YCbCr/],
    [262, { value: 3 }, 'UNSUPPORTED_LAYOUT', /palette/],
  ] as const)('tag %i changed to %j is %s', async (tag, change, code, message) => {
    expect(await altered(tag, change)).toThrow(withCode(code, message))
  })

  test.each([
    ['a width in two values', { tag: 256, type: 4, values: [100, 100] }, /tag 256 has 2 values/],
    ['a floating point count of samples', { tag: 277, type: 12, values: [2.5] }, /tag 277 .* no whole numbers/],
    ['bits for some of the samples', { tag: 258, type: 3, values: [8, 8] }, /tag 258 has 2 values for 3/],
    ['an unknown arrangement of planes', { tag: 284, type: 3, values: [7] }, /planar configuration is 7/],
    ['blocks without sizes', { tag: 325, type: 4, values: [0, 0, 0, 0] }, /positions and no sizes/],
  ])('%s', async (_, field, message) => {
    const bytes = await bytesOf()
    expect(openGeoTiff(bufferSource(bytes)).width).toBe(100)
    await expect(opened({ fields: [field] })).rejects.toThrow(withCode('GEOTIFF_MALFORMED', message))
  })

  test('a block before the start of the file', async () => {
    const change = { type: 9, value: 0xfffffff8 }
    expect(await altered(324, change, { tileSize: 128 })).toThrow(withCode('GEOTIFF_MALFORMED', /from byte -8/))
  })

  test('of a tag that is there twice the first counts', async () => {
    const bytes = await bytesOf()
    const view = new DataView(bytes.buffer)
    view.setUint16(entryOf(bytes, 317), 256, true)
    expect(openGeoTiff(bufferSource(bytes)).width).toBe(100)
  })

  test('large directories that overlap', () => {
    const entries = 4096
    const step = 14
    const bytes = Buffer.alloc(8 + step * 1_100 + 2 + 12 * entries + 4 + 16, 0x40)
    bytes.set([0x49, 0x49, 42, 0, 8, 0, 0, 0])
    for (let at = 8, i = 0; i < 1_100; i++, at += step) {
      bytes.writeUInt16LE(entries, at)
      bytes.writeUInt32LE(at + step, at + 2 + 12 * entries)
    }
    const before = process.memoryUsage().rss
    expect(() => openGeoTiff(bufferSource(bytes))).toThrow(withCode('GEOTIFF_MALFORMED', /more than 1024 images/))
    expect(process.memoryUsage().rss - before).toBeLessThan(300e6)
  })

  test('metadata and citations that long patterns take ages for', async () => {
    const keys = Array.from({ length: 1_000 }, () => [1026, 34_737, 60_000, 0]).flat()
    const raster = await opened({
      fields: [
        { tag: 42_112, type: 2, values: Buffer.from('<Item '.repeat(170_000)) },
        { tag: 34_737, type: 2, values: Buffer.from(`${' '.repeat(59_999)}x`) },
        { tag: 34_735, type: 3, values: [1, 1, 0, 1_000, ...keys] },
      ],
    })
    expect(raster).toMatchObject({ crsName: 'x', bands: { length: 3 } })
  })

  test('overviews larger than the image are left out', async () => {
    const bytes = await bytesOf({ overviews: 1 })
    const view = new DataView(bytes.buffer)
    view.setUint32(entryOf(bytes, 256) + 8, 40, true)
    expect(openGeoTiff(bufferSource(bytes)).overviews).toEqual([])
  })

  test('samples that are complex, of 64 bits or of differing types', async () => {
    const change = async (type: GeoTiffOptions['type'], tag: number, value: number): Promise<() => RasterInfo> => {
      const bytes = await bytesOf(
        { type },
        imageOf({ width: 16, height: 16, bands: 1 }, () => 0),
      )
      new DataView(bytes.buffer).setUint16(entryOf(bytes, tag) + 8, value, true)
      return () => openGeoTiff(bufferSource(bytes))
    }
    expect(await change('uint32', 339, 5)).toThrow(withCode('UNSUPPORTED_DTYPE', /32 bits, complex integer/))
    expect(await change('float64', 339, 6)).toThrow(withCode('UNSUPPORTED_DTYPE', /complex/))
    expect(await change('float64', 339, 1)).toThrow(withCode('UNSUPPORTED_DTYPE', /64 bits/))
    const mixed = await bytesOf()
    const view = new DataView(mixed.buffer)
    view.setUint16(view.getUint32(entryOf(mixed, 258) + 8, true) + 2, 16, true)
    expect(() => openGeoTiff(bufferSource(mixed))).toThrow(withCode('UNSUPPORTED_DTYPE', /8, 16, 8/))
  })

  test('the limit of a block can be set', async () => {
    const source = bufferSource(await bytesOf())
    expect(() => openGeoTiff(source, { maxBlockBytes: 12_287 })).toThrow(withCode('BLOCK_TOO_LARGE', /12288.*12287/))
    expect(openGeoTiff(source, { maxBlockBytes: 12_288 }).width).toBe(100)
  })
})
