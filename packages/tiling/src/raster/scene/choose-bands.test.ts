import { describe, expect, test } from 'vitest'
import { chooseBands, knownMask } from './choose-bands.ts'
import type { BandChoice, ChosenBands } from './choose-bands.ts'
import { readStacItem } from './stac-item.ts'

// The assets are those of real catalogue items, reduced to the relevant members.

const COG = 'image/tiff; application=geotiff; profile=cloud-optimized'
const asset = (name: string, more: object = {}): object => ({
  href: `https://files.example/${name}.tif`,
  type: COG,
  roles: ['data'],
  ...more,
})
const eo = (name: string, common?: string): object => ({
  'eo:bands': [{ name, ...(common && { common_name: common }) }],
})

const REFLECTANCE = { 'raster:bands': [{ nodata: 0, scale: 0.0001, offset: -0.1 }] }
const EARTH_SEARCH = {
  id: 'S2B_33UXP_20250302_0_L2A',
  collection: 'sentinel-2-l2a',
  properties: {
    platform: 'sentinel-2b',
    datetime: '2025-03-02T09:54:00Z',
    's2:processing_baseline': '05.11',
    'earthsearch:boa_offset_applied': true,
  },
  assets: {
    red: asset('B04', { ...eo('red', 'red'), ...REFLECTANCE }),
    green: asset('B03', { ...eo('green', 'green'), ...REFLECTANCE }),
    blue: asset('B02', { ...eo('blue', 'blue'), ...REFLECTANCE }),
    nir08: asset('B8A', { ...eo('nir08', 'nir08'), ...REFLECTANCE }),
    rededge1: asset('B05', { ...eo('rededge1', 'rededge'), ...REFLECTANCE }),
    scl: asset('SCL'),
    visual: asset('TCI', {
      roles: ['visual'],
      'eo:bands': [{ common_name: 'red' }, { common_name: 'green' }, { common_name: 'blue' }],
    }),
    'red-jp2': { href: 's3://b/B04.jp2', type: 'image/jp2', roles: ['data'], ...eo('red', 'red') },
    thumbnail: { href: 'https://files.example/t.jpg', type: 'image/jpeg', roles: ['thumbnail'] },
  },
}
const PLANETARY_S2 = {
  id: 'S2B_MSIL2A_20230629T212529_R043_T06VVN_20230630T080531',
  collection: 'sentinel-2-l2a',
  properties: { platform: 'Sentinel-2B', 's2:processing_baseline': '05.09' },
  assets: {
    AOT: asset('AOT'),
    B02: asset('B02', eo('B02', 'blue')),
    B03: asset('B03', eo('B03', 'green')),
    B04: asset('B04', eo('B04', 'red')),
    SCL: asset('SCL'),
    visual: asset('TCI', {
      'eo:bands': [eo('B04', 'red'), eo('B03', 'green'), eo('B02', 'blue')].map(
        (one) => (one as { 'eo:bands': unknown[] })['eo:bands'][0],
      ),
    }),
  },
}
const SR = { 'raster:bands': [{ nodata: 0, scale: 2.75e-5, offset: -0.2 }] }
const LANDSAT_PC = {
  id: 'LE07_L2SP_021030_20100109_02_T1',
  collection: 'landsat-c2-l2',
  properties: { platform: 'landsat-7', 'landsat:correction': 'L2SP' },
  assets: {
    red: asset('SR_B3', { ...eo('ETM_B3', 'red'), ...SR }),
    green: asset('SR_B2', { ...eo('ETM_B2', 'green'), ...SR }),
    blue: asset('SR_B1', { ...eo('ETM_B1', 'blue'), ...SR }),
    nir08: asset('SR_B4', { ...eo('ETM_B4', 'nir08'), ...SR }),
    lwir: asset('ST_B6', { ...eo('ETM_B6', 'lwir'), 'raster:bands': [{ nodata: 0, scale: 0.00341802, offset: 149 }] }),
    atmos_opacity: asset('SR_ATMOS_OPACITY'),
    qa_pixel: asset('QA_PIXEL', { roles: ['cloud'] }),
  },
}
const USGS = {
  id: 'LC08_L2SP_204031_20170106_20200905_02_T1_SR',
  collection: 'landsat-c2l2-sr',
  properties: { platform: 'LANDSAT_8' },
  assets: {
    'SR_B2.TIF': asset('x_SR_B2', { type: 'image/vnd.stac.geotiff; cloud-optimized=true', ...eo('SR_B2', 'blue') }),
    'SR_B4.TIF': {
      href: 's3://usgs-landsat/x_SR_B4.TIF',
      type: 'image/vnd.stac.geotiff; cloud-optimized=true',
      alternate: { https: { href: 'https://files.example/x_SR_B4.TIF' } },
      ...eo('SR_B4', 'red'),
    },
  },
}
const HLS = (product: 'L30' | 'S30', nir: string): object => ({
  id: `HLS.${product}.T13TDE.2021133T173859.v2.0`,
  collection: `HLS${product}_2.0`,
  properties: {},
  assets: Object.fromEntries(
    ['B02', 'B03', 'B04', nir, 'Fmask', 'SAA'].map((name) => [name, { href: `https://files.example/HLS.${name}.tif` }]),
  ),
})
const RTC = {
  id: 'S1A_IW_GRDH_1SDV_20230101T000000_rtc',
  collection: 'sentinel-1-rtc',
  properties: { platform: 'SENTINEL-1A' },
  assets: {
    vh: asset('vh', { 'raster:bands': [{ nodata: -32768 }] }),
    vv: asset('vv', { 'raster:bands': [{ nodata: -32768 }] }),
  },
}
const NAIP = {
  id: 'co_m_3910501_ne_13_060_20210918',
  collection: 'naip',
  properties: { gsd: 0.6 },
  assets: {
    image: asset('m', {
      'eo:bands': ['red', 'green', 'blue', 'nir'].map((name) => ({ name: name.toUpperCase(), common_name: name })),
    }),
  },
}
const MODIS = {
  id: 'MOD09A1.A2023001.h09v05.061',
  collection: 'modis-09A1-061',
  properties: { platform: 'terra' },
  assets: Object.fromEntries(
    [1, 3, 4].map((n) => [`sur_refl_b0${n}`, asset(`b0${n}`, { 'raster:bands': [{ scale: 0.0001 }] })]),
  ),
}
/** STAC 1.1: bands of the core. */
const COPERNICUS = {
  id: 'S2C_MSIL2A_20250330T100051_N0511_R122_T33UWP_20250330T145914',
  collection: 'sentinel-2-l2a',
  properties: { constellation: 'sentinel-2', 'processing:version': '05.11' },
  assets: {
    B04_10m: asset('B04_10m', {
      bands: [{ name: 'B04', 'eo:common_name': 'red' }],
      'raster:scale': 0.0001,
      'raster:offset': -0.1,
      nodata: 0,
    }),
    B04_20m: asset('B04_20m', {
      bands: [{ name: 'B04', 'eo:common_name': 'red' }],
      'raster:scale': 0.0001,
      'raster:offset': -0.1,
      nodata: 0,
    }),
  },
}

const RGB = ['red', 'green', 'blue']
function choose(item: object, more: Partial<BandChoice> = {}): ChosenBands {
  return chooseBands(readStacItem(item, 0), { assets: null, channels: RGB, mask: null, ...more })
}
const told = ({ profile, bands }: ChosenBands): string =>
  `${profile}: ${bands.map(({ asset: key, band, name, scale, offset, nodata }) => [`${key}/${band ?? ''}`, name, scale, offset, nodata].join(' ')).join(', ')}`

describe('without assets the bands are what the model takes', () => {
  test.each([
    // The files lack the offset that raster:bands still gives.
    [
      'Earth Search',
      EARTH_SEARCH,
      'sentinel-2-l2a: red/0 B04 0.0001 0 0, green/0 B03 0.0001 0 0, blue/0 B02 0.0001 0 0',
    ],
    ['Planetary Computer, Sentinel-2', PLANETARY_S2, 'sentinel-2-l2a-offset: B04/0 B04   , B03/0 B03   , B02/0 B02   '],
    [
      'Planetary Computer, Landsat 7',
      LANDSAT_PC,
      'landsat-4-7-c2-l2: red/0 SR_B3 0.0000275 -0.2 0, green/0 SR_B2 0.0000275 -0.2 0, blue/0 SR_B1 0.0000275 -0.2 0',
    ],
    ['LP DAAC, HLS', HLS('S30', 'B8A'), 'hls-s30: B04/ B04   , B03/ B03   , B02/ B02   '],
    [
      'MODIS',
      MODIS,
      'modis-09: sur_refl_b01/0 sur_refl_b01 0.0001 0 , sur_refl_b04/0 sur_refl_b04 0.0001 0 , sur_refl_b03/0 sur_refl_b03 0.0001 0 ',
    ],
    [
      'NAIP, all bands of its only GeoTIFF',
      NAIP,
      'naip: image/0 red   , image/1 green   , image/2 blue   , image/3 nir   ',
    ],
  ])('%s', (_, item, expected) => {
    expect(told(choose(item))).toBe(expected)
  })
})

describe('assets are chosen', () => {
  test.each([
    [
      'by the name of an asset or of its band',
      COPERNICUS,
      ['B04_20m'],
      'sentinel-2-l2a-offset: B04_20m/0 B04 0.0001 -0.1 0',
    ],
    [
      'by the name of the agency where the item has others',
      EARTH_SEARCH,
      ['B8A', 'B05'],
      'sentinel-2-l2a: nir08/0 B8A 0.0001 0 0, rededge1/0 B05 0.0001 0 0',
    ],
    [
      'by common names; the nearer infrared stands for nir',
      HLS('L30', 'B05'),
      ['red', 'nir'],
      'hls-l30: B04/ B04   , B05/ B05   ',
    ],
    ['by the number of a band', LANDSAT_PC, ['3'], 'landsat-4-7-c2-l2: red/0 SR_B3 0.0000275 -0.2 0'],
    ['by the number of a band of the only file', NAIP, ['4', '1'], 'naip: image/3 nir   , image/0 red   '],
    [
      'by a role, without what the product does not measure',
      PLANETARY_S2,
      ['data'],
      'sentinel-2-l2a-offset: B02/0 B02   , B03/0 B03   , B04/0 B04   ',
    ],
    ['by polarisation', RTC, ['vv', 'vh'], 'sentinel-1-rtc: vv/0 VV   -32768, vh/0 VH   -32768'],
    ['with another address where theirs is none of the web', USGS, ['red'], 'landsat-8-9-c2-l2: SR_B4.TIF/0 SR_B4   '],
    [
      'as a picture, whose numbers are no reflectance',
      PLANETARY_S2,
      ['visual'],
      'null: visual/0 B04   , visual/1 B03   , visual/2 B02   ',
    ],
    ['of another unit, with its profile', LANDSAT_PC, ['lwir'], 'landsat-c2-st: lwir/0 ST_B6 0.00341802 149 0'],
  ])('%s', (_, item, assets, expected) => {
    expect(told(choose(item, { assets }))).toBe(expected)
  })

  test('and not where they are flags, of different units, or not there', () => {
    expect(() => choose(PLANETARY_S2, { assets: ['SCL'] })).toThrow(
      expect.objectContaining({ code: 'NOT_IMAGERY' }) as Error,
    )
    expect(() => choose(LANDSAT_PC, { assets: ['red', 'lwir'] })).toThrow('different units')
    expect(() => choose(NAIP, { assets: ['swir16'] })).toThrow('it has image')
    expect(() => choose(USGS)).toThrow('2 GeoTIFFs (send stac.assets)')
  })
})

test('a Sentinel-2 item that does not tell its baseline has the names of the sensor and no profile, unless it is older than the offset', () => {
  const item = { ...PLANETARY_S2, id: 'S2A_28QCH_20200714_0_L2A', properties: { platform: 'sentinel-2a' } }
  expect(told(choose(item, { assets: ['red'] }))).toBe('null: B04/0 B04   ')
  const old = { ...item, properties: { ...item.properties, created: '2020-09-18T20:31:14.000Z' } }
  expect(told(choose(old, { assets: ['red'] }))).toBe('sentinel-2-l2a: B04/0 B04   ')
})

test('a band that states only a part of its scale has the rest of the profile, beside bands that state nothing', () => {
  const scaled = { 'raster:bands': [{ scale: 0.0001 }] }
  const item = {
    ...PLANETARY_S2,
    assets: { red: asset('B04', { ...eo('B04', 'red'), ...scaled }), nir: asset('B08', eo('B08', 'nir')) },
  }
  expect(told(choose(item, { assets: ['red', 'nir'] }))).toBe(
    'sentinel-2-l2a-offset: red/0 B04 0.0001 -0.1 , nir/0 B08   ',
  )
})

test.each([
  ['an empty baseline', { 's2:processing_baseline': '' }, 'null: B04/0 B04   '],
  ['a version of processing of another maker', { 'processing:version': '2.1' }, 'null: B04/0 B04   '],
  [
    'an offset applied, as text',
    { 's2:processing_baseline': '05.09', 'earthsearch:boa_offset_applied': 'true' },
    'sentinel-2-l2a: B04/0 B04  0 ',
  ],
])('%s of a Sentinel-2 item', (_, properties, expected) => {
  const item = {
    ...PLANETARY_S2,
    id: 'S2A_28QCH_20230714_0_L2A',
    properties: { platform: 'sentinel-2a', ...properties },
  }
  expect(told(choose(item, { assets: ['red'] }))).toBe(expected)
})

describe('what an item says of its bands', () => {
  const TIFF = 'image/tiff; application=geotiff'
  const red = (more: object) => ({ href: 'https://h/a.tif', type: TIFF, ...more })
  const bandsOf = (assets: object, names: string[], properties: object = {}, more: object = {}) => {
    const item = readStacItem({ type: 'Feature', id: 'x', links: [], assets, properties, ...more }, 0)
    return chooseBands(item, { assets: names, channels: [], mask: null })
  }
  const common = (name: string, wanted: string, more: object = {}) =>
    red({ 'eo:bands': [{ name, common_name: wanted }], href: `https://h/${name}.tif`, ...more })

  test('counts where its numbers are texts', () => {
    const stated = { 'raster:bands': [{ scale: '0.0001', offset: '-0.1', nodata: '-9999' }] }
    expect(bandsOf({ red: red(stated) }, ['red']).bands).toMatchObject([{ scale: 0.0001, offset: -0.1, nodata: -9999 }])
    expect(bandsOf({ red: red({ 'raster:bands': [{ nodata: 'NaN' }] }) }, ['red']).bands[0]!.nodata).toBe(Number.NaN)
  })

  test('is refused where it makes all values one, or is said of some bands of a file only', () => {
    expect(() => bandsOf({ red: red({ 'raster:bands': [{ scale: 0, offset: 1 }] }) }, ['red'])).toThrow('a scale of 0')
    const some = red({ 'eo:bands': [{ name: 'a' }, { name: 'b' }], 'raster:bands': [{ scale: 0.1 }] })
    expect(() => bandsOf({ image: some }, ['image'])).toThrow('values of 1 of its 2 bands')
    // Other assets, the band with the values and values that change nothing are read.
    expect(bandsOf({ image: some, red: red({}) }, ['red']).bands).toHaveLength(1)
    expect(bandsOf({ image: some }, ['a']).bands).toMatchObject([{ scale: 0.1 }])
    const none = red({ 'eo:bands': [{ name: 'a' }, { name: 'b' }], 'raster:bands': [{ scale: 1, offset: 0 }] })
    expect(bandsOf({ image: none }, ['image']).bands).toHaveLength(2)
  })

  test('is refused where a name stands for several bands', () => {
    const edges = { a: common('B05', 'rededge'), b: common('B06', 'rededge') }
    expect(() => bandsOf(edges, ['rededge'])).toThrow('several bands of the name rededge (name one): a, b')
    expect(bandsOf(edges, ['B06']).bands).toMatchObject([{ asset: 'b' }])
    const pair = { one: red({ bands: [{}, { name: 'r', 'eo:common_name': 'red' }] }), two: red({ bands: [{ 'eo:common_name': 'red' }, {}] }) } // prettier-ignore
    expect(() => bandsOf(pair, ['red'])).toThrow('r of one, band 1 of two')
  })

  test('chooses the smallest pixels of a band that has several files', () => {
    const copies = {
      B04_60m: common('B04', 'red', { gsd: 60 }),
      B04_10m: common('B04', 'red', { 'proj:transform': [10, 0, 0, 0, -10, 0] }),
      B04_20m: common('B04', 'red', { 'raster:bands': [{ spatial_resolution: 20 }] }),
    }
    expect(bandsOf(copies, ['red', 'B04']).bands).toMatchObject([{ asset: 'B04_10m' }])
  })

  test('is refused where a picture for viewing is asked for beside measurements, where numbers are compared', () => {
    const both = { visual: common('B03', 'green', { roles: ['visual'] }), red: common('B04', 'red') }
    const item = readStacItem({ type: 'Feature', id: 'x', links: [], assets: both, properties: {} }, 0)
    const choice = { assets: ['visual', 'red'], channels: [], mask: null }
    expect(() => chooseBands(item, { ...choice, isCompared: true })).toThrow('visual is a picture for viewing')
    expect(chooseBands(item, choice).bands).toHaveLength(2)
    expect(bandsOf(both, ['visual']).bands).toHaveLength(1)
  })

  test('has no profile where baseline and name of a product disagree about the offset', () => {
    const properties = { platform: 'sentinel-2a', 's2:processing_baseline': '02.14' }
    const uri = (baseline: string) => ({ ...properties, 's2:product_uri': `S2A_MSIL2A_2020_${baseline}_R.SAFE` })
    const more = { collection: 'sentinel-2-l2a' }
    expect(bandsOf({ B04: red({}) }, ['B04'], uri('N0214'), more).profile).toBe('sentinel-2-l2a')
    expect(bandsOf({ B04: red({}) }, ['B04'], uri('N0500'), more).profile).toBe(null)
  })

  test('is that of HLS by its collection alone, however the version is written', () => {
    for (const collection of ['HLSS30_2.0', 'HLSS30.v2.0', 'HLSS30'])
      expect(bandsOf({ B04: red({}) }, ['red'], {}, { collection }).profile).toBe('hls-s30')
  })
})

test('an item of very many bands is refused, and many properties cost no more than few', () => {
  const of = (bands: number, properties: object = {}): object => ({
    id: 'x',
    properties,
    assets: { a: asset('a', { 'raster:bands': Array.from({ length: bands }, () => 0) }) },
  })
  expect(() => readStacItem(of(513), 0)).toThrow('513 bands')
  const properties = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 0]))
  const started = process.cpuUsage().user
  readStacItem(of(512, properties), 0)
  expect(process.cpuUsage().user - started).toBeLessThan(1_000_000)
})

describe('masks', () => {
  const mask = (item: object, asset_: string, values: number[] | null = null, bits: number[] | null = null) =>
    choose(item, { assets: null, channels: ['red'], mask: { asset: asset_, values, bits } }).mask

  test('of products are known by their names', () => {
    expect(mask(EARTH_SEARCH, 'scl')).toMatchObject({ values: [0, 1, 3, 8, 9, 10], bits: [] })
    expect(mask(LANDSAT_PC, 'qa_pixel')).toMatchObject({ values: [], bits: [0, 1, 2, 3, 4] })
    expect(mask(HLS('S30', 'B8A'), 'Fmask')).toMatchObject({ values: [255], bits: [1, 2, 3] })
    expect(mask(EARTH_SEARCH, 'scl', [6])).toMatchObject({ values: [6], bits: [] })
  })

  test.each([
    ['T33UUP_20230629T100031_SCL_20m.tif', true],
    ['LC08_L2SP_021030_20230109_02_T1_QA_PIXEL.TIF', true],
    ['HLS.S30.T13TDE.2021133T173859.v2.0.Fmask.tif', true],
    // Classes of the Fmask program, whose numbers are not the flags of HLS.
    ['LC08_L1TP_021030_20230109_Fmask.tif', false],
    ['ga_ls8c_oa_3-1-0_088080_2020-05-25_final_fmask.tif', true],
    ['clouds.tif', false],
  ])('of the file %s', (name, isKnown) => {
    expect(knownMask(name) !== null).toBe(isKnown)
  })

  test('of other names need their values', () => {
    expect(() => mask(EARTH_SEARCH, 'nir08')).toThrow('maskValues')
    expect(() => mask(EARTH_SEARCH, 'cloud')).toThrow('no asset cloud')
  })
})
