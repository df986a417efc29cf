import { hashKey } from '@terrane/auth'
import { seededRandom } from '@terrane/core'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { ROUTING_BASE } from '../src/app.ts'
import { alongStreet, isRoute, KEY, startRouter, streetsOf, writeTown, type TestRouter } from './harness.ts'

let folder: string
let router: TestRouter
let endpoint: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-router-'))
  await writeTown(join(folder, 'town.osm.pbf'), { name: 'Old', columns: [0, 8] })
  router = await startRouter({
    TERRANE_ROUTING_OSM: join(folder, 'town.osm.pbf'),
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
    TERRANE_ACCEPTED_KEYS: `${hashKey(KEY)},${hashKey('another-key-of-the-tests')}`,
    TERRANE_SETTINGS: '{"router":{"bodyLimitBytes":400000}}',
  })
  endpoint = `${router.url}${ROUTING_BASE}/route`
  await router.until(isRoute, alongStreet(0, 8))
})
afterAll(async () => {
  await router[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const problem = (error_code: number, status_code: number, status: string, error: unknown = expect.any(String)) => ({
  error_code,
  error,
  status_code,
  status,
})

const KNOWN_PATHS =
  "Try any of: '/route' '/sources_to_targets' '/optimized_route' '/isochrone' '/trace_route' '/trace_attributes' '/locate' '/tile' '/status'"

async function call(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : (JSON.parse(text) as unknown),
  }
}

describe('a route', () => {
  test('is answered with a trip, its id and its headers', async () => {
    const request = alongStreet(0, 8)
    const answer = await router.route(request)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-request-id')).toMatch(/./)
    expect(answer.body).toMatchObject({
      trip: { status: 0, status_message: 'Found route between points', units: 'kilometers' },
      id: request['id'],
    })
    expect(streetsOf(answer)).toEqual(['Old Street 4'])
  })

  test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'application/geo+json'])(
    'is read from a body of any content type (%s)',
    async (type) => {
      const init = { method: 'POST', headers: { apikey: KEY, 'content-type': type } }
      expect((await call(endpoint, { ...init, body: JSON.stringify(alongStreet(0, 8)) })).status).toBe(200)
    },
  )
})

describe('the key', () => {
  const init = { method: 'POST', body: JSON.stringify(alongStreet(0, 8)) }

  test('is taken from the query or from the header, and each configured one is good', async () => {
    expect((await call(`${endpoint}?apikey=${KEY}`, init)).status).toBe(200)
    expect((await call(endpoint, { ...init, headers: { apikey: KEY } })).status).toBe(200)
    expect((await call(`${endpoint}?apikey=another-key-of-the-tests`, init)).status).toBe(200)
  })

  test.each([
    ['as Bearer', '', { authorization: `Bearer ${KEY}` }],
    ['beside a wrong header', `?apikey=${KEY}`, { apikey: 'wrong' }],
    ['beside a wrong query', '?apikey=wrong', { apikey: KEY }],
    ['beside a Bearer that is a token of something else', '', { apikey: KEY, authorization: 'Bearer a.b.c' }],
    ['as Bearer beside a wrong header', '', { apikey: 'wrong', authorization: `bearer ${KEY}` }],
  ])('is found %s', async (_, query, headers) => {
    expect((await call(`${endpoint}${query}`, { ...init, headers })).status).toBe(200)
  })

  test('is asked for before anything else', async () => {
    const missing = problem(401_001, 401, 'Unauthorized')
    expect(await call(endpoint, init)).toMatchObject({ status: 401, body: missing })
    expect(await call(`${endpoint}?apikey=`, init)).toMatchObject({ status: 401, body: missing })
    expect(await call(endpoint, { method: 'POST', body: '{' })).toMatchObject({ status: 401, body: missing })
    expect(await call(`${router.url}${ROUTING_BASE}/unknown`)).toMatchObject({ status: 401, body: missing })
  })

  test.each([
    ['another one', `?apikey=${KEY}x`, {}],
    ['two at once', `?apikey=${KEY}&apikey=${KEY}`, {}],
    ['wrong in every place', '?apikey=wrong', { apikey: 'wrong', authorization: 'Bearer wrong' }],
    ['no Bearer', '', { authorization: `Basic ${KEY}`, apikey: 'wrong' }],
    ['all keys as one', '', { apikey: `${KEY},another-key-of-the-tests` }],
    ['a very long one', '', { apikey: 'x'.repeat(10_000) }],
  ])('is refused when it is %s', async (_, query, headers) => {
    const { status, body } = await call(`${endpoint}${query}`, { ...init, headers })
    expect({ status, body }).toEqual({ status: 401, body: problem(401_002, 401, 'Unauthorized') })
  })
})

describe('what is no route', () => {
  const headers = { apikey: KEY }

  test.each(['PUT', 'DELETE', 'PATCH', 'PROPFIND'])('%s is no method of the endpoint', async (method) => {
    const answer = await call(endpoint, { method, headers })
    expect(answer).toMatchObject({ status: 405, body: problem(101, 405, 'Method Not Allowed') })
    expect(answer.headers.get('allow')).toBe('GET, POST')
  })

  test('GET takes the request in the parameter json, once', async () => {
    const get = (query: string) => call(`${endpoint}${query}`, { headers })
    const json = encodeURIComponent(JSON.stringify(alongStreet(0, 8)))
    expect(await get(`?json=${json}`)).toMatchObject({ status: 200, body: { trip: { status: 0 } } })
    expect(await get('')).toMatchObject({ status: 400, body: problem(110, 400, 'Bad Request') })
    expect(await get('?json={')).toMatchObject({ status: 400, body: problem(100, 400, 'Bad Request') })
    expect(await get(`?json=${json}&json=${json}`)).toMatchObject({ status: 400, body: { error_code: 100 } })
    expect(await call(`${endpoint}?json=${json}`)).toMatchObject({ status: 401 })
  })

  test.each(['', '/', '/trace_routes', '/route/more', '/ROUTE', '/%zz'])(
    'the path %s does not exist under the base',
    async (path) => {
      const answer = await call(`${router.url}${ROUTING_BASE}${path}`, { method: 'POST', headers, body: '{}' })
      expect(answer).toMatchObject({ status: 404, body: problem(106, 404, 'Not Found', KNOWN_PATHS) })
    },
  )

  test.each([
    ['', 110],
    ['{', 100],
    ['[]', 100],
    ['null', 100],
    ['"text"', 100],
    ['\u0000', 100],
    ['{}', 110],
    ['{"locations":[]}', 110],
    ['{"locations":[{"lat":48,"lon":11}]}', 120],
    ['{"locations":[{"lat":48,"lon":11},{"lat":48,"lon":11}]}', 124],
    ['{"costing":"plane"}', 125],
    ['{"locations":[{"lat":91,"lon":11},{"lat":48,"lon":11}],"costing":"auto"}', 130],
    ['{"locations":[{"lat":0,"lon":0},{"lat":0,"lon":1}],"costing":"auto"}', 171],
  ])('the body %s is answered with error %i', async (body, code) => {
    const answer = await router.route(body)
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 400,
      body: problem(code, 400, 'Bad Request'),
    })
  })

  test('a body over the limit is refused', async () => {
    const answer = await router.route(`{"id":"${'x'.repeat(400_000)}"}`)
    expect(answer).toMatchObject({ status: 413, body: problem(413_001, 413, 'Payload Too Large') })
  })

  test('the answer to a huge body is there for a client that looks for it only after sending', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(router.url).port), '127.0.0.1')
      const body = Buffer.alloc(20_000_000, ' ')
      socket.on('error', reject)
      socket.write(`POST ${ROUTING_BASE}/route HTTP/1.1\r\nhost: router\r\napikey: ${KEY}\r\n`)
      socket.write(`content-length: ${body.length}\r\n\r\n`)
      socket.write(body, () => {
        socket.once('data', (data: Buffer) => {
          socket.destroy()
          resolve(String(data))
        })
      })
    })
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer).toContain('"error_code":413001')
  })

  test('outside of the base there are only health and metrics', async () => {
    expect((await call(`${router.url}/route`, { method: 'POST', headers, body: '{}' })).status).toBe(404)
    expect(await call(`${router.url}/health/live`)).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await call(`${router.url}/health/ready`)).toMatchObject({ status: 200, body: { checks: { graph: 'ok' } } })
    expect((await fetch(`${router.url}/metrics`)).status).toBe(401)
  })
})

test('browsers may call from other origins: the preflight needs no key', async () => {
  const headers = { origin: 'https://map.example', 'access-control-request-method': 'POST' }
  const preflight = await call(endpoint, { method: 'OPTIONS', headers })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  const refused = await call(endpoint, { method: 'POST', headers, body: '{}' })
  expect(refused.status).toBe(401)
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
})

test('metrics count answers by error code', async () => {
  const before = await router.metric('routing_answers_total{action="route",code="120"')
  await router.route('{"locations":[{"lat":48,"lon":11}]}')
  expect(await router.metric('routing_answers_total{action="route",code="120"')).toBe(before + 1)
  expect(await router.metric('routing_answers_total{action="route",code="0"')).toBeGreaterThan(0)
  expect(await router.metric('routing_graph_nodes')).toBe(81)
})

describe('hostile bodies', () => {
  const [from, to] = alongStreet(0, 8)['locations'] as object[]

  test.each<[string, string, number]>([
    ['10,000 locations', JSON.stringify({ locations: Array(10_000).fill(from), costing: 'auto' }), 150],
    ['coordinates of 1e308', JSON.stringify({ locations: [{ lat: 48, lon: 1e308 }, to], costing: 'auto' }), 154],
    ['coordinates of 1e999', '{"locations":[{"lat":1e999,"lon":-1e999},{"lat":48,"lon":11}],"costing":"auto"}', 130],
    ['100,000 open brackets', '['.repeat(100_000), 100],
    ['100,000 nested objects', `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`, 100],
    ['deep nesting in a known field', `{"locations":${'['.repeat(1000)}${']'.repeat(1000)}}`, 100],
    ['30,000 fields', JSON.stringify(Object.fromEntries(Array(30_000).entries())), 110],
    ['__proto__', '{"__proto__":{"locations":[]},"constructor":1,"costing":"constructor"}', 125],
    ['a very long costing', JSON.stringify({ costing: 'x'.repeat(300_000) }), 125],
    [
      'many empty rings',
      JSON.stringify({
        locations: [from, to],
        costing: 'auto',
        exclude_polygons: Array.from({ length: 50_000 }, () => []),
      }),
      0,
    ],
    [
      'a ring of 10,000 points',
      JSON.stringify({
        locations: [from, to],
        costing: 'auto',
        exclude_polygons: [
          Array.from({ length: 10_000 }, (_, i) => [11.01 + Math.sin(i) / 1e8, 48.003 + Math.cos(i) / 1e8]),
        ],
      }),
      0,
    ],
    [
      'a ring of 9,000 points around streets',
      JSON.stringify({
        locations: [from, to],
        costing: 'auto',
        exclude_polygons: [
          Array.from({ length: 9000 }, (_, i) => [
            Number((11.012 + Math.sin(i / 1433) / 400).toFixed(7)),
            Number((48.008 + Math.cos(i / 1433) / 400).toFixed(7)),
          ]),
        ],
      }),
      0,
    ],
    [
      'a number of 300,000 digits and a letter',
      JSON.stringify({ locations: [{ lat: `${'4'.repeat(300_000)}x`, lon: 11 }, to], costing: 'auto' }),
      130,
    ],
    [
      'a filter that lets no street pass',
      JSON.stringify({
        locations: [{ ...from, search_filter: { min_road_class: 'motorway', max_road_class: 'service_other' } }, to],
        costing: 'auto',
      }),
      171,
    ],
    [
      'fifty stops in an endless radius on a street with a long name',
      JSON.stringify({
        locations: Array.from({ length: 50 }, () => ({ ...from, radius: 1e9, street: 'x'.repeat(5000) })),
        costing: 'bus',
      }),
      0,
    ],
    ['50,000 lone surrogates', `{"id":"${String.raw`\ud800`.repeat(50_000)}","costing":"auto"}`, 110],
    ['the same field 20,000 times', `{${'"locations":[1],'.repeat(20_000)}"costing":"auto"}`, 130],
    [
      '10,000 excluded locations',
      JSON.stringify({ locations: [from, to], costing: 'auto', exclude_locations: Array(10_000).fill(from) }),
      157,
    ],
    ['a billion alternates', JSON.stringify({ locations: [from, to], costing: 'auto', alternates: 1e9 }), 0],
    [
      'a very long street',
      JSON.stringify({ locations: [{ ...from, street: 'x'.repeat(300_000) }, to], costing: 'auto' }),
      0,
    ],
  ])('%s', async (_, body, code) => {
    const answer = await router.route(body)
    expect(answer.body.error_code ?? 0).toBe(code)
    expect(answer.status).toBe(code === 0 ? 200 : 400)
  })

  const NAMES = `
    costing units language directions_type id alternates exclude_locations exclude_polygons
    avoid_locations avoid_polygons costing_options directions_options date_time shape_format format
    narrative locations verbose elevation_interval recostings`
    .trim()
    .split(/\s+/)
  const LOCATION_NAMES = `
    lat lon type street name heading heading_tolerance radius minimum_reachability rank_candidates
    search_cutoff node_snap_tolerance street_side_tolerance street_side_max_distance
    street_side_cutoff preferred_side display_lat display_lon waiting search_filter date_time`
    .trim()
    .split(/\s+/)
  const OPTION_NAMES = `
    top_speed use_highways use_tolls use_ferry height weight maneuver_penalty shortest bicycle_type
    cycling_speed use_hills walking_speed type country_crossing_cost ignore_access`
    .trim()
    .split(/\s+/)
  const SCALARS = [
    null,
    true,
    false,
    0,
    -1,
    0.5,
    -0,
    1e308,
    -1e308,
    5e-324,
    2 ** 53,
    -(2 ** 31),
    '',
    'x',
    '1e308',
    'NaN',
  ]
  const NESTED = [[], {}, [[]], [{}], [null], { lat: 'a' }, { type: {} }, [1, 2, 3], [[[1, 2]]], { length: -1 }]
  const VALUES: readonly unknown[] = [...SCALARS, ...NESTED, '0x10', '\ud800', '💥']

  test('wrong types in every field are answered with a route or an error of the caller', async () => {
    const costings = ['auto', 'bicycle', 'pedestrian', 'truck', 'motor_scooter']
    const random = seededRandom(20)
    const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!
    const bodies: string[] = []
    for (const value of VALUES) {
      for (const name of NAMES) bodies.push(JSON.stringify({ ...alongStreet(0, 8), [name]: value }))
      for (const name of LOCATION_NAMES) {
        bodies.push(JSON.stringify({ ...alongStreet(0, 8), locations: [from, { ...to, [name]: value }] }))
      }
      for (const name of OPTION_NAMES) {
        const costing = pick(costings)
        bodies.push(
          JSON.stringify({ ...alongStreet(0, 8), costing, costing_options: { [costing]: { [name]: value } } }),
        )
      }
    }
    // Several faults at once, whose effects meet in the search.
    for (let i = 0; i < 300; i++) {
      const spoil = (names: readonly string[]) => Object.fromEntries([1, 2, 3].map(() => [pick(names), pick(VALUES)]))
      const locations = [from, { ...from, ...spoil(LOCATION_NAMES) }, { ...to, ...spoil(LOCATION_NAMES) }]
      const costing = pick(costings)
      const spoilt = random() < 0.3 ? spoil(NAMES) : {}
      bodies.push(
        JSON.stringify({ locations, costing, costing_options: { [costing]: spoil(OPTION_NAMES) }, ...spoilt }),
      )
    }
    const wrong: string[] = []
    for (const body of bodies) {
      const answer = await router.inject(body)
      const isProblem = answer.status === 400 && answer.body.error_code >= 100 && answer.body.error_code < 500
      const isTrip = answer.status === 200 && answer.body.trip.status === 0
      if (!isProblem && !isTrip) wrong.push(`${answer.status} ${answer.body.error_code}: ${body}`)
    }
    expect(wrong).toEqual([])
    expect(bodies.length).toBeGreaterThan(1500)
  })
})
