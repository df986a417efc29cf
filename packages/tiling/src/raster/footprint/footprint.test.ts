import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import type { Affine, RasterCrs } from '../raster-info.ts'
import { createCrsCatalogue } from '../crs/catalogue.ts'
import type { Footprint } from './footprint.ts'
import { footprint } from './footprint.ts'
import type { Position } from './outline.ts'

/** EPSG code, x, y, and the longitude and latitude that PROJ 9.6.0 gives (through GDAL 3.10.3, without grids). */
const PROJ: readonly (readonly [number, number, number, number, number])[] = [
  [32633, 412345.678, 5612345.678, 13.7599403576, 50.6563608944],
  [32760, 570585, 5847615, 177.7987232438, -37.5157201353],
  [32701, 199000, 8200000, -179.8160443971, -16.2620967587],
  [26910, 551000, 4180000, -122.4209550421, 37.7659045976],
  [26919, 300000, 4700000, -71.4311823516, 42.4265417732],
  [6345, 420000, 3000000, -87.8071720917, 27.1201503018],
  [25832, 691000, 5334000, 11.5670528742, 48.1305704173],
  [31983, 333000, 7394000, -46.6361856198, -23.5557823508],
  [31972, 288776, 800000, -76.9129970662, 7.2334482138],
  [3099, 380000, 3950000, 133.6738201417, 35.6866094848],
  [6691, 380000, 3950000, 139.6738201417, 35.6866094848],
  [28356, 334000, 6252000, 151.2055146869, -33.8592617054],
  [7855, 320000, 5812000, 144.9548751171, -37.8216734346],
  [4326, 13.5, 50.25, 13.5, 50.25],
  [4258, 13.5, 50.25, 13.5, 50.25],
  [4269, -105.25, 40, -105.25, 40.0],
  [4283, 151, -33, 151.0, -33.0],
  [4674, -46, -23, -46.0, -23.0],
  [6318, -90, 30, -90.0, 30.0],
  [7844, 150, -30, 150.0, -30.0],
  [4167, 175, -40, 175.0, -40.0],
  [3857, -6853649.7, 1831431.2, -61.5673827751, 16.2304979466],
  [3395, 1500000, 6500000, 13.4747292618, 50.4981028132],
  [4087, 1500000, 5500000, 13.4747292618, 49.4073406266],
  [6931, 1000000, -1500000, 33.690067526, 73.801534868],
  [6932, -2000000, 1000000, -63.4349488229, -69.8689454223],
  [3031, 1200000, -800000, 123.690067526, -76.7828507352],
  [3976, 1200000, -800000, 123.690067526, -76.7435208198],
  [3413, -50000, 50000, -180.0, 89.3472565954],
  [3995, 300000, -2000000, 8.5307656099, 71.5416187061],
  [3996, 300000, -2000000, 8.5307656099, 71.7299944328],
  [5041, 2300000, 1700000, 45.0, 86.1799795378],
  [5042, 1500000, 2600000, -39.8055710923, -82.9737110489],
  [32661, 2300000, 1700000, 45.0, 86.1799795378],
  [32761, 1500000, 2600000, -39.8055710923, -82.9737110489],
  [6328, 500000, 5800000, 171.0, 52.35029335],
  [6329, 500000, 5800000, 177.0, 52.35029335],
  [5070, -1500000, 1800000, -113.3410297999, 37.9994575217],
  [6350, 1500000, 1200000, -79.8272409395, 32.7200342165],
  [3978, 1200000, 600000, -76.6957493761, 52.8570542335],
  [3035, 4500000, 3300000, 12.653265461, 52.7794614263],
  [3034, 4100000, 2900000, 11.5387737307, 52.9205870315],
  [3067, 385000, 6672000, 24.9274577133, 60.1686659998],
  [3006, 674000, 6580000, 18.0579653368, 59.3228732176],
  [2154, 652000, 6862000, 2.3458119587, 48.856248141],
  [2180, 637000, 487000, 21.0067041085, 52.2319774189],
  [3577, 1500000, -3900000, 148.4962611389, -34.8283783081],
  [9473, 1500000, -3900000, 148.4962611389, -34.8283783081],
  [2193, 1750000, 5920000, 174.6825669263, -36.8540222631],
]

const catalogue = createCrsCatalogue()

function crsOf(epsg: number): RasterCrs {
  const crs = catalogue.find(epsg)
  if (crs === null) throw new RangeError(`EPSG:${epsg} is not in the catalogue`)
  return crs
}

function outline(epsg: number, affine: Affine, rect = { x: 0, y: 0, width: 256, height: 256 }): Footprint {
  return footprint(crsOf(epsg), affine, rect)
}

function meters([lng, lat]: Position, [otherLng, otherLat]: Position): number {
  return 111_320 * Math.hypot((lng - otherLng) * Math.cos((lat * Math.PI) / 180), lat - otherLat)
}

function area(ring: readonly Position[]): number {
  return ring.slice(1).reduce((sum, [x, y], i) => {
    const [px, py] = ring[i] as Position
    return sum + (px * y - x * py) / 2
  }, 0)
}

function expectValid({ polygons }: Footprint): void {
  for (const ring of polygons) {
    expect(ring.length).toBeGreaterThan(3)
    expect(ring[0]).toEqual(ring.at(-1))
    expect(area(ring)).toBeGreaterThan(0)
    for (const [lng, lat] of ring) expect([Math.abs(lng) <= 180, Math.abs(lat) <= 90]).toEqual([true, true])
  }
}

function single({ polygons }: Footprint): readonly Position[] {
  expect(polygons.length).toBe(1)
  return polygons[0] as readonly Position[]
}

test.each(PROJ)('EPSG:%i at %d, %d is within 1 mm of PROJ', (epsg, x, y, lng, lat) => {
  const step = epsg > 4_000 && crsOf(epsg).definition.includes('longlat') ? 1e-5 : 1
  const { polygons } = outline(epsg, [x, step, 0, y, 0, -step], { x: 0, y: 0, width: 1, height: 1 })
  expect(Math.min(...polygons.flat().map((vertex) => meters(vertex, [lng, lat])))).toBeLessThan(0.001)
})

describe('the ring', () => {
  test('has the corners from the upper left down, counter-clockwise and closed', () => {
    const ring = single(outline(4_326, [13, 0.01, 0, 50, 0, -0.01], { x: 0, y: 0, width: 100, height: 50 }))
    expect(ring).toEqual([
      [13, 50],
      [13, 49.5],
      [14, 49.5],
      [14, 50],
      [13, 50],
    ])
  })

  test('is counter-clockwise for south-up, mirrored and rotated rasters', () => {
    for (const affine of [
      [400_000, 2, 0, 5_600_000, 0, 2],
      [400_000, -2, 0, 5_600_000, 0, -2],
      [400_000, 1.9, 0.6, 5_600_000, 0.6, -1.9],
      [400_000, 0, 2, 5_600_000, 2, 0],
    ] as const) {
      const ring = outline(32_633, affine)
      expectValid(ring)
      expect(single(ring).length).toBe(5)
    }
  })

  test('of a tile of some kilometers is its corners alone', () => {
    expect(single(outline(32_633, [400_000, 10, 0, 5_600_000, 0, -10])).length).toBe(5)
    expect(single(outline(3_857, [1_000_000, 10, 0, 6_000_000, 0, -10])).length).toBe(5)
  })

  test('of a wide area has points where straight edges would stray by half a pixel', () => {
    const affine = [300_000, 100, 0, 7_000_000, 0, -100] as const
    const ring = single(outline(32_633, affine, { x: 0, y: 0, width: 3_000, height: 2_000 }))
    expect(ring.length).toBeGreaterThan(9)
    const edge = footprint(crsOf(32_633), affine, { x: 0, y: 0, width: 3_000, height: 1 })
    const top = (edge.polygons[0] as readonly Position[]).filter((_, i) => i > 0)
    for (let column = 0; column <= 3_000; column += 37) {
      const point = single(footprint(crsOf(32_633), affine, { x: column, y: 0, width: 1, height: 1 }))[0] as Position
      expect(distanceToRing(point, top)).toBeLessThan(51)
    }
  })
})

function distanceToRing(point: Position, ring: readonly Position[]): number {
  const east = Math.cos((point[1] * Math.PI) / 180)
  return Math.min(
    ...ring.slice(1).map((end, i) => {
      const start = ring[i] as Position
      const [dx, dy] = [(end[0] - start[0]) * east, end[1] - start[1]]
      const [px, py] = [(point[0] - start[0]) * east, point[1] - start[1]]
      const t = Math.max(0, Math.min(1, (px * dx + py * dy) / (dx * dx + dy * dy || 1)))
      return 111_320 * Math.hypot(px - t * dx, py - t * dy)
    }),
  )
}

describe('at the antimeridian', () => {
  test('an area is cut in two that meet there', () => {
    const result = outline(32_660, [700_000, 1_000, 0, 6_000_000, 0, -1_000])
    expectValid(result)
    expect(result.polygons.length).toBe(2)
    const edges = result.polygons.map((ring) => ring.map(([lng]) => lng).filter((lng) => Math.abs(lng) === 180))
    expect(edges.map((lngs) => [...new Set(lngs)])).toEqual([[180], [-180]])
  })

  test('longitudes beyond 180 are turned back, and cut where they pass it', () => {
    expect(single(outline(4_326, [200, 0.1, 0, 10, 0, -0.1], { x: 0, y: 0, width: 10, height: 10 }))[0]).toEqual([
      -160, 10,
    ])
    const { polygons } = outline(4_326, [179, 0.1, 0, 10, 0, -0.1], { x: 0, y: 0, width: 20, height: 10 })
    expect(
      polygons.map((ring) => [...new Set(ring.map(([lng]) => Math.round(lng)))].toSorted((a, b) => a - b)),
    ).toEqual([
      [179, 180],
      [-180, -179],
    ])
  })

  test('an area that ends there is not cut', () => {
    const world = outline(4_326, [-180, 0.01, 0, 90, 0, -0.01], { x: 0, y: 0, width: 36_000, height: 18_000 })
    expect(single(world)).toEqual([
      [-180, 90],
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
    ])
    const half = 20_037_508.342_789_244
    const mercator = outline(3_857, [-half, half / 128, 0, half, 0, -half / 128])
    expectValid(mercator)
    expect(area(single(mercator))).toBeCloseTo(360 * 2 * 85.051_128_78, 3)
  })

  test('a grid of pixel centers may reach half a pixel over the poles and around the world', () => {
    const result = outline(4_326, [-180.5, 1, 0, 90.5, 0, -1], { x: 0, y: 0, width: 360, height: 181 })
    expectValid(result)
    expect(result.polygons.reduce((sum, ring) => sum + area(ring), 0)).toBeCloseTo(360 * 180, 6)
  })
})

describe('around a pole', () => {
  test.each([
    [3_413, 90],
    [3_031, -90],
    [6_931, 90],
    [5_042, -90],
  ])('EPSG:%i: the polygon closes over the pole at %d', (epsg, pole) => {
    const offset = epsg === 5_042 ? 2_000_000 : 0
    const result = outline(epsg, [offset - 51_234, 400, 0, offset + 51_000, 0, -400])
    expectValid(result)
    const ring = single(result)
    expect(ring).toContainEqual([-180, pole])
    expect(ring).toContainEqual([180, pole])
    // Some 51.2 km around the pole: at all longitudes the latitude of the edge is within the square's radii.
    for (const [, lat] of ring) expect(Math.abs(lat - pole)).toBeLessThan(0.75)
    expect(Math.abs(area(ring) / 360)).toBeGreaterThan(0.4)
  })

  test('a corner on the pole has both meridians that meet there', () => {
    const ring = single(outline(3_413, [0, 200, 0, 51_200, 0, -200]))
    const atPole = ring.filter(([, lat]) => lat === 90).map(([lng]) => lng)
    expect(atPole.toSorted((a, b) => a - b)).toEqual([expect.closeTo(45, 6), expect.closeTo(135, 6)])
    expectValid({ polygons: [ring] })
  })

  test('tiles that share a corner or an edge there cover the surroundings once', () => {
    const around = (x: number, y: number): number =>
      outline(3_413, [x, 200, 0, y, 0, -200]).polygons.reduce((sum, ring) => {
        expectValid({ polygons: [ring] })
        return sum + area(ring)
      }, 0)
    const corners = around(0, 51_200) + around(-51_200, 51_200) + around(0, 0) + around(-51_200, 0)
    const whole = outline(3_413, [-51_200, 200, 0, 51_200, 0, -200], { x: 0, y: 0, width: 512, height: 512 })
    expect(corners).toBeCloseTo(area(single(whole)), 1)
    const edges = around(-25_600, 51_200) + around(-25_600, 0)
    const middle = outline(3_413, [-25_600, 200, 0, 51_200, 0, -200], { x: 0, y: 0, width: 256, height: 512 })
    expect(edges).toBeCloseTo(area(single(middle)), 1)
  })

  test('a tile whose edge passes a pole closely stays valid', () => {
    for (const gap of [1, -1, 0.001, -0.001, 1e-7]) expectValid(outline(3_413, [-25_000, 200, 0, gap, 0, -200]))
  })
})

test('footprints of random tiles are valid and hold their center', async () => {
  await randomCases(300, (random, seed) => {
    const polar = random() < 0.5
    const epsg = polar ? ([3_413, 3_031, 3_995, 6_932][seed % 4] as number) : 32_601 + Math.floor(random() * 60)
    const size = 10 ** (random() * 3)
    const angle = random() * 2 * Math.PI
    const [x, y] = polar ? [(random() - 0.5) * 2e6, (random() - 0.5) * 2e6] : [2e5 + random() * 6e5, random() * 9e6]
    const affine: Affine = [
      x,
      size * Math.cos(angle),
      size * Math.sin(angle),
      y,
      size * Math.sin(angle),
      -size * Math.cos(angle),
    ]
    const result = outline(epsg, affine)
    expectValid(result)
    const [lng, lat] = single(outline(epsg, affine, { x: 128, y: 128, width: 1, height: 1 }))[0] as Position
    expect(result.polygons.some((ring) => contains(ring, lng, lat))).toBe(true)
  })
})

function contains(ring: readonly Position[], x: number, y: number): boolean {
  let inside = false
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay] = ring[i - 1] as Position
    const [bx, by] = ring[i] as Position
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside
  }
  return inside
}

describe('what has no footprint', () => {
  test('lies outside of its CRS', () => {
    const outside = expect.objectContaining({ code: 'OUTSIDE_CRS', message: expect.stringContaining('EPSG:32633') })
    expect(() => outline(32_633, [1e9, 10, 0, 5e6, 0, -10])).toThrow(outside)
    expect(() => outline(4_326, [13, 0.01, 0, 95, 0, -0.01])).toThrow(expect.objectContaining({ code: 'OUTSIDE_CRS' }))
  })

  test('a point so far off that a projection does not lead back to it', () => {
    expect(() => outline(27_200, [440_720, 60, 0, 3_751_320, 0, -60])).toThrow(
      expect.objectContaining({ code: 'OUTSIDE_CRS' }),
    )
  })

  test('NAD83 coordinates where PROJ shifts the datum and proj4 cannot', () => {
    expect(() => outline(4_269, [-157.8, 0.001, 0, 21.3, 0, -0.001])).toThrow(
      expect.objectContaining({ code: 'OUTSIDE_CRS' }),
    )
  })
})

describe('the catalogue', () => {
  test.each([4_609, 29_101, 8_044, 99_999])('has no EPSG:%i', (epsg) => {
    expect(catalogue.find(epsg)).toBeNull()
  })

  test('takes entries of the operator, before its own', () => {
    const definition = '+proj=lcc +lat_0=39.66667 +lon_0=-98 +lat_1=33 +lat_2=45 +x_0=0 +y_0=0 +datum=NAD83'
    const own = createCrsCatalogue([
      { epsg: 102_004, name: 'Lambert of ours', definition },
      { epsg: 4_326, name: 'WGS 84 of ours', definition: '+proj=longlat +datum=WGS84' },
    ])
    expect(own.find(102_004)).toMatchObject({ name: 'Lambert of ours', definition })
    expect(own.find(4_326)?.name).toBe('WGS 84 of ours')
    expect(own.find(32_633)?.name).toBe('WGS 84 / UTM zone 33N')
  })

  test('refuses a definition that is none', () => {
    expect(() => createCrsCatalogue([{ epsg: 5, name: 'x', definition: 'nonsense' }])).toThrow(
      expect.objectContaining({ code: 'INVALID_CRS_DEFINITION', message: expect.stringContaining('EPSG:5') }),
    )
  })
})

test.each([
  [
    'counted to the west and the south',
    2048,
    [46_247, -10, 0, 3_752_682, 0, 10],
    [18.49999647797501, -33.90000140572844],
  ],
  [
    'counted to the south and the west',
    5513,
    [1_058_147, 0, 10, 703_012, -10, 0],
    [14.999997877921553, 50.000002317664844],
  ],
] as const)('a grid that is %s has counter-clockwise rings at its place', (_, epsg, affine, [lng, lat]) => {
  const found = createCrsCatalogue().find(epsg)!
  // The shift of the place.
  const crs = {
    ...found,
    definition: found.definition.replace('@4156', '572.213,85.334,461.94,4.9732,1.529,5.2484,3.5378'),
  }
  const [ring = []] = footprint(crs, affine, { x: 0, y: 0, width: 100, height: 100 }).polygons
  expect(area(ring)).toBeGreaterThan(0)
  // The first pixel is the upper left one: north is up, a kilometer across.
  const [west, north] = [Math.min(...ring.map(([x]) => x)), Math.max(...ring.map(([, y]) => y))]
  expect(Math.hypot((west - lng) * 80_000, (north - lat) * 111_320)).toBeLessThan(400)
  expect(Math.min(...ring.map(([x, y]) => Math.hypot((x - lng) * 80_000, (y - lat) * 111_320)))).toBeLessThan(0.001)
})
