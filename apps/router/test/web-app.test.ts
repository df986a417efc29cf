import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTING_BASE } from '../src/app.ts'
import { alongStreet, isRoute, KEY, startRouter, writeTown, type TestRouter } from './harness.ts'

// Requests as Valhalla's web app builds them (github.com/valhalla/web-app, src/utils/valhalla.ts, January 2026).
let folder: string
let router: TestRouter
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-router-'))
  await writeTown(join(folder, 'town.osm.pbf'), { name: 'Old', columns: [0, 8] })
  router = await startRouter({
    TERRANE_ROUTING_OSM: join(folder, 'town.osm.pbf'),
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
  })
  await router.until(isRoute, alongStreet(0, 8))
})
afterAll(async () => {
  await router[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const COSTINGS = ['auto', 'truck', 'bus', 'motor_scooter', 'motorcycle', 'bicycle', 'pedestrian']
const LOCATIONS = [
  { lon: 11, lat: 48, type: 'break' },
  { lon: 11.006, lat: 48.004, type: 'via' },
  { lon: 11.012, lat: 48.002, type: 'break' },
]
const SETTINGS = {
  maneuver_penalty: 5,
  country_crossing_penalty: 0,
  country_crossing_cost: 600,
  width: 1.6,
  height: 1.9,
  use_highways: 1,
  use_tolls: 1,
  use_ferry: 1,
  ferry_cost: 300,
  use_living_streets: 0.5,
  use_tracks: 0,
  private_access_penalty: 450,
  ignore_closures: false,
  ignore_restrictions: false,
  ignore_access: false,
  closure_factor: 9,
  service_penalty: 15,
  service_factor: 1,
  exclude_unpaved: false,
  shortest: false,
  exclude_cash_only_tolls: false,
  bicycle_type: 'Hybrid',
  cycling_speed: 20,
  use_roads: 0.5,
  use_hills: 0.5,
  avoid_bad_surfaces: 0.25,
  walking_speed: 5.1,
  top_speed: 140,
  fixed_speed: 0,
  toll_booth_penalty: 0,
  toll_booth_cost: 15,
  gate_penalty: 300,
  gate_cost: 30,
  include_hov2: false,
  disable_hierarchy_pruning: false,
}

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
async function get(action: string, json: object): Promise<{ status: number; body: any }> {
  const query = new URLSearchParams({ json: JSON.stringify(json) })
  const headers = { apikey: KEY, 'content-type': 'application/json' }
  const response = await fetch(`${router.url}${ROUTING_BASE}/${action}?${query.toString()}`, { headers })
  return { status: response.status, body: await response.json() }
}

describe.each(COSTINGS)("Valhalla's web app, by %s", (costing) => {
  const request = (more: object) => ({
    costing,
    costing_options: { [costing]: SETTINGS },
    locations: LOCATIONS,
    units: 'kilometers',
    ...more,
  })

  test('draws routes, alternates and times among them', async () => {
    const more = { exclude_polygons: [], alternates: 2, id: 'valhalla_directions', language: 'de-DE' }
    const { status, body } = await get('route', request({ ...more, date_time: { type: 1, value: '2026-06-03T12:00' } }))
    expect([status, body.id]).toEqual([200, 'valhalla_directions'])
    expect(body.trip.legs[0].maneuvers.length).toBeGreaterThan(1)
    expect(Object.keys(body.trip.summary)).toEqual(expect.arrayContaining(['min_lat', 'max_lon', 'time', 'length']))
  })

  test('draws the best order of stops', async () => {
    const { status, body } = await get(
      'optimized_route',
      request({ id: 'valhalla_optimized_route', language: 'en-US' }),
    )
    expect(status).toBe(200)
    expect(body.trip.locations.map((one: { original_index: number }) => one.original_index)).toEqual([0, 1, 2])
  })

  test('draws isochrones with the places that they are of', async () => {
    const contours = [{ time: 5 }, { time: 10 }]
    const more = { polygons: true, denoise: 0.1, generalize: 0, show_locations: true, contours }
    const { status, body } = await get('isochrone', request({ ...more, locations: LOCATIONS.slice(0, 1), id: 'x' }))
    const types = body.features.map((feature: { geometry: { type: string } }) => feature.geometry.type)
    expect([status, types.includes('Polygon'), types.some((type: string) => type.endsWith('Point'))]).toEqual([
      200,
      true,
      true,
    ])
  })
})

test("Valhalla's web app connects to a server that tells its actions, and draws its tiles", async () => {
  const status = await fetch(`${router.url}${ROUTING_BASE}/status`, { headers: { apikey: KEY } })
  const { available_actions: actions } = (await status.json()) as { available_actions: string[] }
  expect(actions).toEqual(expect.arrayContaining(['route', 'isochrone']))
  const json = encodeURIComponent('{"verbose": true, "tile":{"z":14,"x":8692,"y":5670}}')
  const tile = await fetch(`${router.url}${ROUTING_BASE}/tile?json=${json}`, { headers: { apikey: KEY } })
  expect([tile.status < 300, await tile.arrayBuffer()]).toEqual([true, expect.anything()])
})

test('elevation is refused with a place to ask for it', async () => {
  const { status, body } = await get('height', { shape: [{ lat: 48, lon: 11 }] })
  expect([status, body.error_code, body.error]).toEqual([501, 501_001, expect.stringContaining('elevation tiles')])
})
