import type { CostOptions, Mode } from '../cost/options.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import type { Geometry } from '../respond/geometry.ts'
import { type AnswerForm, readForm } from './format.ts'
import type { Limits } from './limits.ts'
import { type Exclusions, type Location, checkExclusions } from './location.ts'
import { type DateTime, type Format, parse, readMembers } from './parts.ts'
import { RouteProblem, type Warning } from './problems.ts'
import { isObject, type Json } from './read.ts'
import { readOptions } from './unheeded.ts'

/** A route request whose members have been read and checked. */
export interface RouteRequest extends AnswerForm, Exclusions {
  readonly locations: readonly Location[]
  readonly mode: Mode
  readonly options: CostOptions
  readonly dateTime: DateTime | null
  readonly format: Format
  /** The format of lines in Valhalla's answer format. */
  readonly shapeFormat: Geometry
  readonly warnings: readonly Warning[]
  /** For a tour: index in the request of each location, in the order of the tour. */
  readonly order?: readonly number[]
  /** Whether the request is for OSRM's service `trip`. */
  readonly isTrip?: boolean
}

/** Limits of a request, and the error numbers of an action that returns routes. */
export interface RequestRules {
  readonly empty: 110 | 112
  readonly transit: () => RouteProblem
  readonly hasAlternates: boolean
  /** @throws RouteProblem */
  readonly checkExtent: (locations: readonly Location[], mode: Mode, limits: Limits) => void
}

const ROUTE: RequestRules = {
  empty: 110,
  transit: () => new RouteProblem(170),
  hasAlternates: true,
  checkExtent,
}

/**
 * Reads and checks a request, in Valhalla 3.6's order.
 *
 * @throws RouteProblem
 */
export function readRequest(text: string, limits: Limits): RouteRequest {
  return checkRequest(parse(text), limits)
}

const MEMBERS = {
  formats: ['json', 'osrm', 'gpx'],
  lists: { locations: 130 },
  shape: 'polyline6',
  hasWaiting: true,
} as const

/** Checks a request that was read as JSON. */
export function checkRequest(body: Json, limits: Limits, rules: RequestRules = ROUTE): RouteRequest {
  const old = body.directions_options
  const request = isObject(old) ? { ...body, ...oldMembers(old) } : body
  const members = readMembers(request, MEMBERS, limits)
  const { mode, transit, dateTime, format, shapeFormat, exclusions, warnings } = members
  const { locations } = members.places
  if (locations.length === 0) throw new RouteProblem(rules.empty)
  if (locations.length < 2) throw new RouteProblem(120)
  if (mode === null) throw new RouteProblem(124)
  const options = readOptions(request, { mode, given: members.given }, { limits, warnings })
  checkExclusions(exclusions, limits)
  rules.checkExtent(locations, mode, limits)
  if (transit) throw rules.transit()
  const mostAlternates = rules.hasAlternates && locations.length === 2 ? limits.alternates : null
  const form = readForm(request, { shapeFormat, mostAlternates, warnings })
  return { locations, mode, options, ...form, ...exclusions, dateTime, format, shapeFormat, warnings }
}

/** Members in `directions_options`, their old position. */
function oldMembers(old: Json): Json {
  return Object.fromEntries(Object.entries(old).filter(([name]) => MOVED.has(name)))
}

const MOVED = new Set(['units', 'narrative', 'format', 'language'])

function checkExtent(locations: readonly Location[], mode: Mode, limits: Limits): void {
  const most = limits.modes[mode]
  if (locations.length > most.locations) throw new RouteProblem(150, String(most.locations))
  let meters = 0
  for (let i = 1; i < locations.length; i++) {
    const a = locations[i - 1]!
    const b = locations[i]!
    meters += distanceMeters(a.lon, a.lat, b.lon, b.lat)
    if (meters > most.meters) throw new RouteProblem(154, `${most.meters} meters`)
  }
}
