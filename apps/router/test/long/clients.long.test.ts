// Clients that others wrote for Valhalla and OSRM, unmodified, against a running router.
// Slow: it builds two graphs, reads some 700 answers member by member and opens pages in a browser.
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import polyline from '@mapbox/polyline'
import { seededRandom } from '@terrane/core'
import { blockElements, fileSource, openOsm, writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { installPeers } from '@terrane/testing/peers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ROUTING_BASE } from '../../src/app.ts'
import { KEY, startRouter, type TestRouter } from '../harness.ts'
import { type FerrostarAnswer, ferrostarRequest, readAsFerrostar } from '../support/ferrostar.ts'
import { CHROMIUM, saidByPage } from '../support/page.ts'

// oxlint-disable-next-line node/no-process-env -- where the data lies is a matter of the machine
const SHARED = process.env['TERRANE_SHARED'] ?? resolve(import.meta.dirname, '../../../../../shared')
const EXTRACT = join(SHARED, 'data/osm/liechtenstein-2021.osm.pbf')
const ROUTES = 100
const READ_ROUTES = 40
const PROFILES = ['driving', 'cycling', 'walking'] as const
const COSTINGS = ['auto', 'bicycle', 'pedestrian'] as const

type Place = readonly [lon: number, lat: number]

const packages = installPeers('routing-clients')
const noPackages = packages === null ? ' (SKIPPED: infra/peers/routing-clients could not be installed)' : ''
const noBrowser = CHROMIUM === undefined ? ' (SKIPPED: no Chromium; set CHROMIUM_PATH)' : ''
const noExtract = existsSync(EXTRACT) ? '' : ' (SKIPPED: no extract; set TERRANE_SHARED to the folder of test data)'
// oxlint-disable-next-line typescript/no-explicit-any -- a module of others, without types here
const load = (name: string): any => createRequire(join(packages ?? '', 'x.js'))(name)

let folder: string
let town: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-clients-'))
  town = join(folder, 'town.osm.pbf')
  const { elements, header } = buildCity()
  await writeFile(town, writePbf(elements, header))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A router on an extract, and places on its streets. */
interface Served {
  readonly router: TestRouter
  readonly places: readonly Place[]
}

async function serve(extract: string): Promise<Served> {
  const places = await placesOf(extract)
  const graph = join(folder, `${places.length}.bin`)
  const router = await startRouter({ TERRANE_ROUTING_OSM: extract, TERRANE_ROUTING_GRAPH: graph })
  const [lon, lat] = places[0]!
  const locations = [
    { lon, lat },
    { lon, lat },
  ]
  await router.until(({ status }) => status !== 503, { locations, costing: 'auto' })
  return { router, places }
}

/** The first points of streets. */
async function placesOf(extract: string): Promise<Place[]> {
  const firsts = new Set<number>()
  const places: Place[] = []
  const STREETS = /^(?:residential|tertiary|secondary|primary|unclassified|living_street)$/
  const reader = await openOsm(await fileSource(extract))
  await reader.read((block) => {
    for (const element of blockElements(block)) {
      if (element.type === 'way' && STREETS.test(element.tags?.['highway'] ?? '')) firsts.add(element.refs[0]!)
    }
  })
  await reader.read((block) => {
    for (const element of blockElements(block)) {
      if (element.type === 'node' && firsts.has(element.id)) places.push([element.lon, element.lat])
    }
  })
  return places
}

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
async function osrm(router: TestRouter, path: string): Promise<any> {
  return (await fetch(`${router.url}${path}`, { headers: { apikey: KEY } })).json()
}

/** Endless random lists of places. */
function* drawn(places: readonly Place[], count: number): Generator<Place[]> {
  const random = seededRandom(37)
  for (;;) yield Array.from({ length: count }, () => places[Math.floor(random() * places.length)]!)
}

const MAPS = [
  { name: 'the demo town', extract: () => town, why: '' },
  { name: 'Liechtenstein', extract: () => EXTRACT, why: noExtract },
]

for (const { name, extract, why } of MAPS) {
  describe.skipIf(why !== '')(`in ${name}${why}`, () => {
    let served: Served
    beforeAll(async () => {
      served = await serve(extract())
    })
    afterAll(() => served.router[Symbol.asyncDispose]())

    describe.skipIf(packages === null)(`osrm-text-instructions 0.15.0${noPackages}`, () => {
      test(`makes a sentence of every step of ${ROUTES} random routes, in each of its languages`, async () => {
        const makeWords = load('osrm-text-instructions')('v5')
        const { supportedCodes } = load('osrm-text-instructions/languages')
        const log = vi.spyOn(console, 'log')
        const faults: string[] = []
        let [routes, steps] = [0, 0]
        for (const places of drawn(served.places, 3)) {
          const profile = PROFILES[routes % PROFILES.length]
          const answer = await osrm(served.router, `/route/v1/${profile}/${places.join(';')}?steps=true`)
          if (answer.code !== 'Ok') continue
          const { legs } = answer.routes[0]
          for (const [legIndex, leg] of legs.entries()) {
            for (const step of leg.steps) {
              for (const language of supportedCodes) {
                const sentence: string = makeWords.compile(language, step, { legIndex, legCount: legs.length })
                if (!/^[^{}]+$/.test(sentence) || /undefined|null/.test(sentence))
                  faults.push(`${language}: ${sentence}`)
              }
              steps++
            }
          }
          if (++routes === ROUTES) break
        }
        expect(faults).toEqual([])
        // It reports unknown types of maneuvers.
        expect(log.mock.calls).toEqual([])
        expect(steps).toBeGreaterThan(4 * ROUTES)
      })
    })

    describe('a reader with the models of Ferrostar', () => {
      test.each(COSTINGS)(`reads ${READ_ROUTES} random routes by %s`, async (costing) => {
        let routes = 0
        for (const places of drawn(served.places, 4)) {
          const { status, body } = await served.router.route(ferrostarRequest(places, costing, [2]))
          if (status !== 200) continue
          const answer = readAsFerrostar(body)
          expect(answer.waypoints).toHaveLength(4)
          for (const route of answer.routes) checkRoute(answer, route)
          if (++routes === READ_ROUTES) break
        }
      })
    })
  })
}

describe.skipIf(packages === null)(`clients on the demo town${noPackages}`, () => {
  let served: Served
  let url: string
  let near: Place[]
  beforeAll(async () => {
    served = await serve(town)
    url = served.router.url
    // Three that are connected by all profiles, the first two by more than one route.
    for (const places of drawn(served.places, 3)) {
      near = places
      const between = await osrm(served.router, `/route/v1/driving/${places.slice(0, 2).join(';')}?alternatives=true`)
      if (between.routes?.length !== 2) continue
      const answers = PROFILES.map((profile) => osrm(served.router, `/route/v1/${profile}/${places.join(';')}`))
      if ((await Promise.all(answers)).every(({ code, routes }) => code === 'Ok' && routes[0].distance > 1000)) break
    }
  })
  afterAll(() => served.router[Symbol.asyncDispose]())

  describe('@routingjs 0.3.0', () => {
    const reversed = () => near.map(([lon, lat]) => [lat, lon])
    const valhalla = () => {
      const { Valhalla } = load('@routingjs/valhalla')
      return new Valhalla({ baseUrl: `${url}${ROUTING_BASE}`, headers: { apikey: KEY } })
    }
    const openOsrm = (more = {}) => {
      const { OSRM } = load('@routingjs/osrm')
      return new OSRM({ baseUrl: url, headers: { apikey: KEY }, ...more })
    }

    test.each(COSTINGS)("finds Valhalla's routes by %s", async (costing) => {
      const options = { instructions: true, units: 'km', language: 'de-DE', alternatives: 0 }
      const { directions } = await valhalla().directions(reversed(), costing, options)
      const { geometry, properties } = directions[0].feature
      const answer = await served.router.route({ locations: near.map(([lon, lat]) => ({ lon, lat })), costing })
      const { length, time } = answer.body.trip.summary
      expect([properties.distance, properties.duration]).toEqual([expect.closeTo(length, 2), expect.closeTo(time, 1)])
      const [first, last] = [geometry.coordinates[0], geometry.coordinates.at(-1)]
      expect(Math.max(far(first, near[0]!), far(last, near[2]!))).toBeLessThan(1e-3)
    })

    test('finds alternates', async () => {
      const found = await valhalla().directions(reversed().slice(0, 2), 'auto', { alternatives: 2 })
      expect(found.directions.length).toBeGreaterThan(1)
    })

    test("finds Valhalla's matrices, isochrones and matched traces", async () => {
      const { durations, distances } = await valhalla().matrix(reversed(), 'auto')
      expect(durations.map((row: number[], i: number) => row[i])).toEqual([0, 0, 0])
      expect(durations.flat().filter((seconds: number) => seconds > 0)).toHaveLength(6)
      expect(distances.flat().filter((meters: number) => meters > 0)).toHaveLength(6)
      const { isochrones } = await valhalla().reachability(reversed()[0], 'pedestrian', [300, 600], { polygons: true })
      expect(
        isochrones.map(({ feature }: { feature: { geometry: { type: string } } }) => feature.geometry.type),
      ).toEqual(['Polygon', 'Polygon'])
      const route = (await osrm(served.router, `/route/v1/driving/${near.join(';')}?overview=full&geometries=geojson`))
        .routes[0]
      const trace = route.geometry.coordinates.map(([lon, lat]: Place) => [lat, lon])
      const { directions } = await valhalla().mapMatch(trace, 'auto', { shapeMatch: 'map_snap' })
      expect(Math.abs(directions[0].feature.properties.distance - route.distance / 1000)).toBeLessThan(0.05)
    })

    test('reads errors', async () => {
      const found = valhalla().directions(
        [
          [0, 0],
          [0, 1],
        ],
        'auto',
      )
      await expect(found).rejects.toMatchObject({ properties: { statusCode: 400, errorCode: 171 } })
      // Without that option this version fails at its own code.
      const routes = openOsrm({ retryOverQueryLimit: true }).directions(
        [
          [0, 0],
          [0, 1],
        ],
        'driving',
      )
      await expect(routes).rejects.toMatchObject({ properties: { statusCode: 400, errorCode: 'NoSegment' } })
    })

    test.each(PROFILES)("finds OSRM's routes and tables by %s", async (profile) => {
      const options = {
        steps: true,
        annotations: true,
        overview: 'full',
        alternatives: false,
        bearings: [null, null, null],
      }
      const { directions, raw } = await openOsrm().directions(reversed(), profile, options)
      const { properties, geometry } = directions[0].feature
      expect(properties.distance).toBe(Math.round(raw.routes[0].distance))
      expect(geometry.coordinates.length).toBeGreaterThan(10)
      const { durations } = await openOsrm().matrix(reversed(), profile, { sources: [0, 1], destinations: [2] })
      expect([durations.length, durations.flat().every((seconds: number) => seconds > 0)]).toEqual([2, true])
    })
  })

  describe.skipIf(CHROMIUM === undefined)(`on a page in Chromium${noBrowser}`, () => {
    test('leaflet-routing-machine 3.2.12 shows a route, its words and its alternatives', async () => {
      const shown = (await saidByPage(leafletPage(url, near), packages!)) as LeafletShown
      const direct = await osrm(served.router, `/route/v1/driving/${near.join(';')}`)
      expect(shown.three.summary.totalDistance).toBeCloseTo(direct.routes[0].distance, 0)
      expect(shown.three.waypoints).toBe(3)
      expect(shown.three.lines).toBeGreaterThan(0)
      expect(shown.three.words).toHaveLength(shown.three.steps)
      for (const words of shown.three.words) expect(words).toMatch(/^[^{}]*\w[^{}]*$/)
      expect(shown.two.routes).toBeGreaterThan(1)
      expect(shown.status).toBe(400)
    })

    test('lrm-valhalla 0.1.1 shows the route and words of Valhalla', async () => {
      const shown = (await saidByPage(lrmValhallaPage(url, near), packages!)) as LrmValhallaShown
      const locations = near.map(([lon, lat], i) => ({ lon, lat, type: i === 1 ? 'through' : 'break' }))
      const { trip } = (await served.router.route({ locations, costing: 'auto' })).body
      expect(shown.summary).toEqual({ totalDistance: trip.summary.length, totalTime: trip.summary.time })
      expect(shown.words).toEqual(trip.legs[0]!.maneuvers!.map(({ instruction }) => instruction))
      expect(shown.rows).toBe(shown.words.length)
    })

    test('maplibre-gl-directions 0.9.1 draws routes through waypoints that are added and removed', async () => {
      const shown = (await saidByPage(maplibrePage(url, near), packages!)) as MaplibreShown
      expect(shown.codes).toEqual(['Ok', 'Ok', 'Ok', 'Ok'])
      expect(shown.points).toEqual({ WAYPOINT: 2, SNAPPOINT: 2 })
      expect(shown.legs).toBe(2)
      for (const [i, place] of shown.snapped.entries()) expect(far(place, near[i]!)).toBeLessThan(1e-3)
      expect(shown.lines).toBeGreaterThan(0)
    })
  })
})

interface LeafletShown {
  readonly three: {
    summary: { totalDistance: number }
    waypoints: number
    lines: number
    words: string[]
    steps: number
  }
  readonly two: { routes: number }
  readonly status: number
}

function leafletPage(url: string, places: readonly Place[]): string {
  return `<link rel="stylesheet" href="/packages/leaflet/dist/leaflet.css">
<script src="/packages/leaflet/dist/leaflet.js"></script>
<script src="/packages/leaflet-routing-machine/dist/leaflet-routing-machine.js"></script>
<div id="map" style="width: 600px; height: 400px"></div>
<script>
const places = ${JSON.stringify(places.map(([lon, lat]) => [lat, lon]))}.map(([lat, lon]) => L.latLng(lat, lon))
const map = L.map('map').setView(places[0], 14)
const router = L.Routing.osrmv1({ serviceUrl: '${url}/route/v1', requestParameters: { apikey: '${KEY}' } })
const control = L.Routing.control({ router, waypoints: places, showAlternatives: true }).addTo(map)
const next = (name) => new Promise((done) => control.once(name, (event) => setTimeout(() => done(event), 0)))
async function main() {
  const [three] = (await next('routesfound')).routes
  const rows = document.querySelectorAll('.leaflet-routing-alt:first-of-type tr')
  const words = [...rows].map((row) => row.textContent)
  const lines = document.querySelectorAll('path.leaflet-interactive').length
  control.setWaypoints(places.slice(0, 2))
  const two = (await next('routesfound')).routes.length
  control.setWaypoints([L.latLng(0, 0), L.latLng(0, 1)])
  const { error } = await next('routingerror')
  const { summary, waypoints, instructions } = three
  say({ three: { summary, waypoints: waypoints.length, lines, words, steps: instructions.length }, two: { routes: two }, status: error.target.status })
}
main()
</script>`
}

interface LrmValhallaShown {
  readonly summary: { totalDistance: number; totalTime: number }
  readonly words: string[]
  readonly rows: number
}

/** It sends its token as `api_key`, so that the key follows the token. */
function lrmValhallaPage(url: string, places: readonly Place[]): string {
  return `<script src="/packages/leaflet/dist/leaflet.js"></script>
<script src="/packages/leaflet-routing-machine/dist/leaflet-routing-machine.js"></script>
<script src="/packages/lrm-valhalla/dist/lrm-valhalla.js"></script>
<div id="map" style="width: 600px; height: 400px"></div>
<script>
const waypoints = ${JSON.stringify(places.map(([lon, lat]) => [lat, lon]))}.map(([lat, lon]) => L.latLng(lat, lon))
const map = L.map('map').setView(waypoints[0], 14)
const router = L.Routing.valhalla('-&apikey=${KEY}', 'auto', {})
router.options.serviceUrl = '${url}${ROUTING_BASE}/'
const control = L.Routing.control({ router, waypoints, formatter: new L.Routing.Valhalla.Formatter() }).addTo(map)
control.once('routingerror', ({ error }) => fail(error))
control.once('routesfound', ({ routes: [{ summary, instructions }] }) => setTimeout(() => {
  const words = instructions.map(({ instruction }) => instruction)
  say({ summary, words, rows: document.querySelectorAll('.leaflet-routing-alt tr').length })
}, 0))
</script>`
}

interface MaplibreShown {
  readonly codes: string[]
  readonly points: Record<string, number>
  readonly legs: number
  readonly snapped: Place[]
  readonly lines: number
}

function maplibrePage(url: string, places: readonly Place[]): string {
  return `<link rel="stylesheet" href="/packages/maplibre-gl/dist/maplibre-gl.css">
<script src="/packages/maplibre-gl/dist/maplibre-gl.js"></script>
<div id="map" style="width: 600px; height: 400px"></div>
<script type="module">
import MapLibreGlDirections from '/packages/@maplibre/maplibre-gl-directions/dist/maplibre-gl-directions.js'
const places = ${JSON.stringify(places)}
const style = { version: 8, sources: {}, layers: [] }
const map = new maplibregl.Map({ container: 'map', style, center: places[0], zoom: 13 })
map.on('error', ({ error }) => fail(error))
await map.once('load')
const requestOptions = { apikey: '${KEY}', overview: 'full', alternatives: 'true' }
const directions = new MapLibreGlDirections(map, { api: '${url}/route/v1', requestOptions })
const codes = []
let found
directions.on('fetchroutesend', ({ data }) => {
  found = data.directions
  codes.push(found.code)
})
await directions.setWaypoints(places.slice(0, 2))
await directions.addWaypoint(places[2])
const legs = found.routes[0].legs.length
const snapped = found.waypoints.map(({ location }) => location)
await directions.removeWaypoint(1)
await directions.setWaypoints(places.slice(0, 2))
await map.once('idle')
const { data } = map.getSource('maplibre-gl-directions').serialize()
const points = {}
for (const { geometry, properties } of data.features) {
  if (geometry.type === 'Point') points[properties.type] = (points[properties.type] ?? 0) + 1
}
const lines = map.queryRenderedFeatures({ layers: ['maplibre-gl-directions-routeline'] }).length
say({ codes, points, legs, snapped, lines })
</script>`
}

type Route = FerrostarAnswer['routes'][number]
type Leg = Route['legs'][number]

function pointsOf(geometry: string): Place[] {
  return polyline.decode(geometry, 6).map(([lat, lon]) => [lon, lat])
}

/** Assumptions of Ferrostar: pieces fit together, and banners and spoken instructions belong to their step. */
function checkRoute(answer: FerrostarAnswer, route: Route): void {
  expect(route.legs).toHaveLength(2)
  const line = pointsOf(route.geometry)
  let point = 0
  for (const leg of route.legs) {
    point += checkLeg(leg, line.slice(point))
  }
  expect(point).toBe(line.length - 1)
  const vias = route.legs.map(({ via_waypoints: passed }) => passed)
  expect(vias.map((passed) => passed.map(({ waypoint_index: i }) => i))).toEqual([[], [2]])
  const [via] = vias[1]!
  const leg = pointsOfLeg(route.legs[1]!)
  expect(far(leg[via!.geometry_index]!, answer.waypoints[2]!.location)).toBeLessThan(1e-5)
  const until = route.legs[1]!.annotation!['distance']!.slice(0, via!.geometry_index) as number[]
  expect(Math.abs(sumOf(until) - via!.distance_from_start)).toBeLessThan(1)
}

function pointsOfLeg({ steps }: Leg): Place[] {
  return steps.slice(0, -1).flatMap(({ geometry }, i) => pointsOf(geometry).slice(i === 0 ? 0 : 1))
}

/** Checks a leg; gives how many stretches of the line it takes. */
function checkLeg(leg: Leg, line: readonly Place[]): number {
  const points = pointsOfLeg(leg)
  expect(line.slice(0, points.length)).toEqual(points)
  const { annotation, steps } = leg
  expect(Object.keys(annotation!).toSorted()).toEqual(['distance', 'duration', 'maxspeed', 'speed'])
  for (const values of Object.values(annotation!)) expect(values).toHaveLength(points.length - 1)
  for (const [kind, total] of [
    ['distance', leg.distance],
    ['duration', leg.duration],
  ] as const) {
    expect(Math.abs(sumOf(annotation![kind] as number[]) - total)).toBeLessThan(1)
  }
  for (const limit of annotation!['maxspeed']!)
    expect(Object.keys(limit as object).join()).toMatch(/^(?:speed,unit|none|unknown)$/)
  for (const [i, step] of steps.entries()) checkStep(step, i === steps.length - 1)
  return points.length - 1
}

function checkStep(step: Leg['steps'][number], isLast: boolean): void {
  const { bannerInstructions: banners, voiceInstructions: voices, distance, geometry } = step
  expect(pointsOf(geometry).length).toBeGreaterThan(1)
  expect(step.maneuver.instruction).not.toBe('')
  if (isLast) {
    expect([banners, voices, distance]).toEqual([[], [], 0])
    return
  }
  expect(banners.length).toBeGreaterThan(0)
  for (const list of [banners, voices]) {
    const at = list.map(({ distanceAlongGeometry: meters }) => meters)
    expect(at).toEqual(at.toSorted((a, b) => b - a))
    for (const meters of at) {
      expect(meters).toBeGreaterThanOrEqual(0)
      expect(meters).toBeLessThanOrEqual(distance)
    }
  }
  for (const { announcement } of voices) expect(announcement).not.toBe('')
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function far([a, b]: Place, [c, d]: Place): number {
  return Math.max(Math.abs(a - c), Math.abs(b - d))
}
