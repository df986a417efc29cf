import type { CostOptions, Mode } from '../cost/options.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import type { Geometry } from '../respond/geometry.ts'
import {
  type Format,
  type OsrmOptions,
  readFormat,
  readOsrm,
  readRecostings,
  readShapeFormat,
  type RequestedRecosting,
} from './format.ts'
import type { Units } from '../narrate/lengths.ts'
import type { Limits } from './limits.ts'
import type { Location } from './location.ts'
import {
  checkClosures,
  type DateTime,
  directionsOf,
  parse,
  readCosting,
  readDateTime,
  readExclusions,
  readLocations,
  readOptions,
  readUnits,
  type Ring,
} from './parts.ts'
import { RouteProblem, type Warning, warning } from './problems.ts'
import { MEMBER_UNHEEDED } from './unheeded.ts'
import { countOf, flagOf, isObject, type Json, textOf } from './read.ts'

/** A route request whose members have been read and checked. */
export interface RouteRequest {
  readonly locations: readonly Location[]
  readonly mode: Mode
  readonly options: CostOptions
  readonly units: Units
  /** The requested language; the answer may fall back to another one. */
  readonly language: string | null
  readonly directions: 'none' | 'maneuvers' | 'instructions'
  /** Whether leaving a roundabout is a separate maneuver. */
  readonly roundaboutExits: boolean
  /** Whether legs name their countries and the borders between them. */
  readonly adminCrossings: boolean
  readonly id: string | null
  readonly alternates: number
  readonly excludeLocations: readonly Location[]
  readonly excludePolygons: readonly Ring[]
  readonly dateTime: DateTime | null
  readonly format: Format
  /** The format of lines in Valhalla's answer format. */
  readonly shapeFormat: Geometry
  readonly osrm: OsrmOptions
  readonly recostings: readonly RequestedRecosting[]
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

/** Checks a request that was read as JSON. */
export function checkRequest(body: Json, limits: Limits, rules: RequestRules = ROUTE): RouteRequest {
  const request = isObject(body.directions_options) ? { ...body, ...directionsOf(body.directions_options) } : body
  const warnings: Warning[] = []
  const format = readFormat(request, warnings)
  const { mode, given, transit } = readCosting(request, warnings)
  const dateTime = readDateTime(request.date_time)
  const shapeFormat = readShapeFormat(request.shape_format)
  const locations = readLocations(request.locations, 130, limits)
  if (locations.some(({ ignoresWaiting }) => ignoresWaiting)) warnings.push(warning(203))
  checkClosures(given, locations)
  const exclusions = readExclusions(request, limits, warnings)
  if (locations.length === 0) throw new RouteProblem(rules.empty)
  if (locations.length < 2) throw new RouteProblem(120)
  if (mode === null) throw new RouteProblem(124)
  const options = readOptions(request, { mode, given }, exclusions, { limits, warnings })
  rules.checkExtent(locations, mode, limits)
  if (transit) throw rules.transit()
  return {
    locations,
    mode,
    options,
    units: readUnits(request),
    language: textOf(request.language),
    directions: readDirections(request),
    roundaboutExits: flagOf(request.roundabout_exits) ?? true,
    adminCrossings: flagOf(request.admin_crossings) === true,
    id: textOf(request.id),
    alternates: readAlternates(request, rules.hasAlternates ? locations.length : 0, limits, warnings),
    ...exclusions,
    dateTime,
    format,
    shapeFormat,
    osrm: readOsrm(request, shapeFormat),
    recostings: readRecostings(request.recostings),
    warnings,
  }
}

function readAlternates(request: Json, stops: number, limits: Limits, warnings: Warning[]): number {
  const paths = countOf(request.best_paths)
  if (paths !== null) warnings.push(warning(103))
  const asked = paths === null ? (countOf(request.alternates) ?? 0) : Math.max(0, paths - 1)
  const most = stops === 2 ? limits.alternates : 0
  if (asked > most) {
    const why = stops === 2 ? `there are at most ${most}` : 'only routes between two locations have them'
    warnings.push({ code: MEMBER_UNHEEDED, text: `"alternates" asks for ${asked}: ${why}` })
  }
  return Math.min(asked, most)
}

function readDirections(request: Json): RouteRequest['directions'] {
  const said = request.directions_type
  if (said === 'none' || said === 'maneuvers' || said === 'instructions') return said
  return flagOf(request.narrative) === false ? 'none' : 'instructions'
}

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
