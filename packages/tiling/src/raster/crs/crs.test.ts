import { describe, expect, test } from 'vitest'
import { imageOf } from '@terrane/testing/geotiff'
import type { FixtureGeoreference } from '@terrane/testing/geotiff'
import { UTM33, fixture } from '../../../test/fixtures.ts'
import type { InspectRequest, InspectedRaster } from '../inspect.ts'
import { inspectGeoTiff } from '../inspect.ts'
import { fitAffine } from './control-points.ts'
import { converterOf } from './converter.ts'
import { findByName, findInTable } from './epsg-table.ts'

/** A key and its value: a short, a double (as `[value]`), or a text. */
type Key = readonly [id: number, value: number | readonly [number] | string]

interface Case {
  readonly keys?: readonly Key[]
  readonly georeference?: FixtureGeoreference
  readonly request?: Partial<InspectRequest>
}

/** A raster with the given keys. */
async function raster({ keys, georeference, request }: Case): Promise<InspectedRaster> {
  const directory: number[] = []
  const doubles: number[] = []
  let text = ''
  for (const [id, value] of keys ?? []) {
    if (typeof value === 'number') directory.push(id, 0, 1, value)
    else if (typeof value === 'string') {
      directory.push(id, 34_737, value.length + 1, text.length)
      text += `${value}|`
    } else {
      directory.push(id, 34_736, 1, doubles.length)
      doubles.push(value[0])
    }
  }
  const fields = [
    { tag: 34_735, type: 3, values: [1, 1, 0, keys?.length ?? 0, ...directory] },
    ...(doubles.length > 0 ? [{ tag: 34_736, type: 12, values: doubles }] : []),
    ...(text === '' ? [] : [{ tag: 34_737, type: 2, values: Buffer.from(`${text}\0`) }]),
  ]
  const { source } = await fixture(
    imageOf({ width: 20, height: 10, bands: 1 }, () => 1),
    {
      type: 'uint8',
      georeference: georeference ?? { affine: UTM33.affine },
      ...(keys && { fields }),
    },
  )
  return inspectGeoTiff(source, { tileSize: 16, channels: ['gray'], ...request })
}

const place = (definition: string, [x, y]: readonly [number, number]): readonly [number, number] =>
  converterOf(definition).inverse([x, y])

/** Degrees; a millimeter along a meridian. */
const CLOSE = 9e-9

const PROJECTED: Key = [1024, 1]
const NAD83: Key = [2048, 4269]
const WGS84: Key = [2048, 4326]
const USER: Key = [3072, 32_767]
const method = (code: number): Key[] => [PROJECTED, USER, [3074, 32_767], [3075, code]]

// Where PROJ 9.6 takes the point.
const PARAMETERS: [string, Key[], [number, number], [number, number]][] = [
  [
    'polar stereographic by its true latitude',
    [...method(15), WGS84, [3081, [70]], [3095, [-45]]],
    [-800_000, -1_500_000],
    [-73.07248693585, 74.40001645555],
  ],
  [
    'polar stereographic by its scale at the pole',
    [...method(15), WGS84, [3081, [-90]], [3095, [0]], [3092, [0.97]], [3082, [2e6]], [3083, [2e6]]],
    [2_500_000, 2_700_000],
    [35.53767779197, -82.0722730807],
  ],
  [
    'Lambert with two parallels',
    [...method(8), NAD83, [3078, [33]], [3079, [45]], [3085, [39]], [3084, [-96]]],
    [300_000, 200_000],
    [-92.42839703538, 40.75753478652],
  ],
  [
    'Albers',
    [...method(11), NAD83, [3078, [29.5]], [3079, [45.5]], [3081, [23]], [3080, [-96]]],
    [300_000, 1_200_000],
    [-92.73514166188, 33.8198561614],
  ],
  ['a zone of UTM', [PROJECTED, USER, [3074, 16_033], WGS84], [400_000, 5_500_000], [13.61483137004, 49.64425686243]],
  [
    'transverse Mercator in feet, its false easting, too',
    [...method(1), NAD83, [3076, 9002], [3080, [15]], [3081, [0]], [3092, [0.9996]], [3082, [500_000 / 0.3048]]],
    [1_300_000, 18_000_000],
    [13.56635423893, 49.52133260927],
  ],
  [
    'the sinusoidal grid of MODIS on its sphere',
    [...method(24), [2048, 32_767], [2057, [6_371_007.181]], [2058, [6_371_007.181]], [3088, [0]]],
    [1_111_950.52, 5_559_752.6],
    [15.55723827527, 50.0000000105],
  ],
  [
    'Mercator by its parallel',
    [...method(7), WGS84, [3078, [41]], [3080, [100]]],
    [300_000, 4_000_000],
    [103.56569014014, 43.06319264397],
  ],
  [
    'Lambert, azimuthal',
    [...method(10), WGS84, [3089, [10]], [3088, [-81]]],
    [300_000, 400_000],
    [-78.22890825007, 13.60425834331],
  ],
  [
    'equirectangular on a sphere',
    [...method(17), [2048, 32_767], [2057, [6_370_997]], [2059, [0]], [3078, [0]], [3088, [0]]],
    [300_000, 4_000_000],
    [2.69796608818, 35.97288117579],
  ],
]

/** Where PROJ 9.6 takes -800,000, -1,500,000 of the grid of sea ice. */
const HUGHES_POINT = [-73.07248693585, 74.40034156456] as const

/** EPSG code, x and y of the upper left corner, and where PROJ 9.6 takes it without grids. */
const SHIFTED_BY_PLACE: readonly (readonly [number, number, number, number, number])[] = [
  [2065, 1_058_147, 703_012, 14.99999787792159, 50.00000231766485],
  [5513, 1_058_147, 703_012, 14.999997877921553, 50.000002317664844],
  [26_711, 440_720, 3_751_320, -117.64204279335, 33.90236837019],
  [26_713, 591_000, 4_915_000, -103.85817658902, 44.38446407067],
  [4_267, -71.5, 46.2, -71.4996125376, 46.20007486248],
  [4_267, -150.2, 64.1, -150.20245362687, 64.09949963627],
  [23_030, 440_000, 4_474_000, -3.70846523968, 40.4125842761],
  [4_618, -46.6, -23.5, -46.60045299252, -23.50048931478],
  [27_572, 600_000, 2_200_000, 2.33653360836, 46.79994878113],
]

describe('a CRS without a code', () => {
  test.each(PARAMETERS)('is made of its parameters: %s', async (_, keys, point, [lng, lat]) => {
    const { crs } = await raster({ keys })
    expect(crs.epsg).toBeNull()
    const found = place(crs.definition, point)
    expect(Math.abs(found[0] - lng)).toBeLessThan(CLOSE)
    expect(Math.abs(found[1] - lat)).toBeLessThan(CLOSE)
  })

  const albers = (name: string, unit = 'UNIT["Meter",1.0]') =>
    `ESRI PE String = PROJCS["${name}",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",` +
    'SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.017453292519943295]],' +
    'PROJECTION["Albers"],PARAMETER["false_easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-96.0],' +
    `PARAMETER["Standard_Parallel_1",29.5],PARAMETER["Standard_Parallel_2",45.5],PARAMETER["Latitude_Of_Origin",23.0],${unit},` +
    'VERTCS["NAVD_1988",VDATUM["x"],PARAMETER["Vertical_Shift",0.0],UNIT["Centimeter",0.01]]]'

  test('is refused for a text of an unknown projection, whose keys are those of its geographic CRS', async () => {
    const text = albers('x').replace('PROJECTION["Albers"]', 'PROJECTION["Geostationary_Satellite"]')
    const geostationary = raster({
      keys: [
        [1024, 32_767],
        [1026, text],
        [2048, 4326],
      ],
    })
    await expect(geostationary).rejects.toMatchObject({ code: 'UNSUPPORTED_CRS' })
  })

  test("is made of ArcGIS's text, which goes before the keys", async () => {
    const { crs } = await raster({
      keys: [
        [1024, 1],
        [1026, albers('x')],
        [2048, 32_767],
        [3072, 32_767],
      ],
    })
    expect(place(crs.definition, [300_000, 1_200_000])[0]).toBeCloseTo(-92.73514166188, 9)
    const feet = albers('x', 'UNIT["Foot_US",0.3048006096012192]')
    const inFeet = await raster({
      keys: [
        [1024, 1],
        [1026, feet],
        [3072, 32_767],
      ],
    })
    const [x, y] = [300_000 / 0.3048006096012192, 1_200_000 / 0.3048006096012192]
    expect(place(inFeet.crs.definition, [x, y])[1]).toBeCloseTo(33.8198561614, 9)
  })

  test('is Web Mercator by name, whatever its parameters are', async () => {
    const named = 'PCS Name = WGS_1984_Web_Mercator_Auxiliary_Sphere'
    const keys: Key[] = [...method(7), [1026, named], WGS84, [3080, [0]], [3078, [0]]]
    expect((await raster({ keys })).crs.epsg).toBe(3857)
  })

  test('is Web Mercator by the name that Google Maps gave it', async () => {
    const keys: Key[] = [...method(7), [1026, 'Google Maps Global Mercator'], WGS84, [3080, [0]], [3081, [0]]]
    expect((await raster({ keys })).crs.epsg).toBe(3857)
  })

  test('has its angles in degrees also where their size is spelled out', async () => {
    const degrees: Key[] = [
      [2054, 32_767],
      [2055, [Math.PI / 180]],
    ]
    const { crs } = await raster({ keys: [...method(1), WGS84, ...degrees, [3080, [15]], [3081, [0]]] })
    expect(crs.definition).toContain('+proj=tmerc')
  })

  test('on the ellipsoid of sea ice keeps its longitudes and latitudes', async () => {
    const hughes: Key[] = [
      [2048, 32_767],
      [2057, [6_378_273]],
      [2059, [298.279411123064]],
    ]
    const { crs } = await raster({ keys: [...method(15), ...hughes, [3081, [70]], [3095, [-45]]] })
    const [lng, lat] = place(crs.definition, [-800_000, -1_500_000])
    expect(Math.abs(lng - HUGHES_POINT[0])).toBeLessThan(CLOSE)
    expect(Math.abs(lat - HUGHES_POINT[1])).toBeLessThan(CLOSE)
  })

  test('is found by a name where that is all', async () => {
    const keys = (name: string): Key[] => [PROJECTED, USER, [1026, name], [2048, 32_767]]
    expect((await raster({ keys: keys('NAD_1983_UTM_Zone_16N') })).crs.epsg).toBe(26_916)
    expect((await raster({ keys: keys('WGS 84 / UTM zone 33N') })).crs.epsg).toBe(32_633)
  })

  test.each<[string, Key[], RegExp]>([
    ['another planet', [...method(17), [2048, 32_767], [2057, [3_396_190]], [3088, [0]]], /radius of 3396190 m/],
    [
      'an old ellipsoid without a datum',
      [...method(1), [2048, 32_767], [2057, [6_378_206.4]], [2059, [294.98]]],
      /without a datum/,
    ],
    [
      'a datum that needs a grid',
      [...method(1), [2048, 4609], [3080, [-96]], [3081, [0]]],
      /EPSG:4609, which needs a grid/,
    ],
    ['angles in grads', [...method(1), WGS84, [2054, 9105]], /angles are in the unit EPSG:9105/],
    [
      'a pole with a parallel of true scale and a scale',
      [...method(15), WGS84, [3081, [60]], [3092, [90]], [3095, [249]]],
      /both a parallel of true scale and a scale/,
    ],
    ['a method that is not known', [...method(3), WGS84], /GeoTIFF code 3/],
    ['a missing parameter', [...method(11), WGS84, [3080, [1]], [3081, [1]], [3078, [1]]], /lat_2 is missing/],
    ['an unknown zone', [PROJECTED, USER, [3074, 16_061], WGS84], /only the code 16061/],
    ['a meridian of its own', [...method(1), [2048, 32_767], [2057, [6_378_137]], [2061, [2.5]]], /not Greenwich/],
    ['no datum at all', [...method(1), [3080, [1]], [3081, [1]]], /no datum and no ellipsoid/],
  ])('is refused for %s', async (_, keys, why) => {
    await expect(raster({ keys: [...keys, [1026, 'Ours']] })).rejects.toMatchObject({
      code: 'UNSUPPORTED_CRS',
      message: expect.stringMatching(why),
      hint: expect.stringContaining('sourceSrs'),
    })
  })
})

describe('the EPSG table', () => {
  // Where PROJ 9.6 takes the point without grids.
  test.each<[number, [number, number], [number, number]]>([
    [2056, [2_600_500, 1_200_300], [7.4452007634, 46.95378118886]],
    [28_992, [155_000, 463_000], [5.38720350841, 52.15517230119]],
    [2157, [600_000, 750_000], [-8, 53.5]],
    [3347, [6_000_000, 1_500_000], [-94.64055040585, 49.59997777723]],
    // Counted to the west and the south.
    [2048, [46_247, 3_752_682], [18.49999647797501, -33.90000140572844]],
    [2054, [-9697, 3_264_693], [31.100003800356813, -29.499996000813216]],
    [22_279, [-46_785, 3_652_569], [19.50000095023065, -33.00000150997262]],
    [29_373, [-104_017, -110_443], [13.999995987110992, -20.9999997849145]],
    [8352, [1_058_146, 703_011], [15.000002368945882, 50.00000298470363]],
    // No shift of its datum is published.
    [25_231, [156_130, 1_233_190], [-0.14768787251235596, 11.140138894547848]],
  ])('EPSG:%i is within a millimeter of PROJ', (epsg, point, [lng, lat]) => {
    const { definition, residual } = findInTable(epsg)!
    expect(residual).toBeLessThan(0.001)
    const [gotLng, gotLat] = place(definition!, point)
    expect(Math.abs(gotLng - lng) * 70_000).toBeLessThan(0.001)
    expect(Math.abs(gotLat - lat) * 111_320).toBeLessThan(0.001)
  })

  test('states how far off a CRS would be that is refused', () => {
    expect(findInTable(4609)).toMatchObject({ name: 'NAD27(CGQ77)', definition: null, residual: 16 })
    expect(findInTable(99_999)).toBeNull()
  })

  test('a name that several have is none', () => {
    expect(findByName('ETRS89-extended / LAEA Europe')).toBe(3035)
    expect(findByName('no such thing')).toBeNull()
  })
})

describe('a datum that is shifted in one way here and in another there', () => {
  const placed = (epsg: number, affine: readonly [number, number, number, number, number, number]) =>
    raster({ georeference: { epsg, affine } })

  test.each(SHIFTED_BY_PLACE)('EPSG:%i at %d, %d is within a millimeter of PROJ', async (epsg, x, y, lng, lat) => {
    const step = Math.abs(x) <= 180 ? 0.001 : 10
    const { crs } = await placed(epsg, [x, step, 0, y, 0, -step])
    expect(crs.epsg).toBe(epsg)
    const found = place(crs.definition, [x, y])
    expect(Math.abs(found[0] - lng)).toBeLessThan(CLOSE)
    expect(Math.abs(found[1] - lat)).toBeLessThan(CLOSE)
  })

  test('is shifted by its place also where the projection is spelled out', async () => {
    const keys: Key[] = [...method(1), [2048, 4267], [3080, [-117]], [3081, [0]], [3092, [0.9996]], [3082, [500_000]]]
    const affine = [440_720, 10, 0, 3_751_320, 0, -10] as const
    const [byKeys, byCode] = [await raster({ keys, georeference: { affine } }), await placed(26_711, affine)]
    expect(byKeys.crs.definition).toContain(/\+towgs84=\S+/.exec(byCode.crs.definition)![0])
  })

  test('is refused where corners of a raster are shifted differently, and where no shift is known', async () => {
    const refused = {
      code: 'CRS_NEEDS_GRID',
      message: expect.stringContaining('no single shift is accurate in the whole raster'),
    }
    await expect(placed(4267, [-130, 3, 0, 60, 0, -3])).rejects.toMatchObject(refused)
    await expect(placed(4267, [10, 0.001, 0, 50, 0, -0.001])).rejects.toMatchObject(refused)
  })
})

describe('a unit of length that the file states', () => {
  const affine = [2_000_000, 1, 0, 1_000_000, 0, -1] as const
  const at = async (keys: Key[]) => (await raster({ keys, georeference: { affine } })).crs
  const OREGON: Key = [3072, 2838]
  const metric = findInTable(2838)!.definition!

  test.each([
    [9002, 0.3048],
    [9003, 1200 / 3937],
  ])('takes the place of that of the code: EPSG:%i', async (unit, meters) => {
    const crs = await at([PROJECTED, OREGON, [3076, unit]])
    expect(crs.epsg).toBeNull()
    const [lng, lat] = place(crs.definition, [2_000_000 / meters, 1_000_000 / meters])
    expect([lng, lat]).toEqual(place(metric, [2_000_000, 1_000_000]).map((v) => expect.closeTo(v, 9) as number))
  })

  const imagine = (unit: string): Key => [3073, `IMAGINE GeoTIFF Support\nProjection Name = x\nUnits = ${unit}`]

  test('may stand in a citation of Imagine alone', async () => {
    expect((await at([PROJECTED, OREGON, imagine('international_FeeT')])).definition).toContain('+to_meter=0.3048')
    expect((await at([PROJECTED, OREGON, imagine('meters')])).epsg).toBe(2838)
    await expect(at([PROJECTED, OREGON, imagine('cubits')])).rejects.toMatchObject({ code: 'UNSUPPORTED_CRS' })
  })

  test('is refused where it is none', async () => {
    await expect(at([PROJECTED, OREGON, [3076, 9999]])).rejects.toMatchObject({
      message: expect.stringContaining('EPSG:2838 in the unit EPSG:9999 instead of EPSG:9001'),
    })
  })
})

test('sourceSrs takes the place of what the file says', async () => {
  const wrong = { ...UTM33, epsg: 26_711 }
  expect((await raster({ georeference: wrong, request: { sourceSrs: 32_633 } })).crs.epsg).toBe(32_633)
  const nothing = { affine: UTM33.affine }
  expect((await raster({ georeference: nothing, request: { sourceSrs: 2056 } })).crs.epsg).toBe(2056)
  await expect(raster({ georeference: UTM33, request: { sourceSrs: 99_999 } })).rejects.toMatchObject({
    code: 'UNSUPPORTED_CRS',
  })
})

describe('control points', () => {
  const corners = [
    { column: 0, row: 0, x: 400_000, y: 5_500_000 },
    { column: 20, row: 0, x: 400_200, y: 5_500_020 },
    { column: 0, row: 10, x: 400_010, y: 5_499_900 },
    { column: 20, row: 10, x: 400_210, y: 5_499_920 },
  ]
  const stored = (points: typeof corners): FixtureGeoreference => ({
    epsg: 32_633,
    groundControlPoints: points.map(({ column, row, x, y }) => [column, row, x, y] as const),
  })

  test('that lie on a plane are a transform', async () => {
    const { raster: read } = await raster({ georeference: stored(corners) })
    const expected = [400_000, 10, 1, 5_500_000, 1, -10]
    expected.forEach((value, i) => expect(read.affine[i]).toBeCloseTo(value, 6))
    expect(fitAffine(corners)?.residual).toBeCloseTo(0, 6)
  })

  test('that miss it by more than a pixel are refused with the distance', async () => {
    const bent = corners.map((point, i) => (i === 3 ? { ...point, x: point.x + 60 } : point))
    await expect(raster({ georeference: stored(bent) })).rejects.toMatchObject({
      code: 'NO_GEOREFERENCE',
      message: expect.stringMatching(/4 ground control points .* misses them by 1\.\d pixels/),
    })
    const nearly = corners.map((point, i) => (i === 3 ? { ...point, x: point.x + 20 } : point))
    expect(fitAffine(nearly)?.residual).toBeCloseTo(0.5, 1)
    await raster({ georeference: stored(nearly) })
  })

  test('on one line are none', () => {
    expect(fitAffine(corners.map((point) => ({ ...point, row: 0 })))).toBeNull()
    expect(fitAffine(corners.slice(0, 2))).toBeNull()
  })
})
