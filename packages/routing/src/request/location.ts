import { distanceMeters } from '../geometry/geodesy.ts'
import type { StopType } from '../path/legs.ts'
import { RoadClass } from '../graph/attributes.ts'
import type { SnapFilter, SnapRequest } from '../snap/request.ts'
import type { Limits } from './limits.ts'
import { RouteProblem, type Warning, warning } from './problems.ts'
import { countOf, flagOf, integerOf, isObject, type Json, numberOf, textOf, wrapped } from './read.ts'

/** A location of a request, with all members that affect its snapping. */
export interface Location extends Omit<SnapRequest, 'through' | 'isReachable'> {
  readonly type: StopType
  readonly name: string | null
  readonly dateTime: string | null
  /** Waiting time in seconds, at stops that allow one. */
  readonly waiting: number
  readonly minimumReachability: number
  /** Whether the search filter has a member about closures, which conflicts with that of the costing. */
  readonly filtersClosures: boolean
  /** Whether it has a waiting time although the route does not stop there. */
  readonly ignoresWaiting: boolean
}

const TYPES = new Set<string>(['break', 'through', 'via', 'break_through'])
const SIDES = new Set<string>(['same', 'opposite', 'either'])

/**
 * Reads a location; null without readable coordinates.
 *
 * @param place whether it is the first or the last one, whose type is always `break`
 */
export function readLocation(value: unknown, place: 'end' | 'between', limits: Limits): Location | null {
  if (!isObject(value)) return null
  const lat = numberOf(value.lat)
  const lon = numberOf(value.lon)
  if (lat === null || lon === null || !Number.isFinite(lon) || !(lat >= -90 && lat <= 90)) return null
  const said = textOf(value.type)
  const saidType = said !== null && TYPES.has(said) ? (said as StopType) : 'break'
  const type = place === 'end' ? 'break' : saidType
  const waiting = numberOf(value.waiting) ?? 0
  const stays = saidType === 'break' || saidType === 'break_through'
  const side = textOf(value.preferred_side)
  return {
    lon: wrapLongitude(lon),
    lat,
    type,
    name: nonEmpty(value.name),
    street: nonEmpty(value.street),
    heading: headingOf(value.heading),
    headingTolerance: integerOf(value.heading_tolerance) ?? 60,
    dateTime: nonEmpty(value.date_time),
    waiting: stays && place === 'between' && waiting > 0 ? waiting : 0,
    radius: Math.min(countOf(value.radius) ?? 0, limits.radius),
    minimumReachability: Math.min(countOf(value.minimum_reachability) ?? 50, limits.reachability),
    rankCandidates: flagOf(value.rank_candidates) ?? true,
    searchCutoff: countOf(value.search_cutoff) ?? 35_000,
    nodeSnapTolerance: wrapped(numberOf(value.node_snap_tolerance) ?? 5),
    streetSideTolerance: countOf(value.street_side_tolerance) ?? 5,
    streetSideMaxDistance: countOf(value.street_side_max_distance) ?? 1000,
    streetSideCutoff: classOf(value.street_side_cutoff) ?? RoadClass.service,
    preferredSide: side !== null && SIDES.has(side) ? (side as Location['preferredSide']) : 'either',
    ...displayPoint(value),
    filter: readFilter(value.search_filter),
    filtersClosures: isObject(value.search_filter) && flagOf(value.search_filter.exclude_closures) !== null,
    ignoresWaiting: !stays && waiting !== 0,
  }
}

/** A heading in whole degrees; negative values become 0. */
function headingOf(value: unknown): number | null {
  const degrees = integerOf(value)
  return degrees === null ? null : Math.max(0, degrees)
}

function nonEmpty(value: unknown): string | null {
  const text = textOf(value)
  return text === '' ? null : text
}

function displayPoint(value: Json): { displayLon: number | null; displayLat: number | null } {
  const lat = numberOf(value.display_lat)
  const lon = numberOf(value.display_lon)
  const usable = lat !== null && lon !== null && lat >= -90 && lat <= 90 && Number.isFinite(lon)
  return usable ? { displayLon: wrapLongitude(lon), displayLat: lat } : { displayLon: null, displayLat: null }
}

/** The equivalent longitude within ±180 degrees. */
function wrapLongitude(lon: number): number {
  return lon >= -180 && lon <= 180 ? lon : ((((lon + 180) % 360) + 360) % 360) - 180
}

const CLASSES: Readonly<Record<string, number>> = {
  motorway: RoadClass.motorway,
  trunk: RoadClass.trunk,
  primary: RoadClass.primary,
  secondary: RoadClass.secondary,
  tertiary: RoadClass.tertiary,
  unclassified: RoadClass.unclassified,
  residential: RoadClass.residential,
  service_other: RoadClass.service,
}

function classOf(value: unknown): number | null {
  return typeof value === 'string' && Object.hasOwn(CLASSES, value) ? CLASSES[value]! : null
}

function readFilter(value: unknown): SnapFilter {
  const said = isObject(value) ? value : {}
  return {
    excludeTunnel: flagOf(said.exclude_tunnel) ?? false,
    excludeBridge: flagOf(said.exclude_bridge) ?? false,
    excludeToll: flagOf(said.exclude_toll) ?? false,
    excludeRamp: flagOf(said.exclude_ramp) ?? false,
    excludeFerry: flagOf(said.exclude_ferry) ?? false,
    minRoadClass: classOf(said.min_road_class) ?? RoadClass.service,
    maxRoadClass: classOf(said.max_road_class) ?? RoadClass.motorway,
  }
}

/** A closed line of points, as longitude and latitude. */
export type Ring = readonly (readonly [number, number])[]

/** Excluded places of a request. */
export interface Exclusions {
  readonly excludeLocations: readonly Location[]
  readonly excludePolygons: readonly Ring[]
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

/** Reads the excluded places of a request. */
export function readExclusions(request: Json, limits: Limits, warnings: Warning[]): Exclusions {
  return {
    excludeLocations: readLocations(request.avoid_locations ?? request.exclude_locations, 133, limits),
    excludePolygons: readPolygons(request.avoid_polygons ?? request.exclude_polygons, warnings),
  }
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

/** @throws RouteProblem 157, 167 when the exclusions exceed the limits */
export function checkExclusions({ excludeLocations, excludePolygons }: Exclusions, limits: Limits): void {
  const { excludePolygonMeters: most } = limits
  let meters = 0
  for (const ring of excludePolygons) {
    for (let i = 1; i < ring.length; i++) meters += distanceMeters(...ring[i - 1]!, ...ring[i]!)
    if (meters > most) throw new RouteProblem(167, `${most} meters`)
  }
  if (excludeLocations.length > limits.excludeLocations) throw new RouteProblem(157, String(limits.excludeLocations))
}
