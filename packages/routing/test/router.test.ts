import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { MODES, type Network, RouteProblem, Router, type RouteResponse, type Trip } from '../src/index.ts'
import { decodeShape } from './support/compare.ts'
import { openTown, placeAt } from './support/town.ts'

let network: Network
let router: Router
let west: { lon: number; lat: number }
let middle: { lon: number; lat: number }
let east: { lon: number; lat: number }
/** On the same bank of the river: trucks must not cross its bridges. */
let near: { lon: number; lat: number }

beforeAll(async () => {
  network = await openTown()
  router = new Router(network, { costings: 2 })
  west = placeAt(network, 0.3, 0.4)
  middle = placeAt(network, 0.5, 0.55)
  east = placeAt(network, 0.7, 0.6)
  near = placeAt(network, 0.7, 0.4)
})

afterAll(() => router.close())

function route(options: Record<string, unknown> = {}): RouteResponse {
  return router.route({ locations: [west, east], costing: 'auto', ...options })
}

function problemOf(options: Record<string, unknown>): number {
  try {
    route(options)
  } catch (error) {
    if (error instanceof RouteProblem) return error.body.error_code
    throw error
  }
  return 0
}

function meters([lon, lat]: readonly [number, number], to: { lon: number; lat: number }): number {
  return Math.hypot((lon - to.lon) * Math.cos((lat * Math.PI) / 180), lat - to.lat) * 111_195
}

describe.each(MODES)('a route by %s', (costing) => {
  it('runs from the first location to the last, and its maneuvers cover it without a gap', () => {
    const { trip } = route({ costing, locations: [west, near] })
    expect(trip).toMatchObject({ status: 0, status_message: 'Found route between points', units: 'kilometers' })
    const [leg] = trip.legs
    const shape = decodeShape(leg!.shape)
    expect(meters(shape[0]!, west)).toBeLessThan(60)
    expect(meters(shape.at(-1)!, near)).toBeLessThan(60)
    const maneuvers = leg!.maneuvers!
    maneuvers.forEach(({ begin_shape_index }, i) => {
      expect(begin_shape_index).toBe(i === 0 ? 0 : maneuvers[i - 1]!.end_shape_index)
    })
    expect(maneuvers.at(-1)!.end_shape_index).toBe(shape.length - 1)
    expect([4, 5, 6]).toContain(maneuvers.at(-1)!.type)
    const sum = (field: 'time' | 'length'): number => maneuvers.reduce((total, next) => total + next[field], 0)
    expect(sum('time')).toBeCloseTo(leg!.summary.time, 1)
    expect(sum('length')).toBeCloseTo(leg!.summary.length, 1)
    for (const { instruction } of maneuvers) expect(instruction).toMatch(/^\S.*\.$/)
  })
})

describe('what a request may say', () => {
  it('echoes its id and answers in miles', () => {
    const kilometers = route().trip.summary.length
    const { id, trip } = route({ id: 'mine', units: 'miles' })
    expect(id).toBe('mine')
    expect(trip.units).toBe('miles')
    expect(trip.summary.length).toBeCloseTo(kilometers / 1.609344, 2)
  })

  it('leaves out maneuvers, or only their texts', () => {
    expect(route({ directions_type: 'none' }).trip.legs[0]!.maneuvers).toBeUndefined()
    const silent = route({ directions_type: 'maneuvers' }).trip.legs[0]!.maneuvers!
    expect(silent.map(({ instruction }) => instruction)).toEqual(silent.map(() => ''))
  })

  it('splits legs at breaks only, and every kind of stop is passed', () => {
    for (const [type, legs] of [
      ['break', 2],
      ['break_through', 2],
      ['through', 1],
      ['via', 1],
    ] as const) {
      const { trip } = route({ locations: [west, { ...middle, type }, east] })
      expect(trip.legs, type).toHaveLength(legs)
      const passed = trip.legs.flatMap(({ shape }) => decodeShape(shape).map((place) => meters(place, middle)))
      expect(Math.min(...passed), type).toBeLessThan(60)
    }
  })

  it('does not turn around at a stop it goes through', () => {
    // A return to the start: at a `break` a U-turn is allowed, at a `through` it is not.
    const [begin, end] = [placeAt(network, 0.35, 0.5), placeAt(network, 0.4, 0.5)]
    const lengthWith = (type: string): number =>
      route({ locations: [begin, { ...end, type }, begin] }).trip.summary.length
    expect(lengthWith('through')).toBeGreaterThanOrEqual(lengthWith('break'))
    const { shape } = route({ locations: [begin, { ...end, type: 'through' }, begin] }).trip.legs[0]!
    const places = decodeShape(shape).map(String)
    const turns = places.filter((place, i) => i > 1 && place === places[i - 2])
    expect(turns).toEqual([])
  })

  it('stays at one place when both locations are the same', () => {
    const { trip } = route({ locations: [west, west] })
    expect(trip.summary).toMatchObject({ length: 0, time: 0 })
    expect(trip.legs[0]!.maneuvers!.map(({ type }) => type)).toEqual([1, 4])
  })

  it('goes around what it excludes: places and areas', () => {
    const { trip } = route()
    const shape = decodeShape(trip.legs[0]!.shape)
    const [lon, lat] = shape[Math.floor(shape.length / 2)]!
    const around = route({ exclude_locations: [{ lon, lat }] }).trip
    expect(around.legs[0]!.shape).not.toBe(trip.legs[0]!.shape)
    expect(around.summary.cost).toBeGreaterThan(trip.summary.cost)
    const size = 0.0004
    const ring = [
      [lon - size, lat - size],
      [lon + size, lat - size],
      [lon + size, lat + size],
      [lon - size, lat + size],
    ]
    const outside = decodeShape(route({ exclude_polygons: [ring] }).trip.legs[0]!.shape)
    expect(outside.filter(([x, y]) => Math.abs(x - lon) < size && Math.abs(y - lat) < size)).toEqual([])
  })

  it('offers alternates that differ and are not cheaper', () => {
    const { trip, alternates = [] } = route({ alternates: 2 })
    const trips: Trip[] = [trip, ...alternates.map((other) => other.trip)]
    expect(new Set(trips.map(({ legs }) => legs[0]!.shape)).size).toBe(trips.length)
    expect(alternates.length).toBeGreaterThan(0)
    for (const other of alternates) expect(other.trip.summary.cost).toBeGreaterThanOrEqual(trip.summary.cost)
  })

  it('finds nothing far from the network, and says that islands are not connected', () => {
    expect(problemOf({ locations: [west, { lon: west.lon + 3, lat: west.lat }] })).toBe(171)
  })
})

describe('options of a costing', () => {
  const options = { auto: { use_highways: 0, maneuver_penalty: 30 } }

  it('give the same route before their hierarchy is ready and with it', async () => {
    const early = route({ costing_options: options })
    expect(await router.ready({ locations: [west, east], costing: 'auto', costing_options: options })).toBe(true)
    const late = route({ costing_options: options })
    expect(late.trip.summary.cost).toBeCloseTo(early.trip.summary.cost, 1)
    expect(late.trip.summary.cost).not.toBeCloseTo(route().trip.summary.cost, 1)
  })

  it('are forgotten when others are asked for, and prepared again', async () => {
    for (const speed of [4, 5, 6]) {
      const request = {
        locations: [west, east],
        costing: 'pedestrian',
        costing_options: { pedestrian: { walking_speed: speed } },
      }
      expect(await router.ready(request)).toBe(true)
    }
    expect(await router.ready({ locations: [west, east], costing: 'auto', costing_options: options })).toBe(true)
  })
})
