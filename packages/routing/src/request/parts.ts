import { type Mode, MODES } from '../cost/options.ts'
import { type Geometry, geometryOf } from '../respond/geometry.ts'
import type { Limits } from './limits.ts'
import { type Exclusions, type Location, readExclusions, readLocations } from './location.ts'
import { RouteProblem, type Warning, warning } from './problems.ts'
import { countOf, flagOf, isObject, type Json, textOf } from './read.ts'

// Members that requests of several actions share, read in Valhalla 3.6's order.

/** Formats of an answer. */
export type Format = 'json' | 'osrm' | 'gpx'

/** The parts of these members in which actions differ. */
export interface ActionMembers<List extends string> {
  /** Formats of its answers; others give JSON, with a warning. */
  readonly formats: readonly Format[]
  /** Lists of locations by their members, with the error number of a location that cannot be read. */
  readonly lists: Readonly<Record<List, 130 | 131 | 132>>
  /** Default format of lines; null for an action whose answers have no lines. */
  readonly shape: Geometry | null
  /** Whether a waiting time at a location without a stop gets a warning. */
  readonly hasWaiting?: boolean
}

/** The shared members of a request. The mode is null without a costing, which the actions refuse at different times. */
export interface SharedMembers<List extends string = string> {
  readonly format: Format
  readonly mode: Mode | null
  readonly given: Json
  readonly transit: boolean
  readonly dateTime: DateTime | null
  readonly shapeFormat: Geometry
  readonly places: Readonly<Record<List, readonly Location[]>>
  readonly exclusions: Exclusions
  /** Grows while the rest of the request is read. */
  readonly warnings: Warning[]
}

/**
 * Reads the shared members of a request.
 *
 * @throws RouteProblem
 */
export function readMembers<List extends string>(
  request: Json,
  { formats, lists, shape, hasWaiting }: ActionMembers<List>,
  limits: Limits,
): SharedMembers<List> {
  const warnings: Warning[] = []
  const said = textOf(request.format) ?? 'json'
  const format = formats.find((name) => name === said) ?? 'json'
  if (format !== said && ['osrm', 'gpx', 'pbf'].includes(said)) warnings.push(warning(211))
  const { mode, given, transit } = readCosting(request, warnings)
  const dateTime = readDateTime(request.date_time)
  const shapeFormat = shape === null ? 'no_shape' : readShapeFormat(request.shape_format, shape)
  const places = {} as Record<List, Location[]>
  for (const name in lists) places[name] = readLocations(request[name], lists[name], limits)
  const all = Object.values<Location[]>(places).flat()
  if (hasWaiting === true && all.some(({ ignoresWaiting }) => ignoresWaiting)) warnings.push(warning(203))
  if (flagOf(given.ignore_closures) !== null && all.some(({ filtersClosures }) => filtersClosures))
    throw new RouteProblem(143)
  const exclusions = readExclusions(request, limits, warnings)
  return { format, mode, given, transit, dateTime, shapeFormat, places, exclusions, warnings }
}

function readShapeFormat(value: unknown, fallback: Geometry): Geometry {
  if (value === undefined) return fallback
  if (typeof value !== 'string') return 'polyline6'
  const format = value === 'polyline' ? null : geometryOf(value)
  if (format === null) throw new RouteProblem(164)
  return format
}

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

function readDateTime(value: unknown): DateTime | null {
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
