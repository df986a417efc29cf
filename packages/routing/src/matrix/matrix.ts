import type { Work } from '../actions.ts'
import type { Ground } from '../ground.ts'
import type { PreparedCosting } from '../network/costings.ts'
import type { TripStop } from '../path/legs.ts'
import type { Location } from '../request/location.ts'
import { type Cell, Cells, type CellsRequest, usedCosting } from './cells.ts'
import type { MatrixRequest } from './request.ts'
import { writerOf } from './write.ts'

/** Number of locations that are snapped per step. */
const STEP = 50

/**
 * The answer to a request for a matrix, row by row: only one row and the snapped locations are in memory.
 *
 * @param mayWait whether to wait for the hierarchy of a costing with options of its own
 * @throws RouteProblem 171 when no street is near one of the locations
 */
export function* matrixOf(ground: Ground, request: MatrixRequest, mayWait: boolean): Work {
  const { mode, options } = request
  if (mayWait) while (isComing(ground, request)) yield null
  const prepared = ground.costings.get(mode, options)
  const stops = {
    sources: yield* stopsOf(ground, prepared, request.sources, 'begin'),
    targets: yield* stopsOf(ground, prepared, request.targets, 'end'),
  }
  const cells = new Cells(ground, request, prepared, stops)
  for (const _ of cells.prepare()) yield ''
  const writer = writerOf(ground, request, stops)
  yield writer.begin()
  if (request.nearest !== null && request.targets.length === 1) {
    const rows: (Cell | null)[][] = []
    for (let i = 0; i < request.sources.length; i++) rows.push(yield* rowOf(cells, i))
    const kept = nearest(rows.flat(), request.nearest)
    for (const cell of kept) yield writer.row([cell])
  } else {
    for (let i = 0; i < request.sources.length; i++) {
      const row = yield* rowOf(cells, i)
      yield writer.row(request.nearest === null ? row : nearest(row, request.nearest))
    }
  }
  yield writer.end()
}

/** Whether a hierarchy that the request needs is being prepared. */
export function isComing(ground: Ground, request: CellsRequest): boolean {
  const { mode, options } = request
  const prepared = ground.costings.get(mode, options)
  const used = usedCosting(ground, request, prepared)
  return used.customized === null && ground.costings.isComing(used)
}

function* stopsOf(
  ground: Ground,
  prepared: PreparedCosting,
  locations: readonly Location[],
  place: 'begin' | 'end',
): Generator<string, TripStop[]> {
  const stops: TripStop[] = []
  for (const location of locations) {
    stops.push(ground.stop(prepared, location, place))
    if (stops.length % STEP === 0) yield ''
  }
  return stops
}

/** Computes a row of cells; yields after each step. */
export function* rowOf(cells: Cells, i: number): Generator<string, (Cell | null)[]> {
  const row = cells.row(i)
  let step = row.next()
  for (; step.done !== true; step = row.next()) yield ''
  return step.value
}

/** Keeps the cheapest cells; the others become null. */
function nearest(cells: readonly (Cell | null)[], count: number): (Cell | null)[] {
  const order = cells
    .map((cell, i) => ({ i, cost: cell?.cost ?? Infinity }))
    .toSorted((a, b) => a.cost - b.cost || a.i - b.i)
  const kept = new Set(order.slice(0, count).map(({ i }) => i))
  return cells.map((cell, i) => (kept.has(i) ? cell : null))
}
