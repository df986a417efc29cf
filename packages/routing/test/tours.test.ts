import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'

import { DEFAULT_LIMITS, type Network, osrmRequest, Router, type Trip } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { openTown } from './support/town.ts'

interface Place {
  readonly lon: number
  readonly lat: number
}

interface Waypoint {
  readonly waypoint_index: number
  readonly trips_index: number
  readonly location: readonly [number, number]
}

const PAIRS = 40_000

let network: Network
let router: Router
beforeAll(async () => {
  network = await openTown()
  router = new Router(network, { limits: { ...DEFAULT_LIMITS, matrix: { ...DEFAULT_LIMITS.matrix, pairs: PAIRS } } })
})
afterAll(() => router.close())

/** Crossings of the town with ways between all of them. */
function places(count: number, seed: number): Place[] {
  const { nodeLon, nodeLat, nodeCount } = network.graph
  const random = seededRandom(seed)
  const drawn = Array.from({ length: 2 * count + 8 }, () => Math.floor(random() * nodeCount)).map((node) => {
    return { lon: nodeLon[node]! / 1e7, lat: nodeLat[node]! / 1e7 }
  })
  const times = timesOf(drawn, drawn)
  const kept: number[] = []
  for (const i of drawn.keys()) {
    if (kept.every((j) => times[i]![j]!.time !== null && times[j]![i]!.time !== null)) kept.push(i)
  }
  return kept.slice(0, count).map((i) => drawn[i]!)
}

function timesOf(sources: readonly Place[], targets: readonly Place[]): { time: number | null }[][] {
  const text = JSON.stringify({ sources, targets, costing: 'auto' })
  return (JSON.parse(router.answer(text, 'sources_to_targets').body) as { sources_to_targets: never })
    .sources_to_targets
}

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
function ask(request: Record<string, unknown>): any {
  return JSON.parse(router.answer(JSON.stringify({ costing: 'auto', ...request }), 'optimized_route').body)
}

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
function askOsrm(stops: readonly Place[], query: Record<string, string>): any {
  const coordinates = stops.map(({ lon, lat }) => `${lon},${lat}`).join(';')
  const { body, status } = router.answer(
    osrmRequest('trip', { profile: 'driving', coordinates }, query),
    'optimized_route',
  )
  return { status, ...JSON.parse(body) }
}

function indexesOf({ locations }: Trip): number[] {
  return locations.map(({ original_index: index }) => index)
}

/** All orders of some numbers. */
function ordersOf(numbers: readonly number[]): number[][] {
  if (numbers.length < 2) return [[...numbers]]
  return numbers.flatMap((first) => ordersOf(numbers.filter((n) => n !== first)).map((rest) => [first, ...rest]))
}

describe('a tour', () => {
  test('keeps its ends and takes no longer than any other order of the stops between', () => {
    const stops = places(6, 1)
    const times = ordersOf([1, 2, 3, 4]).map((between) => {
      const locations = [0, ...between, 5].map((i) => stops[i])
      const text = JSON.stringify({ locations, costing: 'auto', directions_type: 'none' })
      return (JSON.parse(router.answer(text).body) as { trip: Trip }).trip.summary.time
    })
    const { trip } = ask({ locations: stops, directions_type: 'none' })
    const order = indexesOf(trip)
    expect([order[0], order.at(-1), new Set(order).size]).toEqual([0, 5, 6])
    expect(trip.summary.time).toBeCloseTo(Math.min(...times), 2)
    expect(trip.summary.time).toBeLessThan(Math.max(...times))
  })

  test('is the route over its stops in that order', () => {
    const stops = places(5, 2)
    const { trip } = ask({ locations: stops, units: 'miles', language: 'de-DE', id: 'round' })
    const locations = indexesOf(trip).map((i) => stops[i])
    const text = JSON.stringify({ locations, costing: 'auto', units: 'miles', language: 'de-DE' })
    const route = (JSON.parse(router.answer(text).body) as { trip: Trip }).trip
    expect({ ...trip, locations: [] }).toEqual({ ...route, locations: [] })
    expect(trip.legs).toHaveLength(4)
  })

  test('may go back, begin anywhere and end anywhere', () => {
    const stops = places(5, 3)
    const round = indexesOf(ask({ locations: stops, source: 'any', destination: 'any', roundtrip: true }).trip)
    expect(round).toHaveLength(6)
    expect(round.at(-1)).toBe(round[0])
    expect(indexesOf(ask({ locations: stops, destination: 'any' }).trip)[0]).toBe(0)
    expect(indexesOf(ask({ locations: stops, source: 'any' }).trip).at(-1)).toBe(4)
    const open = ask({ locations: stops, source: 'any', destination: 'any' }).trip
    const fixed = ask({ locations: stops }).trip
    expect(open.summary.time).toBeLessThanOrEqual(fixed.summary.time)
  })

  test('passes stops of type via and begins and ends with a leg', () => {
    const stops = places(5, 4).map((place) => ({ ...place, type: 'via' }))
    const { trip } = ask({ locations: stops })
    expect(trip.legs).toHaveLength(1)
    expect(trip.locations.map(({ type }: { type: string }) => type)).toEqual([
      'break',
      ...'via via via break'.split(' '),
    ])
  })

  test('heeds the hour and what the request closes', () => {
    const stops = places(5, 5)
    const { trip } = ask({ locations: stops, date_time: { type: 1, value: '2026-11-20T10:00' } })
    expect(trip.locations[0].date_time).toBe('2026-11-20T10:00')
    const [place] = places(1, 6)
    const closed = ask({ locations: stops, exclude_locations: [place] })
    expect(closed.trip.summary.time).toBeGreaterThanOrEqual(ask({ locations: stops }).trip.summary.time)
  })

  test('says what it does not heed', () => {
    const stops = places(3, 7)
    const { trip } = ask({ locations: stops, source: 'last', roundtrip: 'maybe', alternates: 2, format: 'gpx' })
    const texts = trip.warnings.map(({ text }: { text: string }) => text).join('\n')
    for (const name of ['source', 'roundtrip', 'alternates', 'format']) expect(texts).toContain(name)
  })

  test.each([
    [{}, 112],
    [{ locations: [{ lon: 0, lat: 0 }] }, 120],
    [{ locations: [{ lon: 0, lat: 0 }, {}] }, 130],
    [{ locations: [0, 1].map((i) => ({ lon: i, lat: 0 })), costing: 'transit' }, 140],
    [{ locations: [0, 1].map((i) => ({ lon: i, lat: 0 })), costing: 'none' }, 124],
    [{ locations: Array.from({ length: 201 }, () => ({ lon: 0, lat: 0 })) }, 150],
    [{ locations: [0, 1, 90].map((i) => ({ lon: i, lat: 0 })) }, 154],
    [{ locations: [0, 1].map((i) => ({ lon: i, lat: 0 })) }, 171],
  ])('refuses %j with %i', (request, code) => {
    expect(ask(request).error_code).toBe(code)
  })

  test('says how many stops it may have', () => {
    const locations = Array.from({ length: 201 }, () => ({ lon: 0, lat: 0 }))
    expect(ask({ locations }).error).toMatch(/: 200$/)
  })

  test('of 60 stops comes to each once', () => {
    const { trip } = ask({ locations: places(60, 8), directions_type: 'none' })
    expect(new Set(indexesOf(trip)).size).toBe(60)
    expect(trip.legs).toHaveLength(59)
  })
})

describe("OSRM's trip", () => {
  test('goes around all coordinates and comes back, and says where each is in it', () => {
    const stops = places(5, 9)
    const { code, trips, waypoints } = askOsrm(stops, {})
    expect([code, trips.length, trips[0].legs.length, waypoints.length]).toEqual(['Ok', 1, 5, 5])
    expect(waypoints.map(({ waypoint_index: i }: Waypoint) => i).toSorted()).toEqual([0, 1, 2, 3, 4])
    for (const [i, { location, trips_index: trip }] of (waypoints as Waypoint[]).entries()) {
      expect(trip).toBe(0)
      expect(location[0]).toBeCloseTo(stops[i]!.lon, 3)
      expect(location[1]).toBeCloseTo(stops[i]!.lat, 3)
    }
  })

  test('keeps the ends that it is told to keep', () => {
    const stops = places(5, 10)
    const indexes = (query: Record<string, string>): number[] =>
      askOsrm(stops, query).waypoints.map(({ waypoint_index: i }: Waypoint) => i)
    const fixed = indexes({ roundtrip: 'false', source: 'first', destination: 'last' })
    expect([fixed[0], fixed[4]]).toEqual([0, 4])
    expect(indexes({ source: 'first' })[0]).toBe(0)
    // A round trip begins at the fixed end; with both ends fixed, it visits the last one before home.
    expect(indexes({ destination: 'last' })[4]).toBe(0)
    const { waypoints, trips } = askOsrm(stops, { source: 'first', destination: 'last' })
    expect([waypoints[0].waypoint_index, waypoints[4].waypoint_index, trips[0].legs.length]).toEqual([0, 4, 5])
    expect(askOsrm(stops, { roundtrip: 'false' }).trips[0].legs).toHaveLength(4)
    expect(askOsrm(stops, { source: 'last' }).warnings[0].text).toContain('source')
  })

  test('is `routes` in the form of OSRM that Valhalla has', () => {
    const { routes, trips, waypoints } = ask({ locations: places(4, 11), format: 'osrm' })
    expect([routes.length, trips, waypoints[3].waypoint_index]).toEqual([1, undefined, 3])
  })
})

it('says which stop no way leads to, in both forms', async () => {
  const town = await drawTown({
    map: `A---B---C
          |   |   |
          D---E---F
              v
              G`,
    ways: {
      ABC: { highway: 'residential' },
      DEF: { highway: 'residential' },
      AD: { highway: 'residential' },
      BE: { highway: 'residential' },
      CF: { highway: 'residential' },
      EG: { highway: 'residential', oneway: 'yes' },
    },
    meters: 100,
  })
  const around = new Router(town.network)
  const stops = Array.from('AGC', (place) => ({ ...town.at(place), minimum_reachability: 0, radius: 0 }))
  const answer = (text: string): object => JSON.parse(around.answer(text, 'optimized_route').body) as object
  expect(answer(JSON.stringify({ locations: stops, costing: 'auto' }))).toMatchObject({
    error_code: 442,
    error: expect.stringContaining('location 1'),
  })
  const coordinates = stops.map(({ lon, lat }) => `${lon},${lat}`).join(';')
  expect(answer(osrmRequest('trip', { profile: 'driving', coordinates }, { snapping: 'any' }))).toMatchObject({
    code: 'NoTrips',
  })
  await around.close()
})
