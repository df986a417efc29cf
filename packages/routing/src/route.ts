import type { Ground } from './ground.ts'
import type { PreparedCosting } from './network/costings.ts'
import { alternates } from './path/alternates.ts'
import { joinPaths, type Leg, type TripStop } from './path/legs.ts'
import { Schedule } from './path/schedule.ts'
import { RouteProblem, type Warning } from './request/problems.ts'
import type { RouteRequest } from './request/request.ts'
import { turnedAround } from './request/unheeded.ts'
import type { FoundRoute } from './respond/answer.ts'

/**
 * Finds the route of a request, and its alternates.
 *
 * @param placed snapped locations, if known
 * @throws RouteProblem when there is none
 */
export function findRoute(ground: Ground, request: RouteRequest, placed?: readonly TripStop[]): FoundRoute {
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
  const routes = findLegs(ground, request, { prepared, stops, schedule, warnings })
  return { source: ground.source(prepared, { ...request, warnings }, schedule), routes }
}

interface Journey {
  readonly prepared: PreparedCosting
  readonly stops: readonly TripStop[]
  readonly schedule: Schedule | null
  /** Collects the warnings of the route. */
  readonly warnings: Warning[]
}

/** The legs of the best route, then those of its alternates. */
function findLegs(ground: Ground, request: RouteRequest, { prepared, stops, schedule, warnings }: Journey): Leg[][] {
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
