import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { type Action, DEFAULT_LIMITS, type Mode, type Network, osrmRequest, Router } from '../src/index.ts'
import { decodeLine } from '../src/geometry/polyline.ts'
import { Ground } from '../src/ground.ts'
import { Matcher } from '../src/match/matcher.ts'
import { readTraceRequest } from '../src/match/request.ts'
import { drawTown } from './support/ascii-map.ts'
import { openTown } from './support/town.ts'
import { makeTraces, overlap } from './support/traces.ts'

interface Point {
  readonly lon: number
  readonly lat: number
  readonly [member: string]: unknown
}

let network: Network
let router: Router
beforeAll(async () => {
  network = await openTown()
  router = new Router(network)
})
afterAll(() => router.close())

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
function ask(request: object, action: Exclude<Action, 'tile'> = 'trace_route', from = router): any {
  return JSON.parse(from.answer(JSON.stringify({ costing: 'auto', ...request }), action).body)
}

const snap = (shape: readonly Point[], more: object = {}) => ask({ shape, shape_match: 'map_snap', ...more })

function trace(interval: number, noise: number, mode: Mode = 'auto', seed = 1): Point[] {
  return [...makeTraces(network, { mode, interval, noise }, 1, seed)[0]!.points]
}

/** Length-weighted precision and recall of matched traces. */
function accuracy(mode: Mode, interval: number, noise: number): { precision: number; recall: number } {
  const sums = { found: 0, right: 0, truth: 0, covered: 0 }
  for (const { truth, points } of makeTraces(network, { mode, interval, noise }, 6, 100 + noise + interval)) {
    const { trip, alternates = [] } = snap(points, { costing: mode, directions_type: 'none' })
    const trips: { legs: { shape: string }[] }[] = [trip, ...alternates.map((one: { trip: object }) => one.trip)]
    const lines = trips.flatMap(({ legs }) => legs.map(({ shape }) => decodeLine(shape, 6)))
    const [mine, theirs] = [overlap(lines, [truth]), overlap([truth], lines)]
    sums.found += mine.meters
    sums.right += mine.along
    sums.truth += theirs.meters
    sums.covered += theirs.along
  }
  return { precision: sums.right / sums.found, recall: sums.covered / sums.truth }
}

describe('traces of routes are matched to those', () => {
  it.each([
    ['auto', 1, 5, 0.99],
    ['auto', 5, 10, 0.97],
    ['auto', 1, 30, 0.9],
    ['auto', 20, 10, 0.95],
    ['bicycle', 5, 5, 0.96],
    ['pedestrian', 5, 10, 0.94],
  ] as const)('by %s every %i s with %i m of noise', (mode, interval, noise, least) => {
    const { precision, recall } = accuracy(mode, interval, noise)
    expect(precision).toBeGreaterThan(least)
    expect(recall).toBeGreaterThan(least)
  })
})

describe('between two distant points', async () => {
  const primary = { highway: 'primary', maxspeed: '80' }
  // The way over B and C is much slower, and some metres shorter.
  const town = await drawTown({
    map: `
      A--B------------------C--D
         |                  |
         E------------------F
    `,
    meters: 50,
    ways: {
      AB: primary,
      BC: { highway: 'service', maxspeed: '10' },
      CD: primary,
      BE: primary,
      EF: primary,
      FC: primary,
    },
  })
  const from = new Router(town.network)
  afterAll(() => from.close())

  it.each([
    ['auto', ['A', 'E', 'F', 'D']],
    ['pedestrian', ['A', 'B', 'C', 'D']],
  ])('by %s the fastest way counts, over %j', (costing, places) => {
    const { trip } = ask(
      {
        shape: [town.at('A'), town.at('D')],
        shape_match: 'map_snap',
        costing,
        trace_options: { turn_penalty_factor: 0 },
      },
      'trace_route',
      from,
    )
    const { lon, lat } = decodeLine(trip.legs[0].shape, 6)
    const passes = (place: string): boolean =>
      lon.some((each, i) => Math.abs(each - town.at(place).lon) + Math.abs(lat[i]! - town.at(place).lat) < 4e-6)
    expect(['A', 'B', 'C', 'D', 'E', 'F'].filter(passes)).toEqual(expect.arrayContaining(places))
    expect(passes('E')).toBe(places.includes('E'))
  })
})

it('distant points on the slowest street are matched', async () => {
  const town = await drawTown({
    map: 'A-B-------------------------------C-D',
    meters: 50,
    ways: { AB: { highway: 'primary' }, BC: { highway: 'track', tracktype: 'grade5' }, CD: { highway: 'primary' } },
  })
  const from = new Router(town.network)
  const { trip, alternates } = ask(
    { shape: [town.at('A'), town.at('D')], shape_match: 'map_snap' },
    'trace_route',
    from,
  )
  await from.close()
  expect([trip.summary.length, alternates]).toEqual([expect.closeTo(1.8, 2), undefined])
})

it('a traveller who stood still before is matched as one who did not', () => {
  const random = seededRandom(9)
  const [{ truth, points } = { truth: null, points: [] }] = makeTraces(
    network,
    { mode: 'auto', interval: 10, noise: 10 },
    1,
    4,
  )
  const jitter = (): number => (random() - 0.5) * 3e-4
  const stay = Array.from({ length: 150 }, () => ({ lon: points[0]!.lon + jitter(), lat: points[0]!.lat + jitter() }))
  const { trip } = snap([...stay, ...points.map(({ lon, lat }) => ({ lon, lat }))], { directions_type: 'none' })
  const { meters, along } = overlap([truth!], [decodeLine(trip.legs[0].shape, 6)])
  expect(along / meters).toBeGreaterThan(0.9)
})

describe('edge_walk', () => {
  it('of the shape of a route gives back that route', () => {
    const random = seededRandom(11)
    const { graph } = network
    const place = (): Point => {
      const node = Math.floor(random() * graph.nodeCount)
      const off = (): number => (random() - 0.5) * 5e-4
      return { lon: graph.nodeLon[node]! / 1e7 + off(), lat: graph.nodeLat[node]! / 1e7 + off() }
    }
    let walked = 0
    for (let i = 0; i < 120; i++) {
      const costing = (['auto', 'bicycle', 'pedestrian', 'truck'] as const)[i % 4]!
      const { trip } = ask({ locations: [place(), place()], costing }, 'route')
      if (trip === undefined || trip.summary.length < 0.03) continue
      const [{ shape, maneuvers }] = trip.legs
      const whole = ask({ encoded_polyline: shape, shape_match: 'edge_walk', costing })
      expect(whole.error, shape).toBeUndefined()
      const again = whole.trip
      expect(again.legs[0].shape).toBe(shape)
      expect(again.summary.time).toBeCloseTo(trip.summary.time, 0)
      // A shape says nothing of the side of the street that one leaves from or arrives at.
      const kinds = (list: { type: number }[]): number[] => list.slice(1, -1).map(({ type }) => type)
      expect(kinds(again.legs[0].maneuvers)).toEqual(kinds(maneuvers))
      walked++
    }
    expect(walked).toBeGreaterThan(60)
  })

  it('refuses a shape that follows no streets, which walk_or_snap matches', () => {
    const shape = trace(5, 10)
    expect(ask({ shape, shape_match: 'edge_walk' })).toMatchObject({ error_code: 443 })
    expect(ask({ shape, shape_match: 'walk_or_snap' })).toEqual(snap(shape))
    expect(ask({ shape })).toEqual(snap(shape))
  })
})

describe('an answer of trace_route', () => {
  it('is a trip from the first point to the last, in the forms that routes have', () => {
    const shape = trace(5, 5)
    const { trip } = snap(shape, { units: 'miles', language: 'de-DE' })
    expect([trip.units, trip.language, trip.legs.length]).toEqual(['miles', 'de-DE', 1])
    expect(trip.locations.map((at: { original_index: number }) => at.original_index)).toEqual([0, shape.length - 1])
    const request = { costing: 'auto', shape, shape_match: 'map_snap' }
    expect(router.answer(JSON.stringify({ ...request, format: 'gpx' }), 'trace_route')).toMatchObject({
      type: 'gpx',
      body: expect.stringMatching(/^<\?xml.*<\/gpx>$/s),
    })
    expect(snap(shape, { shape_format: 'geojson' }).trip.legs[0].shape.type).toBe('LineString')
    const { matchings, tracepoints } = snap(shape, { format: 'osrm' })
    expect([matchings.length, matchings[0].legs.length, tracepoints.length]).toEqual([1, 1, shape.length])
  })

  it('has a leg to each point that breaks', () => {
    const shape = trace(5, 5).map((point, i) => (i === 5 ? { ...point, type: 'break' } : point))
    const { trip } = snap(shape)
    expect(trip.legs).toHaveLength(2)
    expect(trip.locations[1]).toMatchObject({ type: 'break', original_index: 5 })
    const [first, second] = trip.legs.map((leg: { shape: string }) => decodeLine(leg.shape, 6))
    expect([first.lon.at(-1), first.lat.at(-1)]).toEqual([second.lon[0], second.lat[0]])
  })

  it('names members of routes that say nothing of a trace', () => {
    const { trip } = snap(trace(5, 5), { date_time: { type: 0 }, exclude_locations: [{ lon: 11.6, lat: 48.1 }] })
    expect(trip.warnings.map(({ code }: { code: number }) => code)).toEqual([900, 900])
  })
})

describe('a trace in parts', () => {
  it('has a trip for each part, where points are too far from each other', () => {
    const [a, b] = [trace(5, 5, 'auto', 1).slice(0, 10), trace(5, 5, 'auto', 2).slice(0, 10)]
    const shape = [...a, ...b].map(({ lon, lat }) => ({ lon, lat }))
    const apart = { trace_options: { breakage_distance: 200 } }
    const { trip, alternates } = snap(shape, apart)
    expect([trip.locations.at(-1).original_index, alternates.length]).toEqual([9, 1])
    expect(alternates[0].trip.locations[0].original_index).toBe(10)
    const gpx = { shape, costing: 'auto', shape_match: 'map_snap', format: 'gpx' }
    expect(router.answer(JSON.stringify({ ...gpx, ...apart }), 'trace_route').body).toContain(
      '<desc>The trace has 2 parts',
    )
    expect(router.answer(JSON.stringify({ ...gpx, shape: a }), 'trace_route').body).toContain('<metadata/>')
    const { matched_points: points } = ask({ shape, shape_match: 'map_snap', ...apart }, 'trace_attributes')
    expect([points[9].begin_route_discontinuity, points[10].end_route_discontinuity]).toEqual([true, true])
  })

  it('ends where points are more than 20 km apart, whatever the request says', async () => {
    const town = await drawTown({ map: 'A--B--C', meters: 5000, ways: { ABC: { highway: 'primary' } } })
    const only = new Router(town.network)
    const [a, b, c] = ['A', 'B', 'C'].map((letter) => town.at(letter))
    const toC = (share: number): Point => ({ lon: a!.lon + share * (c!.lon - a!.lon), lat: a!.lat })
    const partsOf = (shape: readonly Point[]): number => {
      const options = { breakage_distance: 1e9 }
      const { alternates = [] } = ask({ shape, shape_match: 'map_snap', trace_options: options }, 'trace_route', only)
      return 1 + alternates.length
    }
    expect(partsOf([a!, toC(0.01), b!, c!])).toBe(1)
    expect(partsOf([a!, toC(0.01), toC(0.99), c!])).toBe(2)
    await only.close()
  })

  it('ends where the search for the next point leaves too many streets, which gives others their turn', () => {
    const limits = DEFAULT_LIMITS
    const ground = new Ground(network, {
      limits,
      search: 'hierarchy',
      costings: 1,
      now: () => new Date(),
      builtAt: null,
    })
    const points = trace(5, 5)
    const request = JSON.stringify({ shape: [points[0], points[8]], costing: 'auto', shape_match: 'map_snap' })
    const { trace: read, route } = readTraceRequest(request, 'trace_route', limits)
    const matching = (bounds?: { states: number; statesPerTurn: number }) =>
      new Matcher(ground.costings.get(route.mode, route.options), bounds).match(read)
    const parts = (found: Iterable<object | null>) => [...found].filter((chain) => chain !== null)
    expect([parts(matching()).length, parts(matching({ states: 2, statesPerTurn: 8192 })).length]).toEqual([1, 0])

    // A step gives others their turn, also other matchings, and finds the same.
    const patient = { states: 2 ** 18, statesPerTurn: 1 }
    const whole = parts(matching())
    const [one, other] = [matching(patient), matching(patient)]
    const found: [object[], object[]] = [[], []]
    let turns = 0
    for (let isDone = false; !isDone; turns++) {
      const [a, b] = [one.next(), other.next()]
      if (a.value) found[0].push(a.value)
      if (b.value) found[1].push(b.value)
      isDone = a.done === true && b.done === true
    }
    expect(turns).toBeGreaterThan(10)
    expect(found).toEqual([whole, whole])
  })

  it('matches points by themselves that are 200 m apart, whatever the request says', () => {
    const request = { shape: trace(1, 5), shape_match: 'map_snap', trace_options: { interpolation_distance: 1e9 } }
    const { matched_points: points, edges } = ask(request, 'trace_attributes')
    const meters = 1000 * edges.reduce((sum: number, { length }: { length: number }) => sum + length, 0)
    const matched = points.filter(({ type }: { type: string }) => type === 'matched')
    expect(matched.length).toBeGreaterThan(meters / 300)
  })

  it('goes on behind an outlier, which is not matched', () => {
    const points = trace(5, 3).map(({ lon, lat, time }) => ({ lon, lat, time }))
    const shape = points.map((point, i) => (i === 6 ? { ...point, lat: point.lat + 0.01 } : point))
    const { edges, matched_points: matched } = ask({ shape, shape_match: 'map_snap' }, 'trace_attributes')
    expect(matched[6].type).toBe('unmatched')
    const types = matched.filter((_: unknown, i: number) => i !== 6).map(({ type }: { type: string }) => type)
    expect(types).not.toContain('unmatched')
    expect(edges.length).toBeGreaterThan(0)
    expect(snap(shape).alternates).toBeUndefined()
  })
})

describe('each part of a trace', () => {
  it('has edges of its own, between whose ends its points lie', async () => {
    const town = await drawTown({
      map: `
        A-B-C-D-E-F-G-H-I-J-K-L-M
                |   |   |   |
                1   2   3   4
      `,
      meters: 20,
      ways: Object.fromEntries(
        ['ABCDEFGHIJKLM', 'E1', 'G2', 'I3', 'K4'].map((way) => [way, { highway: 'residential' }]),
      ),
    })
    const only = new Router(town.network)
    const [a, m] = [town.at('A'), town.at('M')]
    const at = (meters: number): Point => ({ lon: a.lon + (meters / 480) * (m.lon - a.lon), lat: a.lat })
    // The first point of the second part lies on the edge behind the one that its group begins on.
    const shape = [0, 30, 60, 90, 90, 330, 290, 295, 300, 390, 420, 460].map(at)
    const options = { breakage_distance: 150, interpolation_distance: 60, gps_accuracy: 4 }
    const request = { shape, shape_match: 'map_snap', trace_options: options }
    const { edges, matched_points: points } = ask(request, 'trace_attributes', only)
    expect(points.filter((point: Point) => point.begin_route_discontinuity)).toHaveLength(1)
    for (const { edge_index: index, distance_along_edge: along } of points) {
      const { source_percent_along: begin = 0, target_percent_along: end = 1 } = edges[index]
      expect(along).toBeGreaterThanOrEqual(begin - 1e-3)
      expect(along).toBeLessThanOrEqual(end + 1e-3)
    }
    await only.close()
  })
})

describe('turning around', () => {
  it('in the middle of a street is part of a path, once it is far enough', async () => {
    const town = await drawTown({
      map: `
        A--1--B--2--C--3--D
      `,
      meters: 50,
      ways: { ABCD: { highway: 'residential' } },
    })
    const only = new Router(town.network)
    const along = (from: Point, to: Point, share: number): Point => ({
      lon: from.lon + share * (to.lon - from.lon),
      lat: from.lat + share * (to.lat - from.lat),
    })
    const [a, d] = [town.at('A'), town.at('D')]
    const there = Array.from({ length: 9 }, (_, i) => along(a, d, i * 0.1))
    const answer = ask({ shape: [...there, ...there.toReversed()], shape_match: 'map_snap' }, 'trace_route', only)
    const length = answer.trip.summary.length as number
    const whole = ask({ shape: [a, d], shape_match: 'map_snap' }, 'trace_route', only).trip.summary.length
    expect(length).toBeGreaterThan(1.5 * 0.8 * whole)
    expect(length).toBeLessThan(2.1 * 0.8 * whole)
    await only.close()
  })
})

describe('trace_attributes', () => {
  it('tells the edges of a path, each where the one before ends, and where each point lies', () => {
    const shape = trace(2, 4)
    const answer = ask({ shape, shape_match: 'map_snap' }, 'trace_attributes')
    const { edges, matched_points: points, shape: line } = answer
    const count = decodeLine(line, 6).lon.length
    for (let i = 1; i < edges.length; i++) expect(edges[i].begin_shape_index).toBe(edges[i - 1].end_shape_index)
    expect([edges[0].begin_shape_index, edges.at(-1).end_shape_index]).toEqual([0, count - 1])
    expect(points).toHaveLength(shape.length)
    const places = points.map((at: Record<string, number>) => at.edge_index! + at.distance_along_edge!)
    expect(places).toEqual(places.toSorted((a: number, b: number) => a - b))
    for (const point of points) {
      expect(['matched', 'interpolated']).toContain(point.type)
      expect(point.distance_from_trace_point).toBeLessThan(25)
    }
    const { trip } = snap(shape)
    expect(line).toBe(trip.legs[0].shape)
    expect(edges.at(-1).end_node.elapsed_time).toBeCloseTo(trip.summary.time, 1)
    const sum = edges.reduce((total: number, { length }: { length: number }) => total + length, 0)
    expect(sum).toBeCloseTo(trip.summary.length, 1)
  })

  it('tells what a filter includes, and leaves out what it excludes', () => {
    const request = { shape: trace(5, 5), shape_match: 'map_snap' }
    const attributes = ['edge.names', 'edge.speed', 'matched.point', 'shape_attributes.time']
    const some = ask({ ...request, filters: { attributes, action: 'include' } }, 'trace_attributes')
    expect(Object.keys(some)).toEqual(['units', 'edges', 'matched_points', 'shape_attributes', 'alternate_paths'])
    for (const edge of some.edges) expect(Object.keys(edge)).toEqual(['names', 'speed'])
    expect(Object.keys(some.matched_points[0])).toEqual(['lon', 'lat'])
    const all = ask(request, 'trace_attributes')
    const seconds: number = some.shape_attributes.time.reduce((sum: number, each: number) => sum + each, 0)
    expect(seconds).toBeCloseTo(all.edges.at(-1).end_node.elapsed_time, 0)
    const less = ask(
      { ...request, filters: { attributes: ['edge.names', 'shape'], action: 'exclude' } },
      'trace_attributes',
    )
    expect(less).toEqual({
      ...all,
      shape: undefined,
      edges: all.edges.map((edge: object) => ({ ...edge, names: undefined })),
    })
  })
})

it('trace_attributes tells texts of signs by their kind, as a filter says', async () => {
  const town = await drawTown({
    map: `
      A---B---C
          |
          D`,
    ways: {
      ABC: { highway: 'motorway', oneway: 'yes' },
      BD: { highway: 'motorway_link', oneway: 'yes', destination: 'Town', 'destination:ref': 'B 1' },
    },
    meters: 100,
  })
  const only = new Router(town.network)
  const shape = ['A', 'B', 'D'].map((letter) => town.at(letter))
  const signs = (action: string, ...names: string[]): object[] => {
    const filters = { action, attributes: names.map((name) => `edge.${name}`) }
    const { edges } = ask({ shape, shape_match: 'map_snap', filters }, 'trace_attributes', only)
    return edges.flatMap(({ sign }: { sign?: object }) => sign ?? [])
  }
  const all = { exit_branch: ['B 1'], exit_toward: ['Town'] }
  expect(signs('exclude', 'names')).toEqual([all])
  expect(signs('include', 'sign')).toEqual([all])
  expect(signs('exclude', 'sign')).toEqual([])
  expect(signs('include', 'sign.exit_toward')).toEqual([{ exit_toward: ['Town'] }])
  expect(signs('exclude', 'sign.exit_toward')).toEqual([{ exit_branch: ['B 1'] }])
  await only.close()
})

describe("OSRM's match", () => {
  const match = (points: readonly Point[], query: Record<string, string> = {}) =>
    JSON.parse(
      router.answer(
        osrmRequest(
          'match',
          { profile: 'driving', coordinates: points.map(({ lon, lat }) => `${lon},${lat}`).join(';') },
          query,
        ),
        'trace_route',
      ).body,
    )
  const times = (points: readonly Point[]): string => points.map(({ time }) => time).join(';')

  it('has a waypoint for each coordinate, unless some are named', () => {
    const points = trace(5, 5)
    const { code, matchings, tracepoints } = match(points)
    expect([code, matchings.length, matchings[0].legs.length]).toEqual(['Ok', 1, points.length - 1])
    expect(tracepoints.map((at: { waypoint_index: number }) => at.waypoint_index)).toEqual([...points.keys()])
    expect(matchings[0].confidence).toBeGreaterThan(0.8)
    for (const { alternatives_count: rivals, location } of tracepoints) {
      expect(rivals).toBeGreaterThanOrEqual(0)
      expect(location).toHaveLength(2)
    }
    const two = match(points, { waypoints: `0;${points.length - 1}`, steps: 'true', geometries: 'geojson' })
    expect([two.matchings[0].legs.length, two.matchings[0].geometry.type]).toEqual([1, 'LineString'])
  })

  it.each([
    [1, 5, 31],
    [1, 10, 32],
    [5, 10, 33],
  ])('answers traces every %i s with %i m of noise, whose legs come to the way', (interval, noise, seed) => {
    const meters = (query: Record<string, string>, points: readonly Point[]): number => {
      const { code, matchings, tracepoints } = match(points, query)
      expect([code, tracepoints.length]).toEqual(['Ok', points.length])
      return matchings.reduce((sum: number, { distance }: { distance: number }) => sum + distance, 0)
    }
    for (const { points: made } of makeTraces(network, { mode: 'auto', interval, noise }, 6, seed)) {
      const points = made.map((point) => ({ ...point }))
      for (const more of [{}, { timestamps: times(points), radiuses: points.map(() => String(noise)).join(';') }]) {
        const whole = meters({ ...more, waypoints: `0;${points.length - 1}` }, points)
        expect(Math.abs(meters(more, points) - whole)).toBeLessThan(1)
      }
      const { matched_points: matched } = ask({ shape: points, shape_match: 'map_snap' }, 'trace_attributes')
      const places = matched
        .filter(({ type }: { type: string }) => type !== 'unmatched')
        .map((at: Record<string, number>) => at.edge_index! + at.distance_along_edge!)
      expect(places).toEqual(places.toSorted((a: number, b: number) => a - b))
    }
  })

  it('splits at gaps of time unless they are ignored', () => {
    const points = trace(5, 5).map((point, i) => ({ ...point, time: i * 5 + (i > 10 ? 300 : 0) }))
    expect(match(points, { timestamps: times(points) }).matchings).toHaveLength(2)
    expect(match(points, { timestamps: times(points), gaps: 'ignore' }).matchings).toHaveLength(1)
    expect(match(points).matchings).toHaveLength(1)
  })

  it('takes radiuses as accuracy, and leaves out points that say nothing new where it tidies', () => {
    const points = trace(1, 10)
    const radiuses = points.map(() => '10').join(';')
    const { tracepoints } = match(points, { radiuses, timestamps: times(points), tidy: 'true' })
    expect(tracepoints).toHaveLength(points.length)
    expect(tracepoints.filter((at: unknown) => at === null).length).toBeGreaterThan(points.length / 4)
    expect(match(points, { radiuses }).tracepoints).not.toContain(null)
    const { matchings, tracepoints: kept } = match(points, { radiuses, tidy: 'true' })
    const indexes = kept.flatMap((at: { waypoint_index: number } | null) => (at === null ? [] : [at.waypoint_index]))
    expect(indexes).toEqual(Array.from({ length: matchings[0].legs.length + 1 }, (_, i) => i))
    expect([kept[0], kept.at(-1)]).not.toContain(null)
  })

  it('counts another street once, whatever directions it has', async () => {
    const ways = { ABC: { highway: 'residential' }, DEF: { highway: 'residential' } }
    const town = await drawTown({ map: 'A-----B-----C\nD-----E-----F', meters: 20, ways })
    const only = new Router(town.network)
    const [a, c, d] = ['A', 'C', 'D'].map((letter) => town.at(letter))
    const lat = a!.lat + 0.45 * (d!.lat - a!.lat)
    const shape = [0.1, 0.5, 0.9].map((share) => ({ lon: a!.lon + share * (c!.lon - a!.lon), lat }))
    const request = { shape, shape_match: 'map_snap', format: 'osrm' }
    const { tracepoints } = ask(request, 'trace_route', only)
    expect(tracepoints.map((at: { alternatives_count: number }) => at.alternatives_count)).toEqual([1, 1, 1])
    await only.close()
  })

  it('names what it does not heed', () => {
    const points = trace(5, 5).slice(0, 4)
    const query = { bearings: '0,90;;;', approaches: 'curb;;;', snapping: 'any' }
    const texts = match(points, query).warnings.map(({ text }: { text: string }) => text)
    expect(texts).toEqual(Object.keys(query).map((name) => expect.stringContaining(`"${name}"`)))
    const { trip } = snap(points, { use_timestamps: true })
    expect(trip.warnings).toEqual([{ code: 900, text: expect.stringContaining('use_timestamps') }])
  })

  it.each([
    [{ radiuses: '5;5' }, /radiuses has 2 values for 4/],
    [{ radiuses: '5;5;x;5' }, /value 2 of radiuses/],
    [{ timestamps: '1;2;3;4;5' }, /timestamps has 5 values for 4/],
    [{ timestamps: '1;2;;4' }, /value 2 of timestamps/],
    [{ timestamps: '1;3;2;4' }, /backwards at coordinate 2/],
  ])('refuses %j as OSRM does', (query: Record<string, string>, message) => {
    const points = trace(5, 5).slice(0, 4)
    expect(() => match(points, query)).toThrow(message)
    expect(match(points, { radiuses: '5;;unlimited;5.5', timestamps: '1;2;2;4' }).code).toBe('Ok')
  })

  it('refuses more coordinates than any service answers before it makes a request of them', () => {
    for (const coordinates of [`polyline(${'?'.repeat(200_000)})`, '1,1;'.repeat(70_000)])
      expect(() => osrmRequest('match', { profile: 'driving', coordinates }, {})).toThrow('Too many shape points')
  })

  it('has the codes of OSRM', () => {
    const far = [0, 1].map((i) => ({ lon: 12.6 + i / 1000, lat: 48.1 }))
    expect(match(far).code).toBe('NoSegment')
    expect(match([{ lon: 11.6, lat: 48.1 }]).code).toBe('InvalidOptions')
    expect(match([{ lon: 11.6, lat: 148.1 }, ...far]).code).toBe('InvalidValue')
  })
})

describe('requests that cannot be answered', () => {
  const two = [
    { lon: 11.5922, lat: 48.0975 },
    { lon: 11.5879, lat: 48.1085 },
  ]
  it.each([
    [{ costing: undefined, shape: two }, 124],
    [{ costing: 'rocket', shape: two }, 125],
    [{ costing: 'multimodal', shape: two }, 140],
    [{}, 114],
    [{ shape: [] }, 114],
    [{ encoded_polyline: '' }, 114],
    [{ shape: two.slice(0, 1) }, 123],
    [{ shape: [two[0], { lon: 'x', lat: 1 }] }, 134],
    [{ shape: [two[0], { lon: 11, lat: NaN }] }, 134],
    [{ shape: [two[0], { lon: 11, lat: Infinity }] }, 134],
    [{ shape: [two[0], null] }, 134],
    [{ shape: [two[0], { lon: 11.6, lat: 91 }] }, 134],
    [{ shape: [two[0], { lon: 0, lat: 0 }] }, 154],
    [{ shape: Array.from({ length: 16_001 }, () => two[0]) }, 153],
    [{ shape: two, durations: [1, 2, 3] }, 136],
    [{ shape: two, trace_options: { search_radius: 101 } }, 158],
    [{ shape: two, trace_options: { gps_accuracy: -1 } }, 158],
    [{ shape: two, shape_match: 'guess' }, 445],
    [{ shape: two.map(({ lon, lat }) => ({ lon: lon + 1, lat })) }, 171],
  ])('%j is refused with %i', (request, code) => {
    for (const action of ['trace_route', 'trace_attributes'] as const)
      expect(ask(request, action).error_code).toBe(code)
  })
})

describe('traces without a route', () => {
  const at = { lon: 11.5922, lat: 48.0975 }
  const random = seededRandom(5)
  const around = (meters: number): Point => ({
    lon: 11.6 + ((random() - 0.5) * meters) / 74_000,
    lat: 48.1 + ((random() - 0.5) * meters) / 111_000,
  })
  it.each([
    ['standing still', Array.from({ length: 50 }, () => at)],
    ['two points', [at, { lon: at.lon + 1e-5, lat: at.lat }]],
    ['jumps across the town', Array.from({ length: 60 }, () => around(3000))],
    ['jumps out of it', Array.from({ length: 40 }, (_, i) => around(i % 7 === 0 ? 40_000 : 2000))],
    ['times that run backwards', Array.from({ length: 30 }, (_, i) => ({ ...around(1500), time: -i }))],
    ['times that stand still', Array.from({ length: 30 }, () => ({ ...around(1500), time: 5 }))],
    [
      'times that are none',
      Array.from({ length: 30 }, (_, i) => ({ ...around(1500), time: i % 3 === 0 ? 'x' : 1e300 })),
    ],
    ['noise around a place', Array.from({ length: 500 }, () => around(80))],
  ])('%s are answered', (_, shape) => {
    for (const action of ['trace_route', 'trace_attributes'] as const) {
      const answer = ask({ shape, shape_match: 'map_snap' }, action)
      if (answer.error_code !== undefined) expect([171, 444]).toContain(answer.error_code)
      for (const { begin_shape_index: begin, end_shape_index: end } of answer.edges ?? [])
        expect(end).toBeGreaterThanOrEqual(begin)
    }
  })

  it.each([
    { trace_options: { beta: 1e300 } },
    { trace_options: { beta: 0 } },
    { trace_options: { turn_penalty_factor: 1e300, breakage_distance: 1e300 } },
    { trace_options: { interpolation_distance: 1e300 } },
    { trace_options: { search_radius: 0 } },
    { accuracy: 1e300 },
    { accuracy: 1e-300, radius: 1e300 },
  ])('%j changes no more than it may', ({ trace_options: options, ...point }) => {
    const shape = trace(5, 5).map(({ lon, lat }) => ({ lon, lat, ...point }))
    const {
      edges,
      matched_points: points,
      error_code: code,
    } = ask({ shape, shape_match: 'map_snap', trace_options: options }, 'trace_attributes')
    if (code === undefined) expect([edges.length > 0, points.length]).toEqual([true, shape.length])
    else expect([171, 444]).toContain(code)
  })

  it('16,000 points are answered in turns', () => {
    const points = trace(1, 5)
    const shape = Array.from({ length: 16_000 }, (_, i) => {
      const half = i >> 1
      const there = Math.floor(half / points.length) % 2 === 0
      const { lon, lat } = points[there ? half % points.length : points.length - 1 - (half % points.length)]!
      return { lon, lat }
    })
    const work = router.work(JSON.stringify({ shape, costing: 'auto', shape_match: 'map_snap' }), 'trace_attributes', {
      mayWait: false,
    })
    const parts = [...work]
    expect(parts.length).toBeGreaterThan(50)
    expect(JSON.parse(parts.join('')).matched_points).toHaveLength(16_000)
  })

  it('a shape that follows streets for 16,000 points and then leaves them is given up in turns', () => {
    const { trip } = snap(trace(5, 5))
    const line = decodeLine(trip.legs[0].shape, 6)
    const [lon, lat, toLon, toLat] = [line.lon[0]!, line.lat[0]!, line.lon[1]!, line.lat[1]!]
    // All of them lie on the first half of the first line of a street.
    const along = Array.from({ length: 15_999 }, (_, i) => ({
      lon: lon + ((toLon - lon) * i) / 32_000,
      lat: lat + ((toLat - lat) * i) / 32_000,
    }))
    const shape = [...along, { lon: lon + 0.01, lat: lat + 0.01 }]
    const request = JSON.stringify({ shape, costing: 'auto', shape_match: 'edge_walk' })
    const turns: string[] = []
    expect(() => {
      for (const turn of router.work(request, 'trace_route', { mayWait: false })) turns.push(String(turn))
    }).toThrow(/edge_walk|no street/)
    expect(turns.length).toBeGreaterThan(15_999 / 256)
  })

  it.each([{}, { format: 'osrm' }])('2,000 legs are made in turns: %j', (more) => {
    const points = trace(1, 5)
    const shape = Array.from({ length: 2000 }, (_, i) => {
      const { lon, lat } = points[Math.min(Math.floor((i * points.length) / 2000), points.length - 1)]!
      return { lon, lat, type: 'break' }
    })
    const stepsOf = (each: readonly object[]): string[] => {
      const request = { shape: each, costing: 'auto', shape_match: 'map_snap', ...more }
      return [...router.work(JSON.stringify(request), 'trace_route', { mayWait: false })].map(String)
    }
    const steps = stepsOf(shape)
    const without = stepsOf(shape.map(({ lon, lat }) => ({ lon, lat })))
    expect(steps.length - without.length).toBeGreaterThan(100)
    const { trip, matchings } = JSON.parse(steps.join(''))
    expect((trip ?? matchings[0]).legs).toHaveLength(1999)
  })
})
