import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTING_BASE } from '../src/app.ts'
import { alongStreet, isRoute, KEY, startRouter, writeTown, type TestRouter } from './harness.ts'

let folder: string
let router: TestRouter
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-router-'))
  await writeTown(join(folder, 'town.osm.pbf'), { name: 'Old', columns: [0, 8] })
  router = await open({ TERRANE_SETTINGS: '{"router":{"limits":{"matrix":{"pairs":250000}}}}' })
  await router.until(isRoute, alongStreet(0, 8))
})
afterAll(async () => {
  await router[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

function open(env: Readonly<Record<string, string>>): Promise<TestRouter> {
  return startRouter({
    TERRANE_ROUTING_OSM: join(folder, 'town.osm.pbf'),
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
    ...env,
  })
}

async function ask(
  action: string,
  body: unknown,
  { host = router, ...init }: RequestInit & { host?: TestRouter } = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
): Promise<{ status: number; body: any }> {
  const response = await fetch(`${host.url}${ROUTING_BASE}/${action}`, {
    method: 'POST',
    headers: { apikey: KEY },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...init,
  })
  return { status: response.status, body: await response.json() }
}

const crossing = (column: number, row: number) => ({ lat: 48 + row * 0.002, lon: 11 + column * 0.003 })
const places = (count: number, shift = 0) =>
  Array.from({ length: count }, (_, i) => crossing((i * 5 + shift) % 9, (i * 7 + shift) % 9))

describe('beside routes', () => {
  test('status tells what is served, how old it is, and where it lies', async () => {
    const { status, body } = await ask('status', { verbose: true })
    expect(status).toBe(200)
    expect(body.available_actions).toEqual([
      'route',
      'sources_to_targets',
      'optimized_route',
      'isochrone',
      'trace_route',
      'trace_attributes',
      'locate',
      'tile',
      'status',
    ])
    const { mtimeMs } = await stat(join(folder, 'graph.bin'))
    expect(body.tileset_last_modified).toBe(Math.floor(mtimeMs / 1000))
    expect(body.bbox.features[0].geometry.coordinates[0]).toContainEqual([11, 48])
  })

  test('every action is answered by GET as by POST', async () => {
    const requests = {
      status: {},
      locate: { locations: places(1), costing: 'auto' },
      isochrone: { locations: places(1), costing: 'auto', contours: [{ time: 2 }] },
      sources_to_targets: { sources: places(2), targets: places(2, 1), costing: 'auto' },
      optimized_route: { locations: places(4), costing: 'auto' },
      trace_route: { shape: [crossing(0, 4), crossing(2, 4)], costing: 'auto' },
      trace_attributes: { shape: [crossing(0, 4), crossing(2, 4)], costing: 'auto' },
    }
    for (const [action, request] of Object.entries(requests)) {
      const query = `${action}?json=${encodeURIComponent(JSON.stringify(request))}`
      expect([action, await ask(query, undefined, { method: 'GET' })]).toEqual([action, await ask(action, request)])
    }
    expect((await ask('status', undefined, { method: 'GET' })).body.version).toMatch(/\d/)
  })

  test('locate finds the street at a place', async () => {
    const { body } = await ask('locate', { locations: [{ lat: 48.0001, lon: 11.001 }], costing: 'auto' })
    expect(body).toEqual([
      {
        input_lat: 48.0001,
        input_lon: 11.001,
        edges: expect.arrayContaining([expect.objectContaining({ side_of_street: 'left' })]),
        nodes: [],
      },
    ])
  })

  test('a matrix has the times and distances of routes, and its short form the same', async () => {
    const [sources, targets] = [places(4), places(3, 2)]
    const { body } = await ask('sources_to_targets', { sources, targets, costing: 'auto' })
    const short = await ask('sources_to_targets', { sources, targets, costing: 'auto', verbose: false })
    const osrm = await ask(
      `table/v1/driving/${[...sources, ...targets].map(({ lon, lat }) => `${lon},${lat}`).join(';')}` +
        '?sources=0;1;2;3&destinations=4;5;6&annotations=duration,distance',
      undefined,
      { method: 'GET' },
    )
    for (const [i, from] of sources.entries()) {
      for (const [j, to] of targets.entries()) {
        const route = await router.route({ locations: [from, to], costing: 'auto', directions_type: 'none' })
        const { time, length } = route.body.trip.summary
        expect(body.sources_to_targets[i][j]).toMatchObject({ time: Math.round(time), distance: length })
        expect(short.body.sources_to_targets.durations[i][j]).toBe(Math.round(time))
        expect(osrm.body.durations[i][j]).toBe(Math.round(time))
        expect(osrm.body.distances[i][j]).toBeCloseTo(length * 1000, -1)
      }
    }
  })

  test('an isochrone is GeoJSON around its location', async () => {
    const request = { locations: [crossing(4, 4)], contours: [{ time: 1 }], costing: 'auto', polygons: true }
    const { status, body } = await ask('isochrone', request)
    expect(status).toBe(200)
    expect(body.type).toBe('FeatureCollection')
    expect(body.features[0].properties).toMatchObject({ contour: 1, metric: 'time' })
  })

  test('a map asks for tiles of the streets at one address, with the key in it', async () => {
    const tile = { z: 14, x: 8692, y: 5694 }
    const address = (json: object) =>
      `${router.url}${ROUTING_BASE}/tile?apikey=${KEY}&json=${encodeURIComponent(JSON.stringify(json))}`
    const got = await fetch(address({ tile }))
    expect([got.status, got.headers.get('content-type')]).toEqual([200, 'application/vnd.mapbox-vector-tile'])
    const bytes = Buffer.from(await got.arrayBuffer())
    expect(bytes.includes('edges') && bytes.includes('road_class')).toBe(true)
    const headers = { apikey: KEY }
    const posted = await fetch(`${router.url}${ROUTING_BASE}/tile`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ tile }),
    })
    expect(Buffer.from(await posted.arrayBuffer()).equals(bytes)).toBe(true)
    expect((await fetch(address({ tile: { ...tile, x: 0 } }))).status).toBe(200)
    expect(await (await fetch(address({ tile: { z: 1, x: 2, y: 0 } }))).json()).toMatchObject({ error_code: 174 })
    expect((await fetch(`${router.url}${ROUTING_BASE}/tile?json={}`)).status).toBe(401)
  })

  test.each([
    ['sources_to_targets', { sources: places(2), targets: places(2) }, 124],
    ['sources_to_targets', { sources: places(600), targets: places(600), costing: 'auto' }, 150],
    ['optimized_route', { locations: places(600), costing: 'auto' }, 150],
    ['isochrone', { locations: [crossing(1, 1)], costing: 'auto' }, 113],
    ['locate', {}, 110],
  ])('%s refuses what cannot be answered (%#)', async (action, request, code) => {
    expect(await ask(action, request)).toMatchObject({ status: 400, body: { error_code: code } })
  })

  test('actions need the key, and only the configured ones are served', async () => {
    expect((await ask('status', {}, { headers: {} })).status).toBe(401)
    await using few = await open({ TERRANE_ROUTING_ACTIONS: 'route, status' })
    await few.until(isRoute, alongStreet(0, 8))
    expect((await ask('status', {}, { host: few })).body.available_actions).toEqual(['route', 'status'])
    expect(await ask('isochrone', {}, { host: few })).toMatchObject({
      status: 404,
      body: { error_code: 106, error: "Try any of: '/route' '/status'" },
    })
  })
})

test('every schema of every route can be compiled', () => {
  expect(() => router.compileSchemas()).not.toThrow()
})

describe('a matrix that is large', () => {
  const request = { sources: places(200), targets: places(200, 3), costing: 'auto' }

  test('comes as a stream, while routes go on', async () => {
    const matrix = ask('sources_to_targets', request)
    const state = { answered: false }
    void matrix.finally(() => (state.answered = true))
    let routes = 0
    while (!state.answered) {
      expect((await router.route(alongStreet(routes % 4, 8))).status).toBe(200)
      routes++
    }
    const { status, body } = await matrix
    expect(status).toBe(200)
    expect(body.sources_to_targets).toHaveLength(200)
    expect(body.sources_to_targets[199]).toHaveLength(200)
    expect(routes).toBeGreaterThan(3)
  })

  test('is given up when the caller leaves, and others are answered', async () => {
    for (let i = 0; i < 8; i++) {
      const gone = new AbortController()
      const response = await fetch(`${router.url}${ROUTING_BASE}/sources_to_targets`, {
        method: 'POST',
        headers: { apikey: KEY },
        body: JSON.stringify(request),
        signal: gone.signal,
      })
      await response.body!.getReader().read()
      gone.abort()
    }
    const { status } = await ask('sources_to_targets', { sources: places(3), targets: places(3), costing: 'auto' })
    expect(status).toBe(200)
  })
})
