import type { Costing } from '../cost/costing.ts'
import { turnIndex } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { type PathSearch, type Seed, UNREACHABLE } from '../search/search.ts'
import type { Candidate } from '../snap/snap.ts'
import { WEIGHT_PER_SECOND, type StateWeights } from '../states/weights.ts'

/** An edge of a path, or the part of it that is travelled. */
export interface PathEdge {
  readonly edge: number
  /** Shares of the edge where the part begins and ends. */
  readonly begin: number
  readonly end: number
}

/** A path between two locations, from one of the candidates of each. */
export interface Path {
  readonly edges: readonly PathEdge[]
  readonly origin: Candidate
  readonly destination: Candidate
}

/** Finds the cheapest path between candidates; null when there is none. */
export function findPath(
  weights: StateWeights,
  search: PathSearch,
  origins: readonly Candidate[],
  destinations: readonly Candidate[],
): Path | null {
  const direct = directPath(weights, origins, destinations)
  const starts = originSeeds(weights, origins, destinations)
  const ends = destinationSeeds(weights, destinations)
  if (starts.size === 0 || ends.size === 0) return direct?.path ?? null
  const found = search.find(seeds(starts), seeds(ends))
  if (found === null || (direct !== null && direct.cost <= found.cost)) return direct?.path ?? null
  const { stateEdge } = weights.graph
  const start = starts.get(found.vertices[0]!)!
  const end = ends.get(found.vertices.at(-1)!)!
  const chain = found.vertices.map((vertex) => stateEdge[vertex]!)
  if (start.before) chain.unshift(start.candidate.edge)
  const edges = chain.map((edge, i) => ({
    edge,
    begin: i === 0 ? start.candidate.along : 0,
    end: i === chain.length - 1 ? end.candidate.along : 1,
  }))
  return { edges, origin: start.candidate, destination: end.candidate }
}

/** Where a search begins or ends: the candidate a state stands for and what it costs to be there. */
interface Stop {
  readonly candidate: Candidate
  readonly cost: number
  /** The state follows the edge of the candidate instead of being on it. */
  readonly before: boolean
}

function seeds(stops: ReadonlyMap<number, Stop>): Seed[] {
  return Array.from(stops, ([vertex, { cost }]) => ({ vertex, cost }))
}

function offer(stops: Map<number, Stop>, state: number, stop: Stop): void {
  const known = stops.get(state)
  if (known === undefined || stop.cost < known.cost) stops.set(state, stop)
}

/** Weight of a share of an edge and the penalty of a candidate. */
function partWeight(weights: StateWeights, { edge, penalty }: Candidate, share: number): number {
  return Math.round(weights.edgeWeight[edge]! * share + penalty * WEIGHT_PER_SECOND)
}

/** A path along a single edge. */
function directPath(
  weights: StateWeights,
  origins: readonly Candidate[],
  destinations: readonly Candidate[],
): { cost: number; path: Path } | null {
  let best: { cost: number; path: Path } | null = null
  for (const origin of origins) {
    for (const destination of destinations) {
      if (origin.edge !== destination.edge || destination.along < origin.along) continue
      const cost =
        partWeight(weights, origin, destination.along - origin.along) + partWeight(weights, destination, 0)
      if (best !== null && cost >= best.cost) continue
      const edges = [{ edge: origin.edge, begin: origin.along, end: destination.along }]
      best = { cost, path: { edges, origin, destination } }
    }
  }
  return best
}

function originSeeds(weights: StateWeights, origins: readonly Candidate[], destinations: readonly Candidate[]): Map<number, Stop> {
  const { edgeState, firstOut, head } = weights.graph
  const arrivesOnly = origins.every((candidate) => candidate.along === 1)
  const stops = new Map<number, Stop>()
  for (const candidate of origins) {
    const state = edgeState[candidate.edge]!
    if (state < 0 || (candidate.along === 1 && !arrivesOnly)) continue
    const cost = partWeight(weights, candidate, 1 - candidate.along)
    if (destinations.every(({ edge }) => edge !== candidate.edge)) {
      offer(stops, state, { candidate, cost, before: false })
      continue
    }
    // The destination lies on the same edge: a way around must leave the edge before it comes back.
    for (let arc = firstOut[state]!; arc < firstOut[state + 1]!; arc++) {
      const weight = weights.arc(arc, state)
      if (weight < UNREACHABLE) offer(stops, head[arc]!, { candidate, cost: cost + weight, before: true })
    }
  }
  return stops
}

function destinationSeeds(weights: StateWeights, destinations: readonly Candidate[]): Map<number, Stop> {
  const { edgeState, nextState } = weights.graph
  const leavesOnly = destinations.every((candidate) => candidate.along === 0)
  const stops = new Map<number, Stop>()
  for (const candidate of destinations) {
    if (candidate.along === 0 && !leavesOnly) continue
    const cost = partWeight(weights, candidate, candidate.along - 1)
    for (let state = edgeState[candidate.edge]!; state >= 0; state = nextState[state]!) {
      offer(stops, state, { candidate, cost, before: false })
    }
  }
  return stops
}

/** Cost and time at the end of each edge of a path. */
export interface Elapsed {
  readonly cost: Float64Array
  readonly seconds: Float64Array
  /** Seconds of the turn onto each edge. */
  readonly turnSeconds: Float64Array
}

/** Sums what a path costs, exactly as its costing says, without what searches add to it. */
export function elapsed(graph: Graph, costing: Costing, edges: readonly PathEdge[]): Elapsed {
  const result = {
    cost: new Float64Array(edges.length),
    seconds: new Float64Array(edges.length),
    turnSeconds: new Float64Array(edges.length),
  }
  let cost = 0
  let seconds = 0
  edges.forEach(({ edge, begin, end }, i) => {
    const before = edges[i - 1]
    if (before !== undefined && before.end === 1 && begin === 0) {
      const turn = graph.turnInfo[turnIndex(graph, before.edge, edge)]!
      const turning = costing.turnSeconds(before.edge, edge, turn)
      result.turnSeconds[i] = turning
      seconds += turning
      cost += costing.pathTurnCost(before.edge, edge, turn)
    }
    cost += costing.edgeCost(edge) * (end - begin)
    seconds += costing.edgeSeconds(edge) * (end - begin)
    result.cost[i] = cost
    result.seconds[i] = seconds
  })
  return result
}
