import type { Line } from '../geometry/polyline.ts'
import type { Maneuver } from '../guide/maneuver.ts'
import type { Recosting } from '../path/recost.ts'
import type { Warning } from '../request/problems.ts'
import type { RouteRequest } from '../request/request.ts'
import type { Candidate } from '../snap/candidate.ts'
import { osrmAdminsOf } from './admins.ts'
import { annotationOf } from './annotation.ts'
import { simplified, writeGeometry } from './geometry.ts'
import { degrees, type OsrmSource, stepsOf, thousandths } from './osrm-steps.ts'
import type { ToldLeg } from './trip.ts'

/** An answer in the form of OSRM's route service, as Valhalla 3.6 fills it, or of its trip service: metres, seconds, `[lon, lat]`. */
export interface OsrmResponse {
  readonly code: 'Ok'
  readonly routes?: readonly object[]
  readonly trips?: readonly object[]
  readonly waypoints: readonly object[]
  readonly warnings?: readonly Warning[]
}

/** The best route and its alternates in the form of OSRM; for a tour, waypoints are in the order of the request. */
export function osrmOf(
  source: OsrmSource,
  told: readonly (readonly ToldLeg[])[],
  { order, isTrip }: Pick<RouteRequest, 'order' | 'isTrip'>,
): OsrmResponse {
  const best = told[0]!
  const places = best.flatMap(({ leg }) => [...leg.passed.map(({ place }) => place), leg.destination])
  const waypoints = [best[0]!.leg.origin, ...places].map((place) => waypointOf(source, place))
  const routes = told.map((legs) => osrmRouteOf(source, legs, writtenLegs(source, legs, order)))
  return {
    code: 'Ok',
    ...(isTrip === true ? { trips: routes } : { routes }),
    waypoints: order === undefined ? waypoints : asAsked(waypoints, order),
    ...(source.warnings.length > 0 && { warnings: source.warnings }),
  }
}

/** The waypoints of a tour in the order of the request, each with its place in the tour. */
function asAsked(waypoints: readonly object[], order: readonly number[]): object[] {
  const asked: object[] = []
  for (const [i, waypoint] of waypoints.entries()) {
    asked[order[i]!] ??= { waypoint_index: i, trips_index: 0, ...waypoint }
  }
  return asked
}

/** The legs of a route, each with the waypoints that it passes without a stop, in the form of Valhalla and Mapbox. */
function writtenLegs(source: OsrmSource, legs: readonly ToldLeg[], order?: readonly number[]): object[] {
  let stop = 0
  return legs.map((told) => {
    const { steps } = told.guided
    const passed = told.leg.passed.map(({ edgesBefore }) => {
      stop++
      const before = steps.slice(0, edgesBefore)
      return {
        distance_from_start: thousandths(before.reduce((sum, { meters }) => sum + meters, 0)),
        geometry_index: before.at(-1)?.endShape ?? 0,
        waypoint_index: order?.[stop] ?? stop,
      }
    })
    stop++
    return { ...osrmLegOf(source, told), via_waypoints: passed }
  })
}

/** A route over legs in the form of OSRM, with the written legs. */
export function osrmRouteOf(source: OsrmSource, legs: readonly ToldLeg[], written: readonly object[]): object {
  const { options, mode } = source
  const sum = (of: (told: ToldLeg) => number): number => thousandths(legs.reduce((total, told) => total + of(told), 0))
  const line: Line = { lon: [], lat: [] }
  for (const { guided } of legs) {
    // Simplified leg by leg, so that waypoints remain points of the line, where clients look for them.
    const { lon, lat } = options.overview === 'simplified' ? simplified(guided.line) : guided.line
    for (let i = line.lon.length === 0 ? 0 : 1; i < lon.length; i++) {
      line.lon.push(lon[i]!)
      line.lat.push(lat[i]!)
    }
  }
  return {
    distance: sum(({ extent }) => extent.meters),
    duration: sum(({ extent }) => extent.seconds),
    weight: sum(({ extent }) => extent.cost),
    weight_name: mode,
    ...joined(legs.map(({ recostings }) => recostings)),
    ...(options.overview !== false && { geometry: writeGeometry(line, options.geometries) }),
    legs: written,
  }
}

/** A leg in the form of OSRM. */
export function osrmLegOf(source: OsrmSource, told: ToldLeg): object {
  const { extent, recostings, guided, countries } = told
  return {
    summary: summaryOf(told.maneuvers),
    distance: thousandths(extent.meters),
    duration: thousandths(extent.seconds),
    weight: thousandths(extent.cost),
    ...joined([recostings]),
    ...(countries !== null && { admins: osrmAdminsOf(countries) }),
    steps: source.options.steps ? stepsOf(source, told) : [],
    ...(source.options.annotations.length > 0 && {
      annotation: annotationOf(source.graph, guided, source.options.annotations),
    }),
  }
}

/** The names of the two longest maneuvers, in the order of the leg. */
function summaryOf(maneuvers: readonly Maneuver[]): string {
  const longest = new Map<string, number>()
  for (const { names, meters } of maneuvers) {
    const name = names[0]?.text
    if (name !== undefined) longest.set(name, (longest.get(name) ?? 0) + meters)
  }
  const kept = new Set(
    [...longest]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, 2)
      .map(([name]) => name),
  )
  return [...longest.keys()].filter((name) => kept.has(name)).join(', ')
}

function waypointOf({ texts }: OsrmSource, { edge, lon, lat, meters }: Candidate): object {
  return {
    name: texts.names(edge)[0]?.text ?? '',
    location: [degrees(lon), degrees(lat)],
    distance: thousandths(meters),
  }
}

/** Times and costs of legs under other costings; null when a costing may not travel a leg. */
function joined(legs: readonly (readonly Recosting[])[]): Record<string, number | null> {
  const sums: Record<string, number | null> = {}
  for (const [i, { name }] of (legs[0] ?? []).entries()) {
    const each = legs.map((leg) => leg[i]!.sums)
    const total = (of: 'seconds' | 'cost'): number | null =>
      each.includes(null) ? null : thousandths(each.reduce((all, one) => all + (one![of].at(-1) ?? 0), 0))
    sums[`duration_${name}`] = total('seconds')
    sums[`weight_${name}`] = total('cost')
  }
  return sums
}
