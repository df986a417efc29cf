import { imageOf, writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { describe, expect, test } from 'vitest'
import {
  bufferSource,
  namedColormap,
  openGeoTiff,
  openRenderer,
  readWindow,
  wholeView,
  type RasterRenderer,
  type RenderStyle,
} from '../src/raster/index.ts'
import { answer } from '../src/raster/render/thread/answer.ts'
import type { PointValues, RasterStatistics } from '../src/raster/render/thread/messages.ts'
import { applyColorFormula, parseColorFormula } from '../src/raster/render/values/color-formula.ts'
import { readValues } from '../src/raster/render/values/derive.ts'
import { parseExpression } from '../src/raster/render/values/expression.ts'
import { encodeGeoTiff } from '../src/raster/render/values/geotiff.ts'

const [WIDTH, HEIGHT] = [40, 30]
const AFFINE = [600_000, 10, 0, 5_000_000, 0, -10] as const
const valueAt = (x: number, y: number, band: number): number => 1 + ((x * 7 + y * 13 + band * 31) % 97)
const image = imageOf({ width: WIDTH, height: HEIGHT, bands: 3 }, valueAt)

async function open(options: Partial<GeoTiffOptions> = {}): Promise<RasterRenderer> {
  const georeference = { affine: AFFINE, epsg: 32632 }
  return openRenderer(bufferSource(await writeGeoTiff(image, { type: 'uint16', georeference, ...options })))
}
const whole = (renderer: RasterRenderer) => wholeView(renderer.raster, WIDTH, HEIGHT)
const ESRI_TEXT =
  'ESRI PE String = PROJCS["x",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",9.0],PARAMETER["Scale_Factor",1.0],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]'
const pixel = (i: number) => [i % WIDTH, Math.floor(i / WIDTH)] as const

describe('expressions', () => {
  const at = (text: string, values: Readonly<Record<string, number>>): number =>
    parseExpression(text).evaluate((name) => Float64Array.of(values[name] as number), 1)[0]![0] as number

  // Expected values are those of Python and NumExpr.
  test.each([
    ['(b2-b1)/(b2+b1)', 0.5],
    ['-b1**2', -4],
    ['2**-1*b1', 1],
    ['2**3**2+0*b1', 512],
    ['b1%-3', -1],
    ['(-b1)%3', 1],
    ['where(b1>1, b2, 0)', 6],
    ['where((b1>1)&(b2<3), 1, 0)', 0],
    ['~(b1>5)', 1],
    ['b1 <= 2', 1],
    ['sqrt(b1*8)+abs(-b2)+max(b1,b2)-min(b1,b2)', 14],
    ['1e1+.5*b1', 11],
    ['log10(b1*50)+exp(0)', 3],
  ])('%s is %d', (text, expected) => {
    expect(at(text, { b1: 2, b2: 6 })).toBeCloseTo(expected, 12)
  })

  test.each([
    '',
    ' ; ',
    '1+2',
    'b1+',
    '(b1',
    'b1)',
    'b1 b2',
    'constructor(b1)',
    '__proto__(b1)',
    'where(b1,2)',
    'sqrt(b1,2)',
    'b1;;b2',
    'b1.x',
    'b1[0]',
    '"b1"',
    'b1=2',
    '`b1`',
    `${'('.repeat(2000)}b1`,
    `${'('.repeat(200)}b1${')'.repeat(200)}`,
    `${'-'.repeat(900)}b1`,
    `b1${'+b1'.repeat(250)}`,
  ])('%j is refused', (text) => {
    expect(() => parseExpression(text)).toThrow(expect.objectContaining({ code: 'EXPRESSION_UNREADABLE' }) as Error)
  })

  test('are of bands by number or by name; what is not finite is nowhere', async () => {
    const bandItems = ['red', 'nir', 'B11'].map((value, band) => ({ band, role: 'description', value }) as const)
    const renderer = await open({ bandItems })
    const values = async (expression: string) => readValues(renderer.layer, whole(renderer), { expression }, [])
    const ndvi = await values('(nir-red)/(nir+red); B11')
    expect(ndvi).toMatchObject({ names: ['b1', 'b2'], descriptions: ['(nir-red)/(nir+red)', 'B11'] })
    for (const i of [0, 41, 777]) {
      const [x, y] = pixel(i)
      const [red, nir] = [valueAt(x, y, 0), valueAt(x, y, 1)]
      expect(ndvi?.pixels.planes[0]![i]).toBe((nir - red) / (nir + red))
    }
    await expect(values('swir+1')).rejects.toMatchObject({ code: 'EXPRESSION_UNREADABLE' })
    await expect(values('b4')).rejects.toMatchObject({ code: 'BAND_OUT_OF_RANGE' })
    const holes = await values('1/(red-50)')
    const expected = Array.from({ length: WIDTH * HEIGHT }, (_, i) => (valueAt(...pixel(i), 0) === 50 ? 0 : 255))
    expect([...holes!.pixels.alpha]).toEqual(expected)
  })
})

describe('values of a raster', () => {
  test('as npy are those of the file, with the mask as the last band', async () => {
    const renderer = await open({ nodata: '50' })
    const request = {
      kind: 'picture',
      style: { bidx: [2] },
      format: 'npy',
      mask: true,
      area: { type: 'preview', maxSize: 1024, size: null },
    } as const
    const bytes = (await answer(renderer, request)) as Uint8Array
    const length = bytes[8]! + 256 * bytes[9]!
    expect((10 + length) % 64).toBe(0)
    const head = Buffer.from(bytes).toString('latin1', 10, 10 + length)
    expect(head).toContain(`{'descr': '<u2', 'fortran_order': False, 'shape': (2, ${HEIGHT}, ${WIDTH}), }`)
    const values = new Uint16Array(new Uint8Array(bytes).slice(10 + length).buffer)
    const expected = Array.from({ length: WIDTH * HEIGHT }, (_, i) => valueAt(...pixel(i), 1))
    expect([...values.subarray(0, WIDTH * HEIGHT)]).toEqual(expected.map((value) => (value === 50 ? 0 : value)))
    expect([...values.subarray(WIDTH * HEIGHT)]).toEqual(expected.map((value) => (value === 50 ? 0 : 255)))
  })

  test('of one band with colours have one plane, as TiTiler gives them', async () => {
    const area = { type: 'preview', maxSize: 1024, size: null } as const
    const single = openRenderer(
      bufferSource(
        await writeGeoTiff(imageOf({ width: WIDTH, height: HEIGHT, bands: 1 }, valueAt), {
          type: 'uint16',
          georeference: { affine: AFFINE, epsg: 32632 },
        }),
      ),
    )
    const shapeOf = async (renderer: RasterRenderer, style: RenderStyle) => {
      const bytes = (await answer(renderer, { kind: 'picture', style, format: 'npy', mask: true, area })) as Uint8Array
      return /'shape': \((\d+),/.exec(Buffer.from(bytes).toString('latin1', 10, 120))?.[1]
    }
    const rescale = [[0, 97]] as const
    const three = await open()
    expect(await shapeOf(single, { rescale })).toBe('2')
    expect(await shapeOf(three, { rescale, expression: 'b1+b2' })).toBe('2')
    expect(await shapeOf(three, { rescale, bidx: [3] })).toBe('2')
    expect(await shapeOf(three, { rescale })).toBe('4')
    expect(await shapeOf(single, { rescale, colormap: namedColormap('viridis') })).toBe('4')
    const by = (name: string) => ({ rescale, algorithm: { name, parameters: {} } })
    expect(await shapeOf(single, by('terrarium'))).toBe('4')
    expect(await shapeOf(single, by('hillshade'))).toBe('2')
    expect(await shapeOf(three, by('sum'))).toBe('2')
    expect(await shapeOf(three, by('ceil'))).toBe('4')
  })

  test('as a GeoTIFF have the CRS of a raster whose CRS has no code', async () => {
    // GDAL's keys of a transverse Mercator on WGS 84 at 129° E.
    const geoKeys = {
      1024: 1, 1025: 1, 2048: 4326, 2054: 9102, 3072: 32767, 3074: 32767, 3075: 1, 3076: 9001, 3080: 129, 3081: 0, 3082: 500_000, 3083: 0, 3092: 0.9996,
    } // prettier-ignore
    const three = await open()
    const { raster, layer } = three
    // A shift to WGS 84 has several values, and heights have no place in a picture.
    const own = {
      raster: { ...raster, epsg: null, geoKeys: { ...geoKeys, 2062: 0, 4096: 5773 } },
      crs: { ...layer.crs, epsg: null },
    }
    const values = await readValues(layer, whole(three), {}, [0])
    const read = openGeoTiff(bufferSource(encodeGeoTiff(values!, whole(three), own, true)))
    expect(read).toMatchObject({ epsg: null, geoKeys, affine: AFFINE })
    const byText = { ...own, raster: { ...own.raster, citations: [ESRI_TEXT] } }
    const unknown = { ...own, raster: { ...own.raster, geoKeys: { 1024: 1, 3072: 32767 } } }
    for (const one of [unknown, byText])
      expect(() => encodeGeoTiff(values!, whole(three), one, true)).toThrow(
        expect.objectContaining({ code: 'CRS_WITHOUT_CODE' }) as Error,
      )
  })

  test('as a GeoTIFF are read back, with place, names and mask', async () => {
    const renderer = await open({ nodata: '50' })
    const request = {
      kind: 'picture',
      style: {},
      format: 'tif',
      mask: true,
      area: { type: 'preview', maxSize: 1024, size: null },
    } as const
    const source = bufferSource((await answer(renderer, request)) as Uint8Array)
    const raster = openGeoTiff(source)
    expect(raster).toMatchObject({ width: WIDTH, height: HEIGHT, epsg: 32632, sampleType: 'uint16', affine: AFFINE })
    expect(raster.bands.map(({ name }) => name)).toEqual(['b1', 'b2', 'b3'])
    const band = await readWindow(source, raster, { x: 0, y: 0, width: WIDTH, height: HEIGHT, band: 2 })
    for (const i of [0, 500, 1199]) expect(band[i]).toBe(valueAt(...pixel(i), 2))
  })

  test('have statistics as NumPy computes them', async () => {
    const renderer = await open()
    const options = { percentiles: [2, 98], bins: 4, range: null, isCategorical: false, categories: [] }
    const area = { type: 'preview', maxSize: 1024, size: null } as const
    const found = (await answer(renderer, { kind: 'statistics', area, style: {}, options })) as RasterStatistics
    const all = Array.from({ length: WIDTH * HEIGHT }, (_, i) => valueAt(...pixel(i), 0))
    const mean = all.reduce((sum, value) => sum + value, 0) / all.length
    const std = Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / all.length)
    expect(Object.keys(found)).toEqual(['b1', 'b2', 'b3'])
    expect(found['b1']).toMatchObject({
      min: 1,
      max: 97,
      count: 1200,
      unique: 97,
      valid_percent: 100,
      masked_pixels: 0,
    })
    expect(found['b1']!['mean']).toBeCloseTo(mean, 10)
    expect(found['b1']!['std']).toBeCloseTo(std, 10)
    const bin = (low: number, high: number, last = false) =>
      all.filter((value) => value >= low && (last ? value <= high : value < high)).length
    expect(found['b1']!['histogram']).toEqual([
      [bin(1, 25), bin(25, 49), bin(49, 73), bin(73, 97, true)],
      [1, 25, 49, 73, 97],
    ])
  })

  test('at a place and of an area are those of its pixels', async () => {
    const georeference = { affine: [10, 0.01, 0, 50, 0, -0.01] as const, epsg: 4326, geographic: true }
    const renderer = await open({ georeference })
    const point = async (position: readonly [number, number]) =>
      (await answer(renderer, { kind: 'point', style: {}, area: { type: 'point', position } })) as PointValues | null
    expect(await point([10.055, 49.975])).toEqual({
      values: [0, 1, 2].map((band) => valueAt(5, 2, band)),
      names: ['b1', 'b2', 'b3'],
      descriptions: ['b1', 'b2', 'b3'],
    })
    expect(await point([9, 49.9])).toBeNull()
    const ring = [
      [10.1, 49.8],
      [10.2, 49.8],
      [10.2, 49.9],
      [10.1, 49.9],
      [10.1, 49.8],
    ] as const
    const options = { percentiles: [], bins: 2, range: null, isCategorical: true, categories: [] }
    const area = {
      type: 'box',
      bounds: [10, 49.7, 10.4, 50],
      boundsCrs: 4326,
      crs: 3857,
      size: [400, 400],
      maxSize: 400,
      shape: [ring],
    } as const
    const found = (await answer(renderer, {
      kind: 'statistics',
      area,
      style: { bidx: [1] },
      options,
    })) as RasterStatistics
    const inside = new Set<number>()
    for (let x = 10; x < 20; x++) for (let y = 10; y < 20; y++) inside.add(valueAt(x, y, 0))
    expect(new Set((found['b1']!['histogram'] as number[][])[1])).toEqual(inside)
    // Pixels of the area, not of the box around it.
    expect(found['b1']).toMatchObject({ valid_percent: 100, masked_pixels: 0 })
  })
})

describe('bands without data at different places', () => {
  // As NumPy's masked arrays, which TiTiler reads, have them: each band has a mask of its own.
  const NODATA = -1
  const gaps = imageOf({ width: 4, height: 2, bands: 3 }, (x, y, band) =>
    band === 2 ? Number.NaN : x === band ? NODATA : 10 * band + x + 4 * y,
  )
  const openGaps = async () => {
    const georeference = { affine: AFFINE, epsg: 32632 }
    return openRenderer(
      bufferSource(await writeGeoTiff(gaps, { type: 'float32', georeference, nodata: String(NODATA) })),
    )
  }
  const options = { percentiles: [50], bins: 2, range: null, isCategorical: false, categories: [] }

  test('have statistics of their own, an empty one without changing the others', async () => {
    const area = { type: 'preview', maxSize: 1024, size: null } as const
    const found = (await answer(await openGaps(), { kind: 'statistics', area, style: {}, options })) as RasterStatistics
    expect([found['b1'], found['b2'], found['b3']]).toMatchObject([
      { min: 1, max: 7, count: 6, masked_pixels: 2 },
      { min: 10, max: 17, count: 6 },
      { min: null, count: 0, masked_pixels: 8 },
    ])
  })

  test('are read at once, so that a file of many bands has statistics and points', async () => {
    const many = imageOf({ width: 128, height: 128, bands: 150 }, (x, _, band) => (x === band ? 255 : band))
    const georeference = { affine: AFFINE, epsg: 32632 }
    const renderer = openRenderer(
      bufferSource(await writeGeoTiff(many, { type: 'uint8', georeference, nodata: '255' })),
    )
    const area = { type: 'preview', maxSize: 1024, size: null } as const
    const found = (await answer(renderer, { kind: 'statistics', area, style: {}, options })) as RasterStatistics
    expect([found['b1'], found['b150']]).toMatchObject([
      { max: 0, count: 127 * 128 },
      { max: 149, count: 128 * 128 },
    ])
  })

  test('have null at a place where another has a value', async () => {
    const renderer = await openGaps()
    const [west, , , north] = renderer.bounds
    const position = [west + 1e-5, north - 1e-5] as const
    const point = (await answer(renderer, {
      kind: 'point',
      style: {},
      area: { type: 'point', position },
    })) as PointValues
    expect(point).toMatchObject({ values: [null, 10, null], names: ['b1', 'b2', 'b3'] })
  })
})

test.each([
  [
    [0, 36, 0, 90, 0, -18],
    [-180, -90, 180, 90],
  ],
  [
    [170, 2, 0, 10, 0, -2],
    [170, -10, -170, 10],
  ],
  [
    [-180, 36, 0, 90, 0, -18],
    [-180, -90, 180, 90],
  ],
] as const)('a raster of %j, ten pixels wide, has the bounds %j', async (affine, bounds) => {
  const square = imageOf({ width: 10, height: 10, bands: 1 }, (x) => x)
  const bytes = await writeGeoTiff(square, { type: 'uint8', georeference: { affine, epsg: 4326, geographic: true } })
  expect(openRenderer(bufferSource(bytes)).bounds).toEqual(bounds)
})

test('colour formulas change colours as rio-color does', () => {
  // Worked out with rio-color 2.0.1's formulas in double precision.
  const apply = (formula: string, rgb: readonly number[]): number[] => {
    const rgba = Uint8Array.from([...rgb, 255])
    applyColorFormula(rgba, parseColorFormula(formula))
    return [...rgba.subarray(0, 3)]
  }
  expect(apply('gamma G 2', [10, 64, 200])).toEqual([10, 128, 200])
  expect(apply('sigmoidal RGB 10 0.5', [0, 128, 255])).toEqual([0, 129, 255])
  expect(apply('saturation 0', [200, 50, 50])).toEqual([
    apply('saturation 0', [200, 50, 50])[0],
    apply('saturation 0', [200, 50, 50])[0],
    apply('saturation 0', [200, 50, 50])[0],
  ])
  expect(apply('saturation 1', [200, 50, 120])).toEqual([200, 50, 120])
  for (const text of [
    '',
    'gamma',
    'gamma XY 2',
    'gamma RGB 0',
    'sigmoidal RGB 10',
    'blur RGB 3',
    'saturation -1',
    'gamma RGB x',
  ])
    expect(() => parseColorFormula(text)).toThrow(expect.objectContaining({ code: 'FORMULA_UNREADABLE' }) as Error)
})
