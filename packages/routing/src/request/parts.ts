import { type CostOptions, costOptions, type Mode, MODES } from '../cost/options.ts'
import { PROFILES } from '../cost/profiles/index.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import type { Units } from '../narrate/lengths.ts'
import type { Limits } from './limits.ts'
import { type Location, readLocation, wrapLongitude } from './location.ts'
import { RouteProblem, type Warning, warning } from './problems.ts'
import { unheeded } from './unheeded.ts'
import { countOf, flagOf, integerOf, isObject, type Json, numberOf, textOf } from './read.ts'

// Parts that requests of several actions share, and their readers.

/** A closed line of points, as longitude and latitude. */
export type Ring = readonly (readonly [number, number])[]

/** Time of departure or arrival, or a constant time; local to the place, or `current`. */
export interface DateTime {
  readonly type: 'current' | 'depart' | 'arrive' | 'invariant'
  readonly value: string
}

/** Maximum nesting of a request, above that of any valid one. */
const DEEPEST = 32

/**
 * Parses a text as an object; an empty text is an empty object.
 *
 * @throws RouteProblem 100
 */
export function parse(text: string): Json {
  if (text === '') return {}
  if (isDeep(text)) throw new RouteProblem(100)
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Refused below, like other bodies that are not an object.
  }
  throw new RouteProblem(100)
}

/** Whether a text nests deeper than any valid request; checked before it is parsed. */
function isDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (quoted) {
      if (code === 0x5c) i++
      else if (code === 0x22) quoted = false
    } else if (code === 0x22) quoted = true
    else if ((code === 0x5b || code === 0x7b) && ++depth > DEEPEST) return true
    else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

/** Parameters in `directions_options`, their old position. */
export function directionsOf(options: Json): Json {
  return Object.fromEntries(
    ['units', 'narrative', 'format', 'language'].filter((name) => name in options).map((name) => [name, options[name]]),
  )
}

const DEPRECATED: Readonly<Record<string, { code: 100 | 101 | 102; options: Json }>> = {
  auto_shorter: { code: 100, options: { shortest: true } },
  hov: { code: 101, options: {} },
  auto_data_fix: { code: 102, options: { ignore_restrictions: true } },
}

/** Costings that need timetables, which are not supported, and one that needs rental bicycles. */
const TRANSIT = new Set(['multimodal', 'transit'])
const RENTED = 'bikeshare'

/** The requested costing and its options; mode is null when absent. */
export function readCosting(request: Json, warnings: Warning[]): { mode: Mode | null; given: Json; transit: boolean } {
  const all = isObject(request.costing_options) ? request.costing_options : {}
  const asked = textOf(request.costing) || 'none'
  const transit = TRANSIT.has(asked)
  const said = transit || asked === RENTED ? 'pedestrian' : asked
  if (said === 'none') return { mode: null, given: {}, transit }
  const given = Object.hasOwn(all, said) && isObject(all[said]) ? all[said] : {}
  if (Object.hasOwn(DEPRECATED, said)) {
    const { code, options } = DEPRECATED[said]!
    warnings.push(warning(code))
    return { mode: 'auto', given: { ...given, ...options }, transit }
  }
  if (!(MODES as readonly string[]).includes(said)) throw new RouteProblem(125, `'${said}'`)
  return { mode: said as Mode, given, transit }
}

const DATE_TYPES = ['current', 'depart', 'arrive', 'invariant'] as const
const MISSING_VALUE = { current: 160, depart: 160, arrive: 161, invariant: 165 } as const

export function readDateTime(value: unknown): DateTime | null {
  const type = isObject(value) ? DATE_TYPES[countOf(value.type) ?? -1] : undefined
  if (type === undefined) return null
  if (type === 'current') return { type, value: 'current' }
  const said = isObject(value) ? (textOf(value.value) ?? '') : ''
  if (said === '') throw new RouteProblem(MISSING_VALUE[type])
  if (said !== 'current' && !isDateTime(said)) throw new RouteProblem(162)
  return { type, value: said }
}

function isDateTime(text: string): boolean {
  const form = /^(1[4-9]|[2-9]\d)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d$/
  // A date that does not exist, such as the 31st of February, would be parsed as a later one.
  return form.test(text) && new Date(`${text}:00Z`).toISOString().startsWith(text)
}

/**
 * Reads a list of locations; any other value counts as an empty list.
 *
 * @throws RouteProblem with the given number
 */
export function readLocations(value: unknown, problem: 130 | 131 | 132 | 133, limits: Limits): Location[] {
  if (!Array.isArray(value)) return []
  const endsOnly = problem === 131 || problem === 132
  return value.map((item: unknown, i) => {
    const place = endsOnly || i === 0 || i === value.length - 1 ? 'end' : 'between'
    const location = readLocation(item, place, limits)
    if (location === null) throw new RouteProblem(problem)
    return location
  })
}

/** Exclusions of a request. */
export function readExclusions(
  request: Json,
  limits: Limits,
  warnings: Warning[],
): { excludeLocations: Location[]; excludePolygons: Ring[] } {
  const excludeLocations = readLocations(request.avoid_locations ?? request.exclude_locations, 133, limits)
  const excludePolygons = readPolygons(request.avoid_polygons ?? request.exclude_polygons, warnings)
  return { excludeLocations, excludePolygons }
}

/**
 * Reads the options of the costing, with warnings for ignored ones.
 *
 * @throws RouteProblem 157, 167 when the exclusions exceed the limits
 */
export function readOptions(
  request: Json,
  { mode, given }: { mode: Mode; given: Json },
  { excludeLocations, excludePolygons }: { excludeLocations: readonly Location[]; excludePolygons: readonly Ring[] },
  { limits, warnings }: { limits: Limits; warnings: Warning[] },
): CostOptions {
  const options = costOptions(mode, given)
  // For OSRM requests there is no warning: OSRM has no such restriction.
  const isOfOsrm = Array.isArray(request.unheeded)
  if (!isOfOsrm && HARD_EXCLUSIONS.some((name) => options[name] === true)) warnings.push(warning(208))
  if (PROFILES[mode].family === 'motor' && flagOf(given.disable_hierarchy_pruning) === true) {
    warnings.push(warning(205))
  }
  if (hasHierarchyLimits(given.hierarchy_limits)) warnings.push(warning(209))
  warnings.push(...unheeded(request, { mode, given }, limits))
  checkPolygons(excludePolygons, limits)
  if (excludeLocations.length > limits.excludeLocations) throw new RouteProblem(157, String(limits.excludeLocations))
  return options
}

/**
 * Refuses closure members in both the costing and a location.
 *
 * @throws RouteProblem 143
 */
export function checkClosures(given: Json, locations: readonly Location[]): void {
  if (flagOf(given.ignore_closures) === null) return
  if (locations.some(({ filtersClosures }) => filtersClosures)) throw new RouteProblem(143)
}

export function readUnits(request: Json): Units {
  return request.units === 'miles' || request.units === 'mi' ? 'miles' : 'kilometers'
}

function readPolygons(value: unknown, warnings: Warning[]): Ring[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) {
    warnings.push(warning(204))
    return []
  }
  const rings: unknown[] = value.filter((ring) => Array.isArray(ring) && ring.length > 0)
  return rings.map((ring) => {
    const points = (ring as unknown[]).map((point): readonly [number, number] => {
      const [lon, lat]: unknown[] = Array.isArray(point) ? point : []
      if (typeof lon !== 'number' || typeof lat !== 'number' || !(lat >= -90 && lat <= 90)) throw new RouteProblem(137)
      return [wrapLongitude(lon), lat]
    })
    const [first] = points
    const last = points.at(-1)!
    return first![0] === last[0] && first![1] === last[1] ? points : [...points, first!]
  })
}

function checkPolygons(rings: readonly Ring[], { excludePolygonMeters }: Limits): void {
  let meters = 0
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) meters += distanceMeters(...ring[i - 1]!, ...ring[i]!)
    if (meters > excludePolygonMeters) throw new RouteProblem(167, `${excludePolygonMeters} meters`)
  }
}

/** Valhalla 3.6 warns that its default configuration ignores these, but applies them. They are applied here, too. */
const HARD_EXCLUSIONS = ['exclude_bridges', 'exclude_tolls', 'exclude_tunnels', 'exclude_highways', 'exclude_ferries']

/** Whether the request limits the expansion of searches on small streets, which has no effect here. */
function hasHierarchyLimits(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.values(value).some(
    (level) =>
      isObject(level) &&
      (integerOf(level.max_up_transitions) !== null || numberOf(level.expand_within_distance) !== null),
  )
}
