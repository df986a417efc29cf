import { describe, expect, test } from 'vitest'
import { imageOf } from '@terrane/testing/geotiff'
import type { GeoTiffOptions } from '@terrane/testing/geotiff'
import { UTM33, fixture } from '../../../test/fixtures.ts'
import type { InspectRequest, InspectedRaster } from '../inspect.ts'
import { inspectGeoTiff } from '../inspect.ts'
import type { Scale } from '../scale.ts'
import { settleScale } from '../settle-scale.ts'
import type { ScaleRequest } from '../settle-scale.ts'
import type { ByteSource } from '../source.ts'
import { createTileReader } from '../tile-reader.ts'

const RGB = ['red', 'green', 'blue']
const NO_SCALE: ScaleRequest = { explicit: null, taken: null, unit: 'scaled' }
const L2A_OLD = 'S2A_MSIL2A_20200601T100031_N0214_R122_T33UUP_20200601T120000.tif'
const L2A_NEW = 'S2B_MSIL2A_20230601T100031_N0509_R122_T33UUP_20230601T120000.tif'

interface Case {
  readonly options?: Partial<GeoTiffOptions>
  readonly bands?: number
  readonly value?: (x: number, y: number, band: number) => number
  readonly request?: Partial<InspectRequest>
  readonly scale?: Partial<ScaleRequest>
}

async function inspect({ options, bands = 3, value, request }: Case): Promise<[ByteSource, InspectedRaster]> {
  const image = imageOf({ width: 32, height: 32, bands }, value ?? ((x, y, band) => 1000 + x * 10 + y + band))
  const { source } = await fixture(image, { type: 'uint16', color: 'gray', georeference: UTM33, ...options })
  return [source, inspectGeoTiff(source, { tileSize: 16, channels: RGB, ...request })]
}

async function settled(given: Case): Promise<{ inspected: InspectedRaster; scale: Scale }> {
  const [source, inspected] = await inspect(given)
  return { inspected, scale: await settleScale(source, inspected, { ...NO_SCALE, ...given.scale }) }
}

async function firstTile(given: Case): Promise<number[]> {
  const [source, inspected] = await inspect(given)
  const { raster, plan, bands } = inspected
  const scale = await settleScale(source, inspected, { ...NO_SCALE, ...given.scale })
  const reader = createTileReader({
    source,
    raster,
    plan,
    bands,
    scale,
    mean: bands.map(() => 0),
    std: bands.map(() => 1),
  })
  const out = new Float32Array(bands.length * 256)
  await reader.read(0, out)
  return bands.map((_, channel) => out[channel * 256] as number)
}

const described = (names: readonly string[]): Partial<GeoTiffOptions> => ({
  bandItems: names.map((value, band) => ({ band, role: 'description', value })),
})
const S2_NAMES = ['B01', 'B02', 'B03', 'B04', 'B05', 'B06', 'B07', 'B08', 'B8A', 'B09', 'B11', 'B12']

describe('bands are found by name', () => {
  test.each<[string, Case, number[]]>([
    ['twelve of Sentinel-2 without a profile', { bands: 12, options: described(S2_NAMES) }, [3, 2, 1]],
    ['words', { bands: 4, options: described(['Blue', 'Green', 'Red', 'NIR']) }, [2, 1, 0]],
    [
      'what GDAL writes of Sentinel-2',
      { bands: 4, options: described(['B8A, x', 'B4, central wavelength 665 nm', 'B3, y', 'B2, z']) },
      [1, 2, 3],
    ],
    ['the order of the product', { bands: 12, request: { fileName: L2A_NEW } }, [3, 2, 1]],
    ['four bands of PlanetScope', { bands: 4, request: { profile: 'planetscope-sr' } }, [2, 1, 0]],
    ['eight bands of PlanetScope', { bands: 8, request: { profile: 'planetscope-sr' } }, [5, 3, 1]],
    ['Landsat', { bands: 7, request: { profile: 'landsat-8-9-c2-l2' } }, [3, 2, 1]],
  ])('%s', async (_, given, wanted) => {
    const [, { bands, channels, notices }] = await inspect(given)
    expect({ bands, channels, notices }).toEqual({ bands: wanted, channels: RGB, notices: [] })
  })

  test('also by names of the sensor or the file', async () => {
    const names = { bands: 12, options: described(S2_NAMES) }
    const [, swir] = await inspect({
      ...names,
      request: { channels: ['B12', 'B8A', 'B04'], profile: 'sentinel-2-l2a' },
    })
    expect(swir).toMatchObject({ bands: [11, 8, 3], channels: ['swir22', 'nir08', 'red'] })
    const [, nir] = await inspect({
      bands: 7,
      request: { profile: 'landsat-8-9-c2-l2', channels: ['nir', 'red', 'green'] },
    })
    expect(nir.bands).toEqual([4, 3, 2])
    const short = { bands: 12, request: { channels: ['B12', 'B8', 'B2'], profile: 'sentinel-2-l2a' } }
    expect((await inspect(short))[1].bands).toEqual([11, 7, 1])
  })

  test('and taken by order only with a word about it', async () => {
    const [, guessed] = await inspect({ bands: 12 })
    expect(guessed.bands).toEqual([0, 1, 2])
    expect(guessed.notices).toMatchObject([{ code: 'BANDS_GUESSED', message: expect.stringContaining('12 bands') }])
    const [, otherwise] = await inspect({ bands: 3, options: described(['Blue', 'Green', 'NIR']) })
    expect(otherwise.notices).toMatchObject([{ code: 'BANDS_GUESSED', message: expect.stringContaining('3 bands') }])
    const [, chosen] = await inspect({ bands: 12, request: { bands: [3, 2, 1] } })
    expect(chosen.notices).toEqual([])
    const [, as] = await inspect({ bands: 12, request: { otherwise: { profile: null, bands: [5, 6, 7] } } })
    expect(as).toMatchObject({ bands: [5, 6, 7], notices: [] })
  })

  test('the fourth band of NAIP is no alpha', async () => {
    const options = { type: 'uint8', color: 'rgb', extraSamples: [2] } as const
    const given = { bands: 4, options, value: (_x: number, _y: number, band: number) => (band === 3 ? 0 : 9) }
    const [, naip] = await inspect({ ...given, request: { fileName: 'm_3807708_ne_18_060_20180101.tif' } })
    expect(naip).toMatchObject({ profile: { profile: { id: 'naip' }, by: 'file' }, raster: { alphaBand: null } })
    expect((await inspect(given))[1].raster.alphaBand).toBe(3)
  })
})

describe('the profile', () => {
  test.each([
    [L2A_OLD, 'sentinel-2-l2a'],
    [L2A_NEW, 'sentinel-2-l2a-offset'],
    ['S2A_MSIL1C_20220201T100031_N0400_R122_T33UUP_20220201T120000_B04.tif', 'sentinel-2-l1c-offset'],
    ['HLS.S30.T33UUP.2023152T100031.v2.0.B04.tif', 'hls-s30'],
    ['HLS.L30.T33UUP.2023152T100031.v2.0.B04.tif', 'hls-l30'],
    ['LC09_L2SP_193026_20230601_20230603_02_T1_SR_B4.TIF', 'landsat-8-9-c2-l2'],
    ['20230601_100000_00_2212_3B_AnalyticMS_SR_clip.tif', 'planetscope-sr'],
    ['LT05_L2SP_193026_20100601_20200823_02_T1_SR_B3.TIF', 'landsat-4-7-c2-l2'],
    ['LE07_L2SP_193026_20100601_20200823_02_T1_SR_B3.TIF', 'landsat-4-7-c2-l2'],
  ])('is found by the name of the product: %s', async (fileName, id) => {
    const [, { profile }] = await inspect({ request: { fileName } })
    expect(profile).toMatchObject({ by: 'file', profile: { id } })
  })

  test('is found by tags, and not at all where the baseline of Sentinel-2 is not known', async () => {
    const tagged = (text: string): Case => ({
      options: { fields: [{ tag: 42_112, type: 2, values: Buffer.from(`<GDALMetadata>${text}</GDALMetadata>\0`) }] },
    })
    const product = '<Item name="PRODUCT_TYPE">S2MSI2A</Item>'
    const [, found] = await inspect(tagged(`${product}<Item name="PROCESSING_BASELINE">05.10</Item>`))
    expect(found.profile?.profile.id).toBe('sentinel-2-l2a-offset')
    expect((await inspect(tagged(product)))[1].profile).toBeNull()
    expect((await inspect({ request: { fileName: 'S2A_MSIL2A_scene.tif' } }))[1].profile).toBeNull()
  })

  test('is off on request, and for samples that cannot be its', async () => {
    expect((await inspect({ request: { fileName: L2A_NEW, profile: 'none' } }))[1].profile).toBeNull()
    expect((await inspect({ options: { type: 'uint8' }, request: { fileName: L2A_NEW } }))[1].profile).toBeNull()
  })

  test('that is asked for must exist and fit', async () => {
    await expect(inspect({ request: { profile: 'spot' } })).rejects.toMatchObject({
      code: 'UNKNOWN_PROFILE',
      errors: [{ path: '/profile', message: expect.stringContaining('landsat-8-9-c2-l2') }],
    })
    await expect(inspect({ options: { type: 'float32' }, request: { profile: 'naip' } })).rejects.toMatchObject({
      code: 'PROFILE_MISMATCH',
    })
  })
})

describe('the band of a product', () => {
  const LC08 = 'LC08_L2SP_193026_20230601_20230603_02_T1_'
  const HLS = (kind: string) => `HLS.${kind}.T33UUP.2023152T100031.v2.0.`
  const one = (fileName: string, more: Partial<InspectRequest> = {}): Case => ({
    bands: 1,
    request: { fileName, ...more },
  })

  test.each([
    [`${LC08}SR_B4.TIF`, 'landsat-8-9-c2-l2', 'red'],
    [`${LC08}SR_B4_clip.tif`, 'landsat-8-9-c2-l2', 'red'],
    [`${LC08}ST_B10.TIF`, 'landsat-c2-st', 'lwir11'],
    ['LE07_L2SP_193026_20100601_20200823_02_T1_ST_B6.TIF', 'landsat-c2-st', 'lwir'],
    ['LT05_L2SP_193026_20100601_20200823_02_T1_SR_B4.TIF', 'landsat-4-7-c2-l2', 'nir08'],
    [`${HLS('L30')}B10.tif`, 'hls-l30-thermal', 'lwir11'],
    [`${HLS('L30')}B05.tif`, 'hls-l30', 'nir08'],
    [`${HLS('S30')}B10.tif`, 'hls-s30', 'cirrus'],
    [L2A_OLD.replace('.tif', '_B8A.tif'), 'sentinel-2-l2a', 'nir08'],
  ])('decides what its numbers are: %s', async (fileName, id, channel) => {
    const [, { profile, channels, notices }] = await inspect(one(fileName))
    expect({ id: profile?.profile.id, channels, notices }).toEqual({
      id,
      channels: [channel, channel, channel],
      notices: [],
    })
  })

  test.each([
    `${LC08}QA_PIXEL.TIF`,
    `${LC08}QA_RADSAT.TIF`,
    `${LC08}ST_EMIS.TIF`,
    'LE07_L1TP_193026_20100601_20200823_02_T1_QA_PIXEL.TIF',
    'LC08_L1TP_193026_20230601_20230603_02_T1_SAA.TIF',
    `${HLS('S30')}SAA.tif`,
    `${HLS('L30')}VZA.tif`,
    `${HLS('L30')}Fmask.tif`,
    L2A_OLD.replace('.tif', '_SCL_20m.tif'),
    L2A_OLD.replace('.tif', '_AOT_10m.tif'),
    '20230601_100000_00_2212_3B_udm2_clip.tif',
  ])('is refused where it holds flags, angles or auxiliary data: %s', async (fileName) => {
    for (const more of [{}, { asStored: true }, { otherwise: { profile: 'landsat-8-9-c2-l2', bands: null } }]) {
      await expect(inspect(one(fileName, more))).rejects.toMatchObject({
        code: expect.stringMatching(/^(NOT_IMAGERY|PROFILE_MISMATCH)$/) as string,
      })
    }
    expect((await inspect(one(fileName, { profile: 'none' })))[1].profile).toBeNull()
  })

  test('is temperature in kelvin, and no reflectance whatever the request says', async () => {
    const [first] = await firstTile({ bands: 1, value: () => 44_000, request: { fileName: `${LC08}ST_B10.TIF` } })
    expect(first).toBeCloseTo((44_000 * 0.00341802 + 149 - 230) / 100, 5)
    const asReflectance = one(`${LC08}ST_B10.TIF`, { profile: 'landsat-8-9-c2-l2' })
    await expect(inspect(asReflectance)).rejects.toMatchObject({
      code: 'PROFILE_MISMATCH',
      message: expect.stringContaining('ST_B10, which "landsat-c2-st" reads') as string,
    })
    const unit = { ...one(`${LC08}ST_B10.TIF`), scale: { unit: 'reflectance' } } as const
    await expect(settled(unit)).rejects.toMatchObject({ code: 'UNIT_UNKNOWN' })
  })

  test('is refused among others of a file, by its description', async () => {
    const names = ['SR_B4', 'SR_B3', 'SR_B2', 'ST_B10', 'QA_PIXEL']
    const file = (bands: number[]): Case => ({
      bands: 5,
      options: described(names),
      request: { fileName: `${LC08}stack.tif`, bands },
    })
    expect((await inspect(file([0, 1, 2])))[1].profile?.profile.id).toBe('landsat-8-9-c2-l2')
    await expect(inspect(file([4, 1, 2]))).rejects.toMatchObject({ code: 'NOT_IMAGERY' })
    await expect(inspect(file([3, 1, 2]))).rejects.toMatchObject({ code: 'PROFILE_MISMATCH' })
  })

  test('that a file does not name leaves its values as they are stored, with a word about it', async () => {
    const [, unknown] = await inspect(one(`${LC08}clip.tif`))
    expect(unknown).toMatchObject({ profile: null, notices: [{ code: 'BAND_UNKNOWN' }] })
    const [, said] = await inspect(one(`${LC08}clip.tif`, { profile: 'landsat-8-9-c2-l2' }))
    expect(said).toMatchObject({ profile: { by: 'request' }, notices: [] })
  })
})

describe('the stretch', () => {
  test('of a raster that nothing is known of is its percentiles with headroom for other light', async () => {
    const { scale } = await settled({ options: { type: 'float32' }, value: (x, y) => (x + y) % 2, bands: 3 })
    expect(scale.origin).toBe('percentile')
    for (const min of scale.min) expect(min).toBeCloseTo(-0.075, 6)
    for (const max of scale.max) expect(max).toBeCloseTo(1.3, 6)
  })

  test('of a profile is that of the sensor, whatever the pixels are', async () => {
    const { scale } = await settled({ bands: 12, request: { fileName: L2A_OLD } })
    expect(scale).toEqual({ origin: 'profile', min: [0, 0, 0], max: [0.35, 0.35, 0.35] })
    const near = await settled({ bands: 12, request: { fileName: L2A_OLD, channels: ['nir', 'swir16', 'red'] } })
    expect(near.scale.max).toEqual([0.6, 0.6, 0.35])
  })

  test('gives the same numbers for both baselines of Sentinel-2', async () => {
    const value = (offset: number) => (x: number, y: number) => 2000 + offset + x + y
    const old = await firstTile({ value: value(0), request: { fileName: L2A_OLD, bands: [0, 1, 2] } })
    const now = await firstTile({ value: value(1000), request: { fileName: L2A_NEW, bands: [0, 1, 2] } })
    expect(old[0]).toBeCloseTo(0.2 / 0.35, 6)
    now.forEach((number, i) => expect(number).toBeCloseTo(old[i] as number, 6))
  })

  test.each([
    ['landsat-8-9-c2-l2', 10_000, (10_000 * 2.75e-5 - 0.2) / 0.35],
    ['hls-s30', 1_750, 0.5],
  ])('%s: %d is %d', async (profile, stored, wanted) => {
    const [first] = await firstTile({ value: () => stored, request: { profile, bands: [0] } })
    expect(first).toBeCloseTo(wanted, 6)
  })

  test('an offset that was subtracted already shows below zero, and the error names both readings', async () => {
    const dark = { value: () => 300, request: { fileName: L2A_NEW, bands: [0] } }
    await expect(settled(dark)).rejects.toMatchObject({
      code: 'PROFILE_MISMATCH',
      message: expect.stringMatching(
        /sentinel-2-l2a-offset: by it 100 % .* it is "sentinel-2-l2a"$|"sentinel-2-l2a"\.$/,
      ),
    })
    const asked = await settled({ ...dark, request: { profile: 'sentinel-2-l2a', bands: [0] } })
    expect(asked.scale.origin).toBe('profile')
    const few = (x: number, y: number) => (x === 0 && y < 20 ? 300 : 2000)
    expect((await settled({ ...dark, value: few })).scale.origin).toBe('profile')
  })

  test("what the file stores of scale and offset goes before the profile's", async () => {
    const bandItems = [0, 1, 2].flatMap((band) => [
      { band, role: 'scale', value: '0.0001' },
      { band, role: 'offset', value: '-0.05' },
    ])
    const [first] = await firstTile({
      value: () => 2000,
      options: { bandItems },
      request: { profile: 'sentinel-2-l2a-offset', bands: [0] },
    })
    expect(first).toBeCloseTo(0.15 / 0.35, 6)
  })

  test('of Sentinel-1 is in decibels, its nodata 0', async () => {
    const options = { type: 'float32' } as const
    const request = { profile: 'sentinel-1-rtc', channels: ['vv', 'vh'] }
    const value = (_x: number, _y: number, band: number) => (band === 0 ? 0.1 : 0.01)
    const numbers = await firstTile({ options, value, request, bands: 2 })
    expect(numbers[0]).toBeCloseTo(20 / 30, 5)
    expect(numbers[1]).toBeCloseTo(10 / 30, 5)
    expect((await inspect({ options, request, bands: 2 }))[1].raster.nodata).toBe(0)
  })

  test('per channel, of the request or of a table', async () => {
    const explicit = [
      [0, 10],
      [0, 20],
      [0, 40],
    ] as const
    expect((await settled({ scale: { explicit } })).scale).toEqual({
      origin: 'explicit',
      min: [0, 0, 0],
      max: [10, 20, 40],
    })
    expect((await settled({ scale: { taken: explicit } })).scale).toMatchObject({ origin: 'table', max: [10, 20, 40] })
    await expect(settled({ scale: { explicit: explicit.slice(1) } })).rejects.toMatchObject({ code: 'SCALE_COUNT' })
  })

  test('a model that takes reflectance or stored values gets them unclamped', async () => {
    const given: Case = { value: () => 12_000, request: { profile: 'sentinel-2-l2a-offset', bands: [0] } }
    expect((await firstTile({ ...given, scale: { unit: 'reflectance' } }))[0]).toBeCloseTo(1.1, 5)
    expect((await firstTile({ ...given, scale: { unit: 'stored' } }))[0]).toBeCloseTo(12_000, 1)
    await expect(settled({ scale: { unit: 'reflectance' } })).rejects.toMatchObject({ code: 'UNIT_UNKNOWN' })
  })
})
