import polyline from '@mapbox/polyline'
import { mkdtemp, rm } from 'node:fs/promises'
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

const at = (column: number, row: number): string =>
  `${(11 + column * 0.003).toFixed(6)},${(48 + row * 0.002).toFixed(6)}`
const PATH = `${at(0, 4)};${at(4, 4)};${at(4, 7)}`

async function get(
  path: string,
  headers: Record<string, string> = { apikey: KEY },
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
): Promise<{ status: number; body: any }> {
  const response = await fetch(`${router.url}${path}`, { headers })
  return { status: response.status, body: await response.json() }
}

describe("OSRM's HTTP interface", () => {
  test('is found under the base, under its own name there, and at the root', async () => {
    const answers = await Promise.all(
      ['', ROUTING_BASE, `${ROUTING_BASE}/osrm`].map((base) => get(`${base}/route/v1/driving/${PATH}`)),
    )
    expect(answers.map(({ status, body }) => [status, body.code, body.routes.length])).toEqual(
      Array.from({ length: 3 }, () => [200, 'Ok', 1]),
    )
    expect(answers[1]!.body).toEqual(answers[0]!.body)
  })

  test('has the defaults of OSRM: no steps, five decimals, a waypoint for each coordinate', async () => {
    const { body } = await get(`/route/v1/driving/${PATH}`)
    const [route] = body.routes
    expect(route.legs.map(({ steps }: { steps: unknown[] }) => steps)).toEqual([[], []])
    const points = polyline.decode(route.geometry)
    expect(points[0]!.map((degrees) => degrees.toFixed(3))).toEqual(['48.008', '11.000'])
    expect(points.at(-1)!.map((degrees) => degrees.toFixed(3))).toEqual(['48.014', '11.012'])
    expect(body.waypoints).toHaveLength(3)
    const posted = await router.route({ ...alongStreet(0, 4), directions_type: 'none' })
    expect(route.legs[0].duration).toBeCloseTo(posted.body.trip.summary.time, 1)
  })

  test('tells steps, whole lines and annotations where they are asked for', async () => {
    const query = '?steps=true&geometries=geojson&overview=full&annotations=true&alternatives=false'
    const { body } = await get(`/route/v1/driving/${PATH}${query}`)
    const [{ geometry, legs }] = body.routes
    expect(geometry.type).toBe('LineString')
    expect(legs[0].steps.map(({ maneuver }: { maneuver: { type: string } }) => maneuver.type)).toEqual([
      'depart',
      'arrive',
    ])
    let points = 1
    for (const { annotation, distance, duration } of legs) {
      const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
      expect(sum(annotation.distance)).toBeCloseTo(distance, 0)
      expect(sum(annotation.duration)).toBeCloseTo(duration, 0)
      for (const kind of ['speed', 'weight', 'datasources'])
        expect(annotation[kind]).toHaveLength(annotation.distance.length)
      points += annotation.distance.length
    }
    expect(geometry.coordinates).toHaveLength(points)
    const limits = await get(`/route/v1/driving/${PATH}?annotations=maxspeed`)
    expect(limits.body.routes[0].legs[0].annotation.maxspeed[0]).toEqual({ unknown: true })
    const some = await get(`/route/v1/driving/${PATH}?annotations=duration,distance`)
    expect(Object.keys(some.body.routes[0].legs[0].annotation)).toEqual(['duration', 'distance'])
  })

  // maplibre-gl-directions parts the line at its waypoints, which it looks for by their coordinates.
  test.each(['simplified', 'full'])('keeps the waypoints in the line where it is %s', async (overview) => {
    const ends = '11.0013,48.008;11.0105,48.008;11.012,48.0131'
    const { body } = await get(`/route/v1/driving/${ends}?geometries=geojson&overview=${overview}`)
    const points = body.routes[0].geometry.coordinates.map(String)
    for (const { location } of body.waypoints) expect(points).toContain(String(location))
  })

  test('takes the parameters as a form', async () => {
    const init = { method: 'POST', headers: { apikey: KEY } }
    const post = async (form: string, query = '') =>
      (await fetch(`${router.url}/route/v1/driving${query}`, { ...init, body: new URLSearchParams(form) })).json()
    const { body } = await get(`/route/v1/driving/${PATH}?steps=true`)
    expect(await post(`coordinates=${PATH}&steps=true`)).toEqual(body)
    expect(await post(`coordinates=${PATH}`, '?steps=true')).toEqual(body)
    expect(await post(`coordinates=${PATH}&steps=true`, '?steps=true')).toMatchObject({ code: 'InvalidOptions' })
    expect(await post(`coordinates=${PATH}&steps=true&steps=false`)).toMatchObject({ code: 'InvalidOptions' })
    expect(await post(`coordinates=${';'.repeat(66_000)}`)).toMatchObject({ code: 'TooBig' })
  })

  test('takes coordinates as a polyline, with the ending .json too', async () => {
    const pairs = PATH.split(';').map((pair) => pair.split(',').map(Number).toReversed() as [number, number])
    const wanted = (await get(`/route/v1/driving/${PATH}`)).body.routes[0].geometry
    for (const path of [
      `${PATH}.json`,
      `polyline(${encodeURIComponent(polyline.encode(pairs))})`,
      `polyline6(${encodeURIComponent(polyline.encode(pairs, 6))})`,
    ]) {
      expect((await get(`/route/v1/driving/${path}`)).body.routes[0].geometry).toBe(wanted)
    }
  })

  test('heeds what is said of single coordinates, and what is excluded', async () => {
    const pair = `${at(2, 4)};${at(6, 4)}`
    const east = await get(`/route/v1/driving/${pair}?bearings=90,20;`)
    const west = await get(`/route/v1/driving/${pair}?bearings=270,20;`)
    expect(west.body.routes[0].distance).toBeGreaterThan(east.body.routes[0].distance)
    expect((await get(`/route/v1/driving/${pair}?radiuses=5;5`)).status).toBe(200)
    const far = '10.9,47.9'
    expect((await get(`/route/v1/driving/${far};${at(6, 4)}?radiuses=5;5`)).body.code).toBe('NoSegment')
    expect((await get(`/route/v1/driving/${pair}?exclude=motorway,ferry`)).body.warnings).toBeUndefined()
    expect((await get(`/route/v1/driving/${pair}?exclude=tunnel`)).body.warnings[0].text).toContain('exclude=tunnel')
  })

  test('takes some coordinates as waypoints and only passes the others', async () => {
    const { body } = await get(`/route/v1/driving/${PATH}?waypoints=0;2&steps=true&geometries=geojson&overview=full`)
    const [{ geometry, legs }] = body.routes
    expect([legs.length, body.waypoints.length]).toEqual([1, 3])
    const [via, ...others] = legs[0].via_waypoints
    expect([via.waypoint_index, others]).toEqual([1, []])
    expect(geometry.coordinates[via.geometry_index]).toEqual(body.waypoints[1].location)
    const first = (await get(`/route/v1/driving/${PATH}`)).body.routes[0].legs[0]
    expect(via.distance_from_start).toBeCloseTo(first.distance, 0)
  })

  test('tells tables of times, and of distances where they are asked for', async () => {
    const { body } = await get(`/table/v1/driving/${PATH}`)
    expect([body.code, body.durations.length, body.durations[0].length, body.distances]).toEqual([
      'Ok',
      3,
      3,
      undefined,
    ])
    const both = await get(`/table/v1/driving/${PATH}?sources=0&annotations=duration,distance`)
    expect([both.body.durations, both.body.distances.length]).toEqual([[body.durations[0]], 1])
  })

  test('matches traces', async () => {
    const { status, body } = await get(
      `/match/v1/driving/${at(0, 4)};${at(2, 4)};${at(4, 4)}?timestamps=0;40;80&radiuses=5;5;5`,
    )
    expect([status, body.code, body.matchings.length, body.tracepoints.length]).toEqual([200, 'Ok', 1, 3])
    const { matchings } = (await get(`/match/v1/driving/${at(0, 4)};${at(2, 4)}?geometries=geojson&overview=full`)).body
    expect(matchings[0].geometry.type).toBe('LineString')
  })

  test('finds the nearest streets, nearest first', async () => {
    const near = '11.001000,48.008100'
    const { body } = await get(`/nearest/v1/driving/${near}?number=3`)
    expect(body.code).toBe('Ok')
    expect(body.waypoints[0].name).toBe('Old Street 4')
    const distances = body.waypoints.map(({ distance }: { distance: number }) => distance)
    expect(distances).toHaveLength(3)
    expect(distances).toEqual(distances.toSorted((a: number, b: number) => a - b))
    expect((await get(`/nearest/v1/foot/${near}`)).body.waypoints).toHaveLength(1)
  })

  test('goes around coordinates and back, with the members of a route', async () => {
    const { body } = await get(`/trip/v1/driving/${PATH}?steps=true&geometries=geojson&source=first`)
    const [{ legs, geometry }] = body.trips
    expect([body.code, legs.length, geometry.coordinates[0]]).toEqual(['Ok', 3, geometry.coordinates.at(-1)])
    expect(body.waypoints.map(({ trips_index: trip }: { trips_index: number }) => trip)).toEqual([0, 0, 0])
    expect(legs[0].steps.length).toBeGreaterThan(1)
    const open = await get(`/trip/v1/driving/${PATH}?roundtrip=false&source=first&destination=last`)
    expect(open.body.trips[0].legs).toHaveLength(2)
    expect(open.body.waypoints[2].waypoint_index).toBe(2)
  })

  test.each([
    ['/trip/v1/driving/11,48', 'InvalidOptions'],
    ['/trip/v1/driving/0,0;1,1', 'NoSegment'],
    [`/trip/v1/driving/${Array.from({ length: 51 }, () => '11,48').join(';')}`, 'InvalidValue'],
    ['/trip/v1/driving/11,48;11.003,48?source=first&source=any', 'InvalidOptions'],
    ['/route/v1/driving/11,48', 'InvalidOptions'],
    ['/route/v1/driving/11;48', 'InvalidValue'],
    ['/route/v1/plane/11,48;11.003,48', 'InvalidOptions'],
    ['/route/v1/driving/0,0;1,1', 'NoSegment'],
    ['/table/v1/driving/11,48;11.003,48?sources=7', 'InvalidValue'],
    ['/nearest/v1/driving/0,0', 'NoSegment'],
    ['/match/v1/driving/0,0;0.001,0', 'NoSegment'],
    ['/match/v1/driving/11,48', 'InvalidOptions'],
    ['/match/v1/driving/11,48;11.003,48?timestamps=2;1', 'InvalidValue'],
    ['/match/v1/driving/11,48;11.003,48?radiuses=5', 'InvalidValue'],
    ['/nearest/v1/driving/11,48?number=x', 'InvalidValue'],
    ['/route/v1/driving/11,48;11.003,48?steps=true&steps=false', 'InvalidOptions'],
  ])('answers %s with %s', async (path, code) => {
    expect(await get(path)).toEqual({ status: 400, body: { code, message: expect.any(String) } })
  })

  test('asks for the same keys, in the same places', async () => {
    const path = `/route/v1/driving/${PATH}`
    expect(await get(path, {})).toMatchObject({ status: 401, body: { message: expect.stringContaining('apikey') } })
    expect((await get(`${path}?apikey=wrong`, {})).status).toBe(401)
    expect((await get(`${path}?apikey=${KEY}`, {})).status).toBe(200)
    expect((await get(path, { authorization: `Bearer ${KEY}` })).status).toBe(200)
    expect((await get('/route/v1/driving')).status).toBe(404)
    const preflight = await fetch(`${router.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example' },
    })
    expect(preflight.headers.get('access-control-allow-origin')).not.toBeNull()
  })
})

describe('banner and voice instructions', () => {
  const query = '?steps=true&banner_instructions=true&voice_instructions=true&language=de-AT'

  test('lead from step to step, in the language that is asked for', async () => {
    const { body } = await get(`/route/v1/driving/${at(0, 4)};${at(4, 7)}${query}`)
    const { steps } = body.routes[0].legs[0]
    expect(steps.length).toBeGreaterThan(2)
    for (const [i, { bannerInstructions, voiceInstructions, distance }] of steps.entries()) {
      if (i === steps.length - 1) {
        expect([bannerInstructions, voiceInstructions]).toEqual([[], []])
        continue
      }
      const { type, modifier = null } = steps[i + 1].maneuver
      const [{ distanceAlongGeometry: from, primary }] = bannerInstructions
      expect([from, primary.type, primary.modifier ?? null]).toEqual([distance, type, modifier])
      const places = voiceInstructions.map(
        ({ distanceAlongGeometry }: { distanceAlongGeometry: number }) => distanceAlongGeometry,
      )
      expect(places.every((place: number) => place >= 0 && place <= distance + 0.1)).toBe(true)
      expect(places).toEqual(places.toSorted((a: number, b: number) => b - a))
      for (const { announcement, ssmlAnnouncement } of voiceInstructions) {
        expect(ssmlAnnouncement).toBe(`<speak>${announcement}</speak>`)
      }
    }
    const texts = steps[0].voiceInstructions.map(({ announcement }: { announcement: string }) => announcement)
    expect(texts[0]).toMatch(/^Fahren Sie auf Old /)
    expect(texts.some((text: string) => /^In .* Meter: /.test(text))).toBe(true)
    expect(texts.at(-1)).toMatch(/links|rechts/)
    expect(steps[0].bannerInstructions[0].primary).toMatchObject({
      text: steps[1].name,
      components: [{ type: 'text', text: steps[1].name }],
    })
  })

  test('are in the form of OSRM alone', async () => {
    const request = { ...alongStreet(0, 8), banner_instructions: true, voice_instructions: true }
    expect((await router.route(request)).body.trip.warnings).toHaveLength(2)
    const osrm = (await router.route({ ...request, format: 'osrm' })).body as unknown as {
      routes: { legs: { steps: Record<string, unknown>[] }[] }[]
      warnings?: unknown
    }
    expect(osrm.warnings).toBeUndefined()
    expect(Object.keys(osrm.routes[0]!.legs[0]!.steps[0]!)).toEqual(
      expect.arrayContaining(['bannerInstructions', 'voiceInstructions']),
    )
  })
})
