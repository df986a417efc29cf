import { createCosting } from './cost/create.ts'
import type { Ground } from './ground.ts'
import { languageOf } from './narrate/languages/index.ts'
import type { PreparedCosting } from './network/costings.ts'
import { alternates } from './path/alternates.ts'
import { joinPaths, type Leg, type TripStop } from './path/legs.ts'
import { Schedule } from './path/schedule.ts'
import { RouteProblem, type Warning } from './request/problems.ts'
import { turnedAround } from './request/unheeded.ts'
import type { RouteRequest } from './request/request.ts'
import { gpxOf } from './respond/gpx.ts'
import { osrmOf, type OsrmResponse } from './respond/osrm.ts'
import type { RouteResponse } from './respond/response.ts'
import { tellLegs, tripOf } from './respond/trip.ts'
import { unreadWarnings } from './respond/unread.ts'

/**
 * The answer to a route request; GPX as a text, the other forms as objects.
 *
 * @param placed snapped locations, if known
 * @throws RouteProblem when it cannot be answered with a route
 */
export function routeOf(
  ground: Ground,
  request: RouteRequest,
  placed?: readonly TripStop[],
): RouteResponse | OsrmResponse | string {
  const { graph } = ground.network
  const prepared = ground.costings.get(request.mode, request.options)
  const last = request.locations.length - 1
  const schedule = request.dateTime === null ? null : new Schedule(request.dateTime, request.locations, ground.now())
  const placing = ground.placing(request, prepared, schedule)
  const stops =
    placed ??
    request.locations.map((location, i) =>
      ground.stop(placing, location, i === 0 ? 'begin' : i === last ? 'end' : 'between'),
    )
  if (placed === undefined) checkRegions(ground, stops)
  const warnings = [...request.warnings]
  const routes = findRoutes(ground, request, { prepared, stops, schedule, warnings })
  const recostings = request.recostings.map(({ name, mode, options }) => ({
    name,
    costing: createCosting(graph, mode, options),
  }))
  const { texts } = ground
  const source = {
    graph,
    texts,
    costing: prepared.costing,
    request: { ...request, warnings },
    schedule,
    law: ground.law(prepared),
    recostings,
  }
  const told = routes.map((legs) => [...tellLegs(source, legs)])
  const { format, mode, osrm: options, id } = request
  if (format === 'gpx') return gpxOf(graph, told[0]!)
  if (format === 'osrm') {
    const all = [...warnings, ...unreadWarnings(source, routes.flat())]
    const speech = { phrases: languageOf(request.language).phrases, units: request.units }
    return osrmOf({ graph, texts, mode, options, warnings: all, speech }, told, request)
  }
  const [trip, ...others] = told.map((legs) => tripOf(source, legs))
  return {
    trip: trip!,
    ...(others.length > 0 && { alternates: others.map((other) => ({ trip: other })) }),
    ...(id !== null && { id }),
  }
}

interface Journey {
  readonly prepared: PreparedCosting
  readonly stops: readonly TripStop[]
  readonly schedule: Schedule | null
  /** Collects the warnings of the route. */
  readonly warnings: Warning[]
}

/** The legs of the best route, then those of its alternates. */
function findRoutes(ground: Ground, request: RouteRequest, { prepared, stops, schedule, warnings }: Journey): Leg[][] {
  const { graph } = ground.network
  const { costing } = prepared
  const closures = ground.closures(prepared, request)
  const planner = ground.planner(request, prepared, closures, schedule)
  if (request.alternates > 0) {
    const [origin, destination] = stops.map(({ snapped }) => snapped.candidates)
    const given = { graph, costing, planner, count: request.alternates, startMs: schedule?.begin(0) ?? 0 }
    const paths = alternates(given, origin!, destination!)
    if (paths.length > 0) {
      const speedAt = schedule === null ? undefined : ground.speeds(prepared, schedule, 0)
      schedule?.note({ graph, costing }, 0, paths[0]!, speedAt)
      return paths.map((path) => [joinPaths(graph, costing, [{ path, speedAt }])])
    }
  }
  const onTurnAround = (i: number): void => void warnings.push(turnedAround(i))
  const legs = ground.legs(prepared, planner, { stops, schedule, onTurnAround })
  if (legs === null) throw new RouteProblem(442)
  return [legs]
}

/** @throws RouteProblem 170 when two locations are in separate regions of data */
export function checkRegions(ground: Ground, stops: readonly TripStop[]): void {
  const shared = stops.map((stop) => ground.regionsOf(stop)).reduce((common, some) => common.intersection(some))
  if (shared.size === 0) throw new RouteProblem(170)
}
