import type { Action } from '../actions.ts'
import { MODES } from '../cost/options.ts'
import { decodeLine } from '../geometry/polyline.ts'
import { RouteProblem } from '../request/problems.ts'
import type { Json } from '../request/read.ts'

/** Supported services of OSRM's HTTP interface, version 1. */
export const OSRM_SERVICES = ['route', 'table', 'nearest', 'trip', 'match'] as const
export type OsrmService = (typeof OSRM_SERVICES)[number]

/** The action that answers a service. */
export const OSRM_ACTIONS: Readonly<Record<OsrmService, Action>> = {
  route: 'route',
  table: 'sources_to_targets',
  nearest: 'locate',
  trip: 'optimized_route',
  match: 'trace_route',
}

/** The path of a request after `/{service}/v1/`. */
interface Path {
  readonly profile: string
  /** `{lon},{lat};…`, `polyline(…)` or `polyline6(…)`, with optional `.json` suffix. */
  readonly coordinates: string
}

type Query = Readonly<Record<string, unknown>>

/** OSRM's names of profiles, and their common synonyms. */
const PROFILES: Readonly<Record<string, string>> = {
  driving: 'auto',
  'driving-traffic': 'auto',
  car: 'auto',
  cycling: 'bicycle',
  bike: 'bicycle',
  walking: 'pedestrian',
  foot: 'pedestrian',
}

/** Costing options for values of `exclude`. */
const EXCLUDED: Readonly<Record<string, string>> = {
  motorway: 'exclude_highways',
  toll: 'exclude_tolls',
  ferry: 'exclude_ferries',
}

/**
 * Members of a service that have no effect here. Hints are accepted without a warning, because they never change a
 * result.
 */
const UNHEEDED: Readonly<Record<OsrmService, readonly string[]>> = {
  route: ['gaps'],
  table: ['fallback_speed', 'fallback_coordinate', 'scale_factor'],
  nearest: [],
  trip: ['gaps'],
  match: ['bearings', 'approaches', 'snapping'],
}

/**
 * Translates a request of OSRM to the text of a request for an action. Most errors are reported when that text is read.
 * Defaults are OSRM's: no steps, five decimals, a simplified overview, times in tables.
 *
 * @throws RouteProblem 153 for more coordinates than any service accepts, 158 for lists whose length differs from the
 * coordinates of a trace
 */
export function osrmRequest(service: OsrmService, { profile, coordinates }: Path, query: Query): string {
  const costing = (MODES as readonly string[]).includes(profile) ? profile : (PROFILES[profile] ?? profile)
  const excluded = listOf(query.exclude, ',')
  const options = excluded.flatMap((name) => (Object.hasOwn(EXCLUDED, name) ? [[EXCLUDED[name]!, true] as const] : []))
  const unheeded = [
    ...UNHEEDED[service].filter((name) => query[name] !== undefined),
    ...excluded.filter((name) => !Object.hasOwn(EXCLUDED, name)).map((name) => `exclude=${name}`),
  ]
  return JSON.stringify({
    ...MEMBERS[service](locationsOf(coordinates, query), query),
    costing,
    costing_options: { [costing]: Object.fromEntries(options) },
    format: 'osrm',
    unheeded,
  })
}

const MEMBERS: Readonly<Record<OsrmService, (locations: readonly Json[], query: Query) => Json>> = {
  route: routeMembers,
  table: (locations, query) => ({
    sources: pickedOf(locations, query.sources),
    targets: pickedOf(locations, query.destinations),
    annotations: query.annotations ?? 'duration',
  }),
  nearest: (locations, query) => ({ locations: locations.slice(0, 1), number: query.number ?? 1 }),
  trip: (locations, query) => ({
    ...routeMembers(locations, { ...query, waypoints: undefined, alternatives: undefined }),
    source: query.source ?? 'any',
    destination: query.destination ?? 'any',
    roundtrip: query.roundtrip ?? true,
  }),
  match: matchMembers,
}

/**
 * Members of a trace: `radiuses` are the accuracies of the coordinates; each coordinate is a waypoint unless the query
 * names some.
 */
function matchMembers(locations: readonly Json[], query: Query): Json {
  const {
    locations: places,
    alternates: _,
    ...members
  } = routeMembers(locations, { ...query, alternatives: undefined })
  const [radiuses, timestamps] = [query.radiuses, query.timestamps].map((value) => listOf(value, ';'))
  checkList('radiuses', radiuses!, locations.length, /^(?:unlimited|\d*(?:\.\d+)?)$/)
  checkList('timestamps', timestamps!, locations.length, /^\d+(?:\.\d+)?$/)
  const back = timestamps!.findIndex((time, i) => i > 0 && Number(time) < Number(timestamps![i - 1]))
  if (back > 0) throw new RouteProblem(158, `timestamps run backwards at coordinate ${back}`)
  const shape = (places as readonly Json[]).map(({ lon, lat, type }, i) => ({
    lon,
    lat,
    type,
    ...(radiuses![i] && { accuracy: Number(radiuses![i]) }),
    ...(timestamps![i] && { time: Number(timestamps![i]) }),
  }))
  return {
    ...members,
    shape,
    shape_match: 'map_snap',
    tidy: query.tidy === 'true',
    splits: query.gaps !== 'ignore',
  }
}

/** Checks that a list is empty or has a value for each coordinate. */
function checkList(name: string, values: readonly string[], count: number, form: RegExp): void {
  if (values.length > 0 && values.length !== count)
    throw new RouteProblem(158, `${name} has ${values.length} values for ${count} coordinates`)
  const wrong = values.findIndex((value) => !form.test(value))
  if (wrong >= 0) throw new RouteProblem(158, `value ${wrong} of ${name} is not a number`)
}

function routeMembers(locations: readonly Json[], query: Query): Json {
  const goesOn = query.continue_straight === 'true'
  const waypoints = query.waypoints === undefined ? null : new Set(listOf(query.waypoints, ';'))
  const last = locations.length - 1
  const typeOf = (i: number): string => {
    if (waypoints !== null && !waypoints.has(String(i)) && i > 0 && i < last) return goesOn ? 'through' : 'via'
    return goesOn ? 'break_through' : 'break'
  }
  const alternatives = query.alternatives === 'true' ? 1 : Number(query.alternatives ?? 0)
  return {
    locations: locations.map((location, i) => ({ ...location, type: typeOf(i) })),
    // OSRM returns no alternatives for several waypoints, without an error.
    alternates: locations.length === 2 && alternatives > 0 ? alternatives : 0,
    steps: query.steps === 'true',
    geometries: query.geometries ?? 'polyline',
    overview: query.overview ?? 'simplified',
    annotations: query.annotations,
    banner_instructions: query.banner_instructions === 'true',
    voice_instructions: query.voice_instructions === 'true',
    roundabout_exits: query.roundabout_exits !== 'false',
    units: query.voice_units === 'imperial' ? 'miles' : 'kilometers',
    language: query.language,
  }
}

/**
 * The coordinates as locations of a request, with their values in the query; an unreadable pair becomes an empty
 * location.
 */
function locationsOf(coordinates: string, query: Query): Json[] {
  const text = coordinates.replace(/\.json$/, '')
  const [bearings, radiuses, approaches] = [query.bearings, query.radiuses, query.approaches].map((value) =>
    listOf(value, ';'),
  )
  return pairsOf(text).map((pair, i) => ({
    ...pair,
    ...bearingOf(bearings![i]),
    ...(/^\d+(\.\d+)?$/.test(radiuses![i] ?? '') && { search_cutoff: Math.ceil(Number(radiuses![i])) }),
    ...(approaches![i] === 'curb' && { preferred_side: 'same' }),
    ...(approaches![i] === 'opposite' && { preferred_side: 'opposite' }),
    ...(query.snapping === 'any' && { minimum_reachability: 0 }),
  }))
}

/** Maximum number of coordinates. */
const MOST_COORDINATES = 2 ** 16

/** @throws RouteProblem 153 */
function checkCount(count: number): void {
  if (count > MOST_COORDINATES) throw new RouteProblem(153, `(${count}). The limit is ${MOST_COORDINATES}`)
}

function pairsOf(text: string): Json[] {
  const [, decimals, encoded] = /^polyline(6?)\((.*)\)$/.exec(text) ?? []
  if (encoded !== undefined) {
    const { lon, lat } = decodeLine(encoded, decimals === '6' ? 6 : 5)
    checkCount(lon.length)
    return lon.map((each, i) => ({ lon: each, lat: lat[i]! }))
  }
  const pairs = text.split(';')
  checkCount(pairs.length)
  return pairs.map((pair) => {
    const [lon, lat, ...more] = pair.split(',')
    return more.length > 0 ? {} : { lon, lat }
  })
}

/** `{degrees},{range}` */
function bearingOf(text: string | undefined): Json {
  const [, heading, tolerance] = /^(\d+),(\d+)$/.exec(text ?? '') ?? []
  return heading === undefined ? {} : { heading: Number(heading), heading_tolerance: Number(tolerance) }
}

/** Locations by their indexes; a missing index becomes an unreadable location. */
function pickedOf(locations: readonly Json[], value: unknown): readonly Json[] {
  if (typeof value !== 'string' || value === 'all') return locations
  return value.split(';').map((index) => (/^\d{1,9}$/.test(index) ? locations[Number(index)] : null) ?? {})
}

function listOf(value: unknown, separator: string): string[] {
  return typeof value === 'string' && value !== '' ? value.split(separator) : []
}
