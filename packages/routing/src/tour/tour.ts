import type { Work } from '../actions.ts'
import type { Ground } from '../ground.ts'
import { type Cell, Cells } from '../matrix/cells.ts'
import { isComing, rowOf } from '../matrix/matrix.ts'
import type { TripStop } from '../path/legs.ts'
import { Schedule } from '../path/schedule.ts'
import { RouteProblem } from '../request/problems.ts'
import type { RouteRequest } from '../request/request.ts'
import { answerOf } from '../respond/answer.ts'
import { checkRegions, findRoute } from '../route.ts'
import { orderOf, type TourEnds } from './order.ts'
import type { TourRequest } from './request.ts'

/** Number of locations that are snapped per step. */
const STEP = 16

/**
 * The answer to a request for a tour: the times between all stops, the order with the least time, and the route in that
 * order.
 *
 * @param mayWait whether to wait for the hierarchy of a costing with options of its own
 * @throws RouteProblem 171 when no street is near a stop, 442 (`NoTrips` with OSRM) when no tour was found
 */
export function* tourOf(ground: Ground, { route, ends }: TourRequest, mayWait: boolean): Work {
  const { locations } = route
  const cellsRequest = { ...route, sources: locations, targets: locations, shapeFormat: 'no_shape' as const }
  if (mayWait) while (isComing(ground, cellsRequest)) yield null
  const stops = yield* stopsOf(ground, route, ends)
  if (route.isTrip !== true) checkRegions(ground, stops)
  const prepared = ground.costings.get(route.mode, route.options)
  const cells = new Cells(ground, cellsRequest, prepared, { sources: stops, targets: stops })
  for (const _ of cells.prepare()) yield ''
  const rows: (Cell | null)[][] = []
  for (let i = 0; i < stops.length; i++) rows.push(yield* rowOf(cells, i))
  const seconds = Float64Array.from(rows.flat(), (cell) => cell?.seconds ?? Infinity)
  const unreachable = (extra: string): RouteProblem => new RouteProblem(route.isTrip === true ? 441 : 442, extra)
  const island = islandOf(seconds, stops.length, ends)
  if (island >= 0) throw unreachable(`no way leads to location ${island}, or none from it`)
  const searching = orderOf(seconds, stops.length, ends)
  let step = searching.next()
  for (; step.done !== true; step = searching.next()) yield ''
  if (step.value === null) throw unreachable('no tour comes to all locations')
  const order = ends.closed ? [...step.value, step.value[0]!] : step.value
  const last = order.length - 1
  const isEnd = (at: number): boolean => at === 0 || at === last
  // A tour begins and ends with a leg, regardless of the types of its stops.
  const ordered = <T extends { readonly type: TripStop['type'] }>(list: readonly T[]): T[] =>
    order.map((i, at) => (isEnd(at) ? { ...list[i]!, type: 'break' } : list[i]!))
  const request = { ...route, locations: ordered(locations), order }
  yield JSON.stringify(answerOf(findRoute(ground, request, ordered(stops))))
}

/** Snaps the stops; a fixed first stop is only left, and a fixed last stop is only arrived at. */
function* stopsOf(
  ground: Ground,
  route: RouteRequest,
  { first, last, closed }: TourEnds,
): Generator<string, TripStop[]> {
  const { locations, dateTime, mode, options } = route
  const schedule = dateTime === null ? null : new Schedule(dateTime, locations, ground.now())
  const placing = ground.placing(route, ground.costings.get(mode, options), schedule)
  const stops: TripStop[] = []
  for (const [i, location] of locations.entries()) {
    const place = closed ? 'between' : i === first ? 'begin' : i === last ? 'end' : 'between'
    stops.push(ground.stop(placing, location, place))
    if (stops.length % STEP === 0) yield ''
  }
  return stops
}

/** Index of the first stop that the tour cannot enter or leave; −1 without one. */
function islandOf(seconds: Float64Array, count: number, { first, last, closed }: TourEnds): number {
  for (let i = 0; i < count; i++) {
    const others = Array.from({ length: count }, (_, j) => j).filter((j) => j !== i)
    const isLeft = others.some((j) => seconds[i * count + j]! < Infinity)
    const isReached = others.some((j) => seconds[j * count + i]! < Infinity)
    const mayEnd = !closed && (i === last || last === null)
    const mayBegin = !closed && (i === first || first === null)
    if ((!isLeft && !mayEnd) || (!isReached && !mayBegin)) return i
  }
  return -1
}
