import { seededRandom } from '@terrane/core'
import { bytesSource, openOsm, writePbf } from '@terrane/osm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { Graph } from '../src/graph/graph.ts'
import { gridOf } from '../src/isochrone/grid.ts'
import { buildNetwork, type Network, Router } from '../src/index.ts'
import { type AsciiTown, drawTown } from './support/ascii-map.ts'
import { openTown } from './support/town.ts'

type Point = [number, number]

interface Feature {
  properties: Record<string, unknown>
  geometry: { type: string }
}

let network: Network
let router: Router
beforeAll(async () => {
  network = await openTown()
  router = new Router(network)
})
afterAll(() => router.close())

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
function ask(request: Record<string, unknown>, asked = router): any {
  return JSON.parse(asked.answer(JSON.stringify(request), 'isochrone').body)
}

// oxlint-disable-next-line typescript/no-explicit-any -- features as a caller sees them
function polygonsOf(feature: any): Point[][][] {
  return feature.geometry.type === 'Polygon' ? [feature.geometry.coordinates] : feature.geometry.coordinates
}

function holds(polygons: Point[][][], [x, y]: Point): boolean {
  const inRing = (ring: Point[]): boolean => {
    let inside = false
    for (let i = 1; i < ring.length; i++) {
      const [ax, ay] = ring[i - 1]!
      const [bx, by] = ring[i]!
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    }
    return inside
  }
  return polygons.some(([outer, ...holes]) => inRing(outer!) && !holes.some(inRing))
}

/** Degrees from a point to the nearest of the lines around some areas. */
function degreesFrom(polygons: Point[][][], [x, y]: Point): number {
  let least = Infinity
  for (const ring of polygons.flat()) {
    for (let i = 1; i < ring.length; i++) {
      const [[ax, ay], [bx, by]] = [ring[i - 1]!, ring[i]!]
      const square = (bx - ax) ** 2 + (by - ay) ** 2
      const share = Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / (square || 1)))
      least = Math.min(least, Math.hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay)))
    }
  }
  return least
}

/** Random places on streets. */
function* onStreets(seed: number): Generator<Point> {
  const { firstPoint, pointLon, pointLat } = network.graph
  const random = seededRandom(seed)
  for (;;) {
    const shape = Math.floor(random() * (firstPoint.length - 1))
    const [first, last] = [firstPoint[shape]!, firstPoint[shape + 1]! - 1]
    const at = first + Math.floor(random() * (last - first))
    const share = random()
    yield [
      (pointLon[at]! + (pointLon[at + 1]! - pointLon[at]!) * share) / 1e6,
      (pointLat[at]! + (pointLat[at + 1]! - pointLat[at]!) * share) / 1e6,
    ]
  }
}

function center(): { lon: number; lat: number } {
  const { nodeLon, nodeLat } = network.graph
  return {
    lon: (Math.min(...nodeLon) + Math.max(...nodeLon)) / 2e7,
    lat: (Math.min(...nodeLat) + Math.max(...nodeLat)) / 2e7,
  }
}

describe.each([
  ['by car', { costing: 'auto' }, { time: 3 }],
  ['by car, to the place', { costing: 'auto', reverse: true }, { time: 3 }],
  ['on foot', { costing: 'pedestrian' }, { time: 12 }],
  ['by bicycle, by distance', { costing: 'bicycle' }, { distance: 1.5 }],
  ['by car without some streets', { costing: 'auto', exclude_locations: true }, { time: 3 }],
  ['by car at an hour', { costing: 'auto', date_time: { type: 1, value: '2026-06-01T08:10' } }, { time: 3 }],
])('an area %s', (_, said, contour) => {
  it('holds the places on streets that routes reach within the limit, and no others', () => {
    const { reverse = false } = said as { reverse?: boolean }
    const place = center()
    const exclude_locations = onStreets(3)
      .filter(([lon, lat]) => Math.hypot(lon - place.lon, lat - place.lat) > 0.003)
      .take(20)
      .map(([lon, lat]) => ({ lon, lat }))
      .toArray()
    const more = { ...said, ...('exclude_locations' in said && { exclude_locations }) }
    const { features } = ask({ ...more, locations: [place], contours: [contour], polygons: true })
    const polygons = polygonsOf(features[0])
    const { reverse: __, ...routing } = more as { reverse?: boolean }
    const [limit, field] = 'time' in contour ? [contour.time * 60, 'time'] : [contour.distance, 'length']
    let judged = 0
    let wrong = 0
    for (const [lon, lat] of onStreets(11).take(1500)) {
      const locations = reverse ? [{ lon, lat }, place] : [place, { lon, lat }]
      const { status, body } = router.answer(JSON.stringify({ ...routing, locations, directions_type: 'none' }))
      if (status !== 200) continue
      const far = (JSON.parse(body) as { trip: { summary: Record<string, number> } }).trip.summary[field]!
      if (far > 1.3 * limit) continue
      judged++
      if (far <= limit !== holds(polygons, [lon, lat])) wrong++
    }
    expect(judged).toBeGreaterThan(200)
    expect(wrong / judged).toBeLessThanOrEqual(0.015)
  })
})

describe('what a request may say', () => {
  const drawn = async (): Promise<AsciiTown> =>
    drawTown({
      map: `
A----B----C----D----E----F----G
          |
          H----I`,
      ways: {
        ABCDEFG: { highway: 'residential' },
        CHI: { highway: 'residential', oneway: 'yes' },
      },
      meters: 40,
    })

  /** The letters that lie in the areas of a contour. */
  async function letters(town: AsciiTown, request: Record<string, unknown>, feature = 0): Promise<string> {
    const asked = new Router(town.network)
    const { features } = ask({ costing: 'pedestrian', polygons: true, ...request }, asked)
    await asked.close()
    const polygons = polygonsOf(features[feature])
    return Array.from('ABCDEFGHI')
      .filter((letter) => holds(polygons, [town.at(letter).lon, town.at(letter).lat]))
      .join('')
  }

  it('follows streets by distance, in their direction, and to the place when it is reversed', async () => {
    const town = await drawn()
    const from = (letter: string, contour: object, more = {}): Promise<string> =>
      letters(town, { locations: [town.at(letter)], contours: [contour], ...more })
    expect(await from('C', { distance: 0.25 })).toBe('BCDH')
    expect(await from('C', { distance: 0.45 })).toBe('ABCDEHI')
    const byCar = { costing: 'auto' }
    expect(await from('H', { distance: 0.25 }, byCar)).toBe('HI')
    expect(await from('H', { distance: 0.25 }, { ...byCar, reverse: true })).toBe('CH')
  })

  it('draws the outermost contour first, those of distance before those of time, each within the one before', async () => {
    const place = center()
    const contours = [{ time: 1 }, { time: 4, distance: 0.8, color: '00ff00' }, { time: 2 }]
    const { features } = ask({ locations: [place], costing: 'auto', contours, polygons: true })
    const told = features.map(({ properties: { metric, contour, color } }: Feature) => [metric, contour, color])
    expect(told).toEqual([
      ['distance', 0.8, '#00ff00'],
      ['time', 4, '#00ff00'],
      ['time', 2, expect.stringMatching(/^#[0-9a-f]{6}$/)],
      ['time', 1, expect.stringMatching(/^#[0-9a-f]{6}$/)],
    ])
    for (const [outer, inner] of [
      [1, 2],
      [2, 3],
    ] as const) {
      const around = polygonsOf(features[outer])
      const vertices = polygonsOf(features[inner]).flat(2)
      // A corner may lie on the line around it.
      const outside = vertices.filter((vertex) => !holds(around, vertex) && degreesFrom(around, vertex) > 1e-6)
      expect(outside).toEqual([])
    }
  })

  it('gives lines unless polygons are asked for, shows locations, and echoes the id', () => {
    const request = {
      locations: [center()],
      costing: 'auto',
      contours: [{ time: 2 }],
      id: 'mine',
      show_locations: true,
    }
    const { type, id, features } = ask(request)
    expect([type, id]).toEqual(['FeatureCollection', 'mine'])
    const types = features.map(({ geometry }: Feature) => geometry.type)
    expect(new Set(types)).toEqual(new Set(['LineString', 'MultiPoint', 'Point']))
    const [line] = features
    expect(line.geometry.coordinates[0]).toEqual(line.geometry.coordinates.at(-1))
    expect(line.properties).toEqual({
      'fill-opacity': 0.33,
      fillColor: '#bf4040',
      opacity: 0.33,
      fill: '#bf4040',
      fillOpacity: 0.33,
      color: '#bf4040',
      contour: 2,
      metric: 'time',
    })
    expect(features.at(-2).properties).toEqual({ location_index: 0, type: 'snapped' })
    expect(features.at(-1).properties).toEqual({ location_index: 0, type: 'input' })
  })

  it('leaves out small areas and holes by denoise, and points by generalize', () => {
    const request = { locations: [center()], costing: 'auto', contours: [{ time: 1.5 }], polygons: true }
    const count = (more: object): [polygons: number, rings: number, points: number] => {
      const polygons = polygonsOf(ask({ ...request, ...more }).features[0])
      return [polygons.length, polygons.flat().length, polygons.flat(2).length]
    }
    const [all, allRings] = count({ denoise: 0 })
    expect(count({ denoise: 1 }).slice(0, 2)).toEqual([1, 1])
    expect(allRings).toBeGreaterThan(1)
    expect(all).toBeGreaterThanOrEqual(1)
    expect(count({ generalize: 100 })[2]).toBeLessThan(count({ generalize: 0 })[2] / 2)
  })

  it('warns of what changes nothing, and has nothing to draw below zero', () => {
    const request = { locations: [center()], costing: 'auto', contours: [{ time: -1 }] }
    expect(ask(request)).toEqual({ features: [], type: 'FeatureCollection' })
    const time = { type: 1, value: '2026-06-01T08:10' }
    const { warnings } = ask({ ...request, reverse: true, date_time: time, format: 'osrm' })
    expect(warnings.map(({ code }: { code: number }) => code)).toEqual([211, 900])
  })
})

describe('a request that cannot be answered', () => {
  const here = { lon: 11, lat: 48 }
  const some = { locations: [here], costing: 'auto', contours: [{ time: 5 }] }
  it.each([
    ['no location', { ...some, locations: [] }, 110, /locations/],
    ['two locations', { ...some, locations: [here, here] }, 150, /: 1$/],
    ['no costing', { ...some, costing: undefined }, 124, /costing/],
    ['timetables', { ...some, costing: 'multimodal' }, 140, /multimodal/],
    ['no contours', { ...some, contours: [] }, 113, /contours/],
    ['a contour of nothing', { ...some, contours: [{ color: 'ff0000' }] }, 111, /time/],
    ['too many contours', { ...some, contours: Array.from({ length: 5 }, () => ({ time: 1 })) }, 152, /: 4$/],
    ['too long a time', { ...some, contours: [{ time: 121 }] }, 151, /: 120$/],
    ['too long a distance', { ...some, contours: [{ distance: 201 }] }, 166, /: 200$/],
    ['a time of arrival', { ...some, date_time: { type: 2, value: '2026-06-01T08:10' } }, 142, /Arrive by/],
    ['no street near', { ...some, locations: [{ lon: 50, lat: 10 }] }, 171, /edges/],
  ])('names what is wrong: %s', (_, request, code, text) => {
    const { status, body } = router.answer(JSON.stringify(request), 'isochrone')
    expect(status).toBe(400)
    expect(JSON.parse(body)).toMatchObject({ error_code: code, error: expect.stringMatching(text) })
  })
})

it('an area leaves out a street that no way leads to, whichever way it is drawn', async () => {
  // A village, and a bypass through it with no way from one to the other, which begins far off.
  const areaOf = async (bypass: string): Promise<string> => {
    const town = await drawTown({
      map: `
      A-----B-----C-----D-----E-----F
      |     |     |     |     |     |
P     |     |     |     |     |     |           Q
      |     |     |     |     |     |
      G-----H-----I-----J-----K-----L`,
      ways: {
        ...Object.fromEntries(
          ['ABCDEF', 'GHIJKL', 'AG', 'BH', 'CI', 'DJ', 'EK', 'FL'].map((way) => [way, { highway: 'residential' }]),
        ),
        [bypass]: { highway: 'primary' },
      },
      meters: 60,
    })
    const asked = new Router(town.network)
    const request = { locations: [town.at('C')], costing: 'auto', contours: [{ distance: 0.7 }], polygons: true }
    const polygons = polygonsOf(ask(request, asked).features[0])
    await asked.close()
    const [p, q] = [town.at('P'), town.at('Q')]
    return Array.from({ length: 100 }, (_, i) => i / 100)
      .map((share) => (holds(polygons, [p.lon + share * (q.lon - p.lon), p.lat]) ? '#' : '.'))
      .join('')
  }
  const there = await areaOf('PQ')
  expect(await areaOf('QP')).toBe(there)
  expect(there).toContain('.')
})

it('makes a grid once, however many ask for it at a time', () => {
  const count = 40_000
  const coordinates = Int32Array.from({ length: 2 * count }, (_, i) => 50 * i)
  const firstPoint = Uint32Array.from({ length: count + 1 }, (_, i) => 2 * i)
  const graph = { pointLon: coordinates, pointLat: coordinates, firstPoint } as unknown as Graph
  const making = [gridOf(graph), gridOf(graph)]
  const made = new Set<object>()
  let steps = 0
  while (making.length > 0) {
    const next = making.shift()!
    const { done, value } = next.next()
    if (done === true) made.add(value)
    else making.push(next)
    steps++
  }
  expect([made.size, steps < 10]).toEqual([1, true])
})

it('an area has no hole around a street that no way leads to', async () => {
  const count = 12
  const step = 0.0025
  const id = (x: number, y: number): number => y * count + x + 1
  const range = Array.from({ length: count }, (_, i) => i)
  const node = (number: number, x: number, y: number) => {
    return { type: 'node' as const, id: number, lon: 11 + x * step, lat: 48 + y * step, tags: {} }
  }
  const way = (number: number, refs: number[]) => {
    return { type: 'way' as const, id: number, refs, tags: { highway: 'residential' } }
  }
  const pbf = writePbf([
    ...range.flatMap((y) => range.map((x) => node(id(x, y), x, y))),
    node(1000, 5.3, 5.5),
    node(1001, 5.7, 5.5),
    ...range.map((y) =>
      way(
        y + 1,
        range.map((x) => id(x, y)),
      ),
    ),
    ...range.map((x) =>
      way(
        100 + x,
        range.map((y) => id(x, y)),
      ),
    ),
    way(1000, [1000, 1001]),
  ])
  const reader = await openOsm(bytesSource(Buffer.concat([...pbf])))
  const grid = new Router(await buildNetwork([reader], { drivingSide: 'right' }))
  const place = { lon: 11 + 5 * step, lat: 48 + 5 * step }
  const { features } = ask({ locations: [place], costing: 'auto', contours: [{ time: 3 }], polygons: true }, grid)
  await grid.close()
  const polygons = polygonsOf(features[0])
  for (const x of [5.3, 5.5, 5.7]) expect(holds(polygons, [11 + x * step, 48 + 5.5 * step])).toBe(true)
})
