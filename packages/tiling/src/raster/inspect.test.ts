import { describe, expect, test } from 'vitest'
import { imageOf } from '@terrane/testing/geotiff'
import type { FixtureGeoreference, GeoTiffOptions } from '@terrane/testing/geotiff'
import { UTM33, fixture } from '../../test/fixtures.ts'
import type { InspectRequest, InspectedRaster } from './inspect.ts'
import { inspectGeoTiff } from './inspect.ts'
import type { ByteSource } from './source.ts'

const REQUEST: InspectRequest = { tileSize: 16, channels: ['red', 'green', 'blue'] }

async function inspected(
  options: Partial<GeoTiffOptions>,
  request: Partial<InspectRequest> = {},
  bands = 3,
): Promise<InspectedRaster> {
  const image = imageOf({ width: 100, height: 70, bands }, () => 1)
  const { source } = await fixture(image, { type: 'uint8', tileSize: 32, georeference: UTM33, ...options })
  return inspectGeoTiff(source, { ...REQUEST, ...request })
}

const guard = (limit: number, setting: string): { limit: number; setting: string } => ({ limit, setting })

test('a good raster has its plan, its bands and its CRS', async () => {
  const { raster, plan, bands, crs } = await inspected({})
  expect(raster.affine).toEqual(UTM33.affine)
  expect(plan).toMatchObject({ columns: 7, rows: 5, count: 35 })
  expect(bands).toEqual([0, 1, 2])
  expect(crs).toMatchObject({ epsg: 32_633, name: 'WGS 84 / UTM zone 33N' })
})

test('what it returns can be posted to a thread', async () => {
  const result = await inspected({ overviews: 1, mask: () => true })
  expect(structuredClone(result)).toEqual(result)
})

describe('the unit of the CRS', () => {
  const unit = (key: number, code: number, crs: readonly number[]): Promise<InspectedRaster> =>
    inspected({
      fields: [
        {
          tag: 34_735,
          type: 3,
          values: [1, 1, 0, 3, 1024, 0, 1, crs[0] ?? 0, crs[1] ?? 0, 0, 1, crs[2] ?? 0, key, 0, 1, code],
        },
      ],
      georeference: { affine: [13, 0.001, 0, 50, 0, -0.001] },
    })

  test('may be stated', async () => {
    expect((await unit(3076, 9001, [1, 3072, 3857])).crs.epsg).toBe(3_857)
    expect((await unit(2054, 9102, [2, 2048, 4326])).crs.epsg).toBe(4_326)
  })

  test('may be another length than that of its code, and nothing else', async () => {
    expect((await unit(3076, 9003, [1, 3072, 3857])).crs).toMatchObject({
      epsg: null,
      name: 'WGS 84 / Pseudo-Mercator in EPSG:9003',
    })
    await expect(unit(3076, 9042, [1, 3072, 3857])).rejects.toMatchObject({
      code: 'UNSUPPORTED_CRS',
      message: 'The coordinate reference system EPSG:3857 in the unit EPSG:9042 instead of EPSG:9001 is not supported.',
    })
    await expect(unit(2054, 9105, [2, 2048, 4326])).rejects.toMatchObject({ code: 'UNSUPPORTED_CRS' })
  })
})

describe('guards', () => {
  test('name the figure, the limit and the setting', async () => {
    await expect(inspected({}, { maxTiles: guard(34, 'GEOEMBEDDINGS_MAX_TILES') })).rejects.toMatchObject({
      code: 'size_guard_exceeded',
      kind: 'too_large',
      message: 'The raster makes 35 tiles; GEOEMBEDDINGS_MAX_TILES allows 34.',
    })
    await expect(inspected({}, { maxBytes: guard(1_000, 'GEOEMBEDDINGS_MAX_GEOTIFF_BYTES') })).rejects.toMatchObject({
      code: 'size_guard_exceeded',
      message: expect.stringMatching(/^The GeoTIFF has \d+ bytes; GEOEMBEDDINGS_MAX_GEOTIFF_BYTES allows 1000\.$/),
    })
  })

  test('hold at the figure, and 0 disables them', async () => {
    expect((await inspected({}, { maxTiles: guard(35, 'T'), maxBytes: guard(0, 'B') })).plan.count).toBe(35)
    expect((await inspected({}, { maxTiles: guard(0, 'T') })).plan.count).toBe(35)
  })

  test('count the tiles that an aligned grid adds', async () => {
    const georeference = { affine: [400_010, 2, 0, 5_600_010, 0, -2], epsg: 32_633 } as const
    await expect(inspected({ georeference }, { alignGrid: true, maxTiles: guard(35, 'T') })).rejects.toMatchObject({
      message: 'The raster makes 42 tiles; T allows 35.',
    })
  })
})

describe('checks come in the order of their cost', () => {
  const tooBig = { maxBytes: guard(1, 'B') }
  const tooMany = { maxTiles: guard(1, 'T') }

  test('bytes before headers', () => {
    const reads: number[] = []
    const source: ByteSource = {
      size: 100,
      read: (offset) => {
        reads.push(offset)
        return new Uint8Array(0)
      },
    }
    expect(() => inspectGeoTiff(source, { ...REQUEST, ...tooBig })).toThrow(
      expect.objectContaining({ code: 'size_guard_exceeded' }),
    )
    expect(reads).toEqual([])
  })

  test('tiles before georeference, CRS and bands', async () => {
    await expect(inspected({ georeference: {} }, { ...tooMany, bands: [9] })).rejects.toMatchObject({
      code: 'size_guard_exceeded',
    })
  })

  test('georeference before CRS, CRS before bands', async () => {
    await expect(inspected({ georeference: { epsg: 29_101 } }, { bands: [9] })).rejects.toMatchObject({
      code: 'NO_GEOREFERENCE',
    })
    const georeference = { ...UTM33, epsg: 29_101 }
    await expect(inspected({ georeference }, { bands: [9] })).rejects.toMatchObject({ code: 'CRS_NEEDS_GRID' })
  })

  test('no pixel is read', async () => {
    const image = imageOf({ width: 64, height: 64, bands: 3 }, () => 1)
    const { source, raster } = await fixture(image, { type: 'uint8', georeference: UTM33 })
    const first = Math.min(...raster.blockOffsets)
    const headersOnly: ByteSource = {
      size: source.size,
      read(offset, length) {
        if (offset >= first) throw new Error('a pixel was read')
        return source.read(offset, length)
      },
    }
    expect(inspectGeoTiff(headersOnly, REQUEST).plan.count).toBe(16)
  })
})

describe('the georeference', () => {
  const refused: [string, FixtureGeoreference, string, RegExp][] = [
    ['missing altogether', {}, 'NO_GEOREFERENCE', /no transform is stored/],
    ['without a CRS', { affine: UTM33.affine }, 'NO_GEOREFERENCE', /no coordinate reference system/],
    [
      'of control points',
      {
        epsg: 4_326,
        geographic: true,
        groundControlPoints: [
          [0, 0, 1, 1],
          [9, 0, 2, 1],
        ],
      },
      'NO_GEOREFERENCE',
      /2 ground control points/,
    ],
    [
      'of another planet',
      { ...UTM33, epsg: 32_767, citation: 'Equirectangular MARS' },
      'UNSUPPORTED_CRS',
      /"Equirectangular MARS"/,
    ],
    [
      'that needs a datum grid',
      { ...UTM33, epsg: 29_101, citation: 'SAD69 / Brazil Polyconic' },
      'CRS_NEEDS_GRID',
      /EPSG:29101 \(SAD69 \/ Brazil Polyconic\).* up to 7\.4 m off/,
    ],
  ]
  test.each(refused)('%s is refused by name', async (_, georeference, code, message) => {
    await expect(inspected({ georeference })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/gdal/),
    })
  })
})

describe('bands', () => {
  test('absent: the first ones that are not alpha', async () => {
    expect((await inspected({ extraSamples: [2] }, {}, 4)).bands).toEqual([0, 1, 2])
    expect((await inspected({ color: 'gray', extraSamples: [1, 0, 0] }, {}, 4)).bands).toEqual([0, 2, 3])
    expect((await inspected({}, { channels: ['a', 'b', 'c', 'd'] }, 6)).bands).toEqual([0, 1, 2, 3])
  })

  test('absent: red, green and blue where metadata names them', async () => {
    const bandItems = ['Blue', 'Green', 'Red', 'Undefined'].map((value, band) => ({ band, role: 'colorinterp', value }))
    expect((await inspected({ color: 'gray', bandItems }, {}, 4)).bands).toEqual([2, 1, 0])
  })

  test('one band, or one that is named, serves all channels', async () => {
    expect((await inspected({}, {}, 1)).bands).toEqual([0, 0, 0])
    expect((await inspected({ extraSamples: [2] }, {}, 2)).bands).toEqual([0, 0, 0])
    expect((await inspected({}, { bands: [2] })).bands).toEqual([2, 2, 2])
  })

  test('a palette has three', async () => {
    const palette = [[1, 2, 3] as const]
    expect((await inspected({ color: 'palette', palette }, {}, 1)).bands).toEqual([0, 1, 2])
  })

  test.each([[3], [-1], [1.5]])('band %d does not exist', async (band) => {
    await expect(inspected({}, { bands: [0, band, 2] })).rejects.toMatchObject({
      code: 'BAND_OUT_OF_RANGE',
      message: `Band ${band} does not exist: the raster has 3, counted from 0.`,
      errors: [{ path: '/bands/1', message: 'must be from 0 to 2' }],
    })
  })

  test('a number of bands that the model does not take is refused', async () => {
    await expect(inspected({}, { bands: [0, 1] })).rejects.toMatchObject({
      code: 'BAND_COUNT',
      errors: [{ path: '/bands' }],
    })
    await expect(inspected({}, {}, 2)).rejects.toMatchObject({
      code: 'BAND_COUNT',
      message: 'The model takes 3 bands, but 2 are selected.',
    })
  })
})
