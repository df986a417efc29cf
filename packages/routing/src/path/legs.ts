import type { Costing } from '../cost/costing.ts'
import { tailOf } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Point } from '../geometry/polyline.ts'
import type { Candidate, Snapped } from '../snap/candidate.ts'
import { elapsed, type SpeedAt } from './elapsed.ts'
import type { Path, PathEdge } from './path.ts'

/** Type of a location: `break` and `break_through` end a leg; the `through` types forbid U-turns. */
export type StopType = 'break' | 'through' | 'via' | 'break_through'

/** A location of a trip with its candidates. */
export interface TripStop {
  readonly type: StopType
  /** Whether the route makes a U-turn at this pass-through stop, because no street leads on. */
  readonly turnsAround?: boolean
  readonly snapped: Snapped
  /** Whether a candidate is connected well enough in both directions. */
  readonly isReachable: (candidate: Candidate) => boolean
}

/** An edge of a leg with the cost and seconds from the beginning of the leg to its end. */
export interface LegEdge extends PathEdge {
  readonly cost: number
  readonly seconds: number
  /** Ends of the travelled part of the edge; null at an end of the edge. */
  readonly beginAt: Point | null
  readonly endAt: Point | null
}

/** The part of a trip between two breaks. */
export interface Leg {
  readonly edges: readonly LegEdge[]
  readonly origin: Candidate
  readonly destination: Candidate
  /** Places in the middle of the leg at which paths were joined, in order. */
  readonly passed: readonly PassedPlace[]
}

/** A place in the middle of a leg. */
export interface PassedPlace {
  /** Place of arrival; the route may continue from another candidate of the stop. */
  readonly place: Candidate
  /** Number of edges of the leg up to it. */
  readonly edgesBefore: number
}

/** Finds the cheapest path between candidates of stop `i` and of the next, or null. */
type FindPath = (origins: readonly Candidate[], destinations: readonly Candidate[], i: number) => Path | null

/** A graph, a costing and a way to find paths. */
export interface TripContext {
  readonly graph: Graph
  readonly costing: Costing
  readonly findPath: FindPath
  /** Speeds by time for a departure from stop `i`; the usual ones when absent. */
  readonly speedsFrom?: (i: number) => SpeedAt
  /** Called for each pass-through stop with a U-turn. */
  readonly onTurnAround?: ((i: number) => void) | undefined
}

/**
 * Finds the legs of a trip over stops, or null when some pair of stops is not connected. If a pass-through stop was
 * snapped to an island, all middle stops are moved to reachable candidates once. When no street leads on from the edge
 * of arrival, e.g. at the end of an extract, the stop moves to another edge; without one the route makes a U-turn
 * there.
 */
export function planLegs(context: TripContext, stops: readonly TripStop[]): Leg[] | null {
  let placed = stops
  let areAshore = false
  let moved = 0
  for (;;) {
    const found = followStops(context, placed)
    if (Array.isArray(found)) {
      for (const [i, { turnsAround = false }] of placed.entries()) if (turnsAround) context.onTurnAround?.(i)
      return found
    }
    const { failedAt, arrivedBy } = found
    const failed = placed[failedAt]!
    const first = failed.snapped.candidates[0]
    // No path leads to the edge that a stop was moved to.
    if (failedAt < moved) placed = placed.with(moved, { ...stops[moved]!, turnsAround: true })
    else if (arrivedBy === null || !goesThrough(failed) || first === undefined) return null
    else {
      const ashore: TripStop[] | null = areAshore || failed.isReachable(first) ? null : withoutIslands(placed)
      areAshore ||= ashore !== null
      if (ashore === null) moved = failedAt
      placed = ashore ?? placed.with(failedAt, elsewhere(stops[failedAt]!, failed, arrivedBy))
      continue
    }
    moved = 0
  }
}

/** Stops whose middle ones have reachable candidates only; null when a stop has no such candidate. */
function withoutIslands(stops: readonly TripStop[]): TripStop[] | null {
  const ashore = stops.map((stop, i) => (i === 0 || i === stops.length - 1 ? stop : kept(stop, stop.isReachable)))
  return ashore.some(({ snapped }) => snapped.candidates.length === 0) ? null : ashore
}

/** A stop without the candidates on a dead-end edge; if none are left, the route makes a U-turn at the stop. */
function elsewhere(asked: TripStop, stop: TripStop, edge: number): TripStop {
  const others = kept(stop, (candidate) => candidate.edge !== edge)
  return others.snapped.candidates.length > 0 ? others : { ...asked, turnsAround: true }
}

/** A stop with some of its candidates. */
function kept(stop: TripStop, isKept: (candidate: Candidate) => boolean): TripStop {
  const { candidates, filtered } = stop.snapped
  return { ...stop, snapped: { candidates: candidates.filter(isKept), filtered: filtered.filter(isKept) } }
}

function goesThrough({ type, turnsAround = false }: TripStop): boolean {
  return !turnsAround && (type === 'through' || type === 'break_through')
}

/** Whether a leg ends at a stop. */
export function endsLeg({ type }: Pick<TripStop, 'type'>): boolean {
  return type === 'break' || type === 'break_through'
}

/** The legs, or the stop after which there is no path, with the edge of arrival at that stop. */
function followStops(
  { graph, costing, findPath, speedsFrom }: TripContext,
  stops: readonly TripStop[],
): Leg[] | { failedAt: number; arrivedBy: number | null } {
  const legs: Leg[] = []
  const open: TimedPath[] = []
  let places = stops.map(({ snapped }) => snapped)
  for (let i = 0; i + 1 < stops.length; i++) {
    const arrived = open.at(-1)?.path ?? null
    const last = legs.at(-1)?.edges.at(-1)?.edge ?? null
    const edge = arrived?.edges.at(-1)?.edge ?? last
    if (goesThrough(stops[i]!) && edge !== null) places = places.with(i, onEdge(places[i]!, edge))
    let path = findPath(places[i]!.candidates, places[i + 1]!.candidates, i)
    if (path === null) {
      // The second attempt also uses candidates against the requested heading or side.
      places = places.with(i, withFiltered(places[i]!)).with(i + 1, withFiltered(places[i + 1]!))
      path = findPath(places[i]!.candidates, places[i + 1]!.candidates, i)
    }
    if (path === null) return { failedAt: i, arrivedBy: edge }
    open.push({ path, speedAt: speedsFrom?.(i) })
    if (endsLeg(stops[i + 1]!)) legs.push(joinPaths(graph, costing, open.splice(0)))
  }
  return legs
}

function onEdge({ candidates, filtered }: Snapped, edge: number): Snapped {
  return {
    candidates: candidates.filter((candidate) => candidate.edge === edge),
    filtered: filtered.filter((candidate) => candidate.edge === edge),
  }
}

function withFiltered({ candidates, filtered }: Snapped): Snapped {
  return { candidates: [...candidates, ...filtered], filtered }
}

/** A path, and the speeds at the time of travel; the usual ones when absent. */
export interface TimedPath {
  readonly path: Path
  readonly speedAt?: SpeedAt | undefined
}

/** Joins paths at the stops between them. An edge on which one path ends and the next begins is listed once. */
export function joinPaths(graph: Graph, costing: Costing, timed: readonly TimedPath[]): Leg {
  const paths = timed.map(({ path }) => path)
  const edges: LegEdge[] = []
  const passed: PassedPlace[] = []
  for (const [at, { path, speedAt }] of timed.entries()) {
    const sums = elapsed(graph, costing, path.edges, speedAt)
    const before = edges.at(-1) ?? null
    const first = path.edges[0]!
    const continues = before !== null && before.edge === first.edge && (isEnd(before.end) || isEnd(first.begin))
    if (before !== null) {
      passed.push({
        place: paths[at - 1]!.destination,
        edgesBefore: edges.length - Number(continues && before.end === 0),
      })
    }
    if (continues) edges.pop()
    path.edges.forEach(({ edge, begin, end }, i) => {
      edges.push({
        edge,
        begin: continues && i === 0 ? before.begin : begin,
        end,
        cost: (before?.cost ?? 0) + sums.cost[i]!,
        seconds: (before?.seconds ?? 0) + sums.seconds[i]!,
        beginAt: i > 0 ? null : continues ? before.beginAt : placeAt(path.origin, before === null),
        endAt: i + 1 < path.edges.length ? null : placeAt(path.destination, path === paths.at(-1)),
      })
    })
  }
  return { edges, origin: paths[0]!.origin, destination: paths.at(-1)!.destination, passed }
}

/** The place of a candidate, unless it is a node in the middle of a leg. */
function placeAt(candidate: Candidate, isOuter: boolean): Point | null {
  return isOuter || !isEnd(candidate.along) ? candidate : null
}

function isEnd(along: number): boolean {
  return along === 0 || along === 1
}

/** Whether two edges of a leg meet at a node instead of at a stop in the middle of an edge. */
export function meetAtNode(graph: Graph, before: PathEdge, after: PathEdge): boolean {
  return before.end === 1 && after.begin === 0 && graph.edgeHead[before.edge] === tailOf(graph, after.edge)
}
