import type { AlternativeSearch, FoundPath, PathSearch, Seed } from '../search/search.ts'
import { UNREACHABLE } from '../search/search.ts'
import type { Candidate } from '../snap/candidate.ts'
import { WEIGHT_PER_SECOND, type StateWeights } from '../states/weights.ts'

/** An edge of a path, or the part of it that is travelled. */
export interface PathEdge {
  readonly edge: number
  /** Shares of the edge at which the part begins and ends. */
  readonly begin: number
  readonly end: number
}

/** A path between two locations, from one of the candidates of each. */
export interface Path {
  readonly edges: readonly PathEdge[]
  readonly origin: Candidate
  readonly destination: Candidate
}

/** Edges that a request closes, with the share of the edge at which the obstacle is. */
export type Closures = ReadonlyMap<number, number>

const OPEN: Closures = new Map()

/** Finds the cheapest path between candidates; null when there is no path. */
export function findPath(weights: StateWeights, search: PathSearch, ends: Ends): Path | null {
  const { direct, origins, destinations } = seedsOf(weights, ends)
  const found =
    origins.size === 0 || destinations.size === 0
      ? null
      : search.find(seeds(weights, origins), seeds(weights, destinations))
  if (found === null || (direct !== null && direct.cost <= found.cost)) return direct?.path ?? null
  return pathOf(weights, found, origins, destinations)
}

/**
 * Paths between candidates: the cheapest, then the cheapest ones via some vertex.
 *
 * @param most maximum weight of a path, from the weight of the cheapest
 */
export function* findPaths(
  weights: StateWeights,
  search: AlternativeSearch,
  ends: Ends,
  most: (cheapest: number) => number,
): Iterable<Path> {
  const { direct, origins, destinations } = seedsOf(weights, ends)
  if (direct !== null) yield direct.path
  if (origins.size === 0 || destinations.size === 0) return
  for (const found of search.findSeveral(seeds(weights, origins), seeds(weights, destinations), most)) {
    if (direct === null || found.cost <= most(direct.cost)) yield pathOf(weights, found, origins, destinations)
  }
}

/** Candidates at both ends of a path, and the closed edges in between. */
export interface Ends {
  readonly origins: readonly Candidate[]
  readonly destinations: readonly Candidate[]
  readonly closures?: Closures
}

/** An end of a search: a candidate and its cost. */
export interface Stop {
  readonly candidate: Candidate
  readonly cost: number
  /** Whether the candidate is on the edge before that of the state, on the same edge, or on the one after. */
  readonly place: 'before' | 'on' | 'after'
}

/** Start and end states of a search between candidates, and a direct path along one edge. */
export interface EndStates {
  readonly direct: { cost: number; path: Path } | null
  readonly origins: ReadonlyMap<number, Stop>
  readonly destinations: ReadonlyMap<number, Stop>
}

/** The states of both ends, for searches outside of this module; closed edges keep the states before the obstacle. */
export function seedsOf(weights: StateWeights, { origins, destinations, closures = OPEN }: Ends): EndStates {
  const leaving = origins.filter(({ edge, along }) => !((closures.get(edge) ?? -1) >= along))
  const arriving = destinations.filter(({ edge, along }) => !((closures.get(edge) ?? 2) <= along))
  return {
    direct: directPath(weights, leaving, arriving),
    origins: originStates(weights, leaving, arriving),
    destinations: destinationStates(weights, arriving),
  }
}

function seeds({ costing, graph }: StateWeights, stops: ReadonlyMap<number, Stop>): Seed[] {
  return Array.from(stops, ([vertex, { cost, place, candidate }]) => {
    const rest = (1 - candidate.along) * costing.edgeSeconds(candidate.edge)
    return { vertex, cost, seconds: place === 'before' ? rest + costing.edgeSeconds(graph.edgeOf(vertex)) : rest }
  })
}

function pathOf(
  weights: StateWeights,
  found: FoundPath,
  origins: ReadonlyMap<number, Stop>,
  destinations: ReadonlyMap<number, Stop>,
): Path {
  const start = origins.get(found.vertices[0]!)!
  const end = destinations.get(found.vertices.at(-1)!)!
  const chain = found.vertices.map((vertex) => weights.graph.edgeOf(vertex))
  if (start.place === 'before') chain.unshift(start.candidate.edge)
  if (end.place === 'after') chain.push(end.candidate.edge)
  const edges = chain.map((edge, i) => ({
    edge,
    begin: i === 0 ? start.candidate.along : 0,
    end: i === chain.length - 1 ? end.candidate.along : 1,
  }))
  return { edges, origin: start.candidate, destination: end.candidate }
}

function offer(stops: Map<number, Stop>, state: number, stop: Stop): void {
  const known = stops.get(state)
  if (known === undefined || stop.cost < known.cost) stops.set(state, stop)
}

/** Weight of a share of an edge, plus the penalty of a candidate. */
function partWeight(weights: StateWeights, { edge, penalty }: Candidate, share: number): number {
  return Math.round(weights.endEdge(edge) * share + penalty * WEIGHT_PER_SECOND)
}

/** A path along a single edge. */
function directPath(
  weights: StateWeights,
  origins: readonly Candidate[],
  destinations: readonly Candidate[],
): { cost: number; path: Path } | null {
  let best: { cost: number; path: Path } | null = null
  const amends = amendsFor(weights, origins)
  for (const origin of origins) {
    for (const destination of destinations) {
      if (origin.edge !== destination.edge || destination.along < origin.along) continue
      if (weights.endEdge(origin.edge) >= UNREACHABLE) continue
      const part = partWeight(weights, origin, destination.along - origin.along) + partWeight(weights, destination, 0)
      const cost = part + amends(origin)
      if (best !== null && cost >= best.cost) continue
      const edges = [{ edge: origin.edge, begin: origin.along, end: destination.along }]
      best = { cost, path: { edges, origin, destination } }
    }
  }
  return best
}

function originStates(
  weights: StateWeights,
  origins: readonly Candidate[],
  destinations: readonly Candidate[],
): Map<number, Stop> {
  const { firstOut, head } = weights.graph
  const arrivesOnly = origins.every((candidate) => candidate.along === 1)
  const stops = new Map<number, Stop>()
  const amends = amendsFor(weights, origins)
  for (const candidate of origins) {
    const state = weights.stateOf(candidate.edge)
    if (state < 0 || weights.endEdge(candidate.edge) >= UNREACHABLE) continue
    if (candidate.along === 1 && !arrivesOnly) continue
    const cost = partWeight(weights, candidate, 1 - candidate.along) + amends(candidate)
    if (destinations.every(({ edge }) => edge !== candidate.edge)) {
      offer(stops, state, { candidate, cost, place: 'on' })
      continue
    }
    // The destination may be on the same edge: a path around must leave the edge before it returns.
    for (let arc = firstOut[state]!; arc < firstOut[state + 1]!; arc++) {
      const weight = weights.arc(arc, state)
      if (weight < UNREACHABLE) offer(stops, head[arc]!, { candidate, cost: cost + weight, place: 'before' })
    }
  }
  return stops
}

/**
 * Extra costs of origin candidates. A route may leave a street for local access, but searches charge it as through
 * traffic. Candidates on other streets get the same penalty, so that it does not decide between them, unless they are
 * nearer than all candidates on such streets.
 */
function amendsFor({ costing }: StateWeights, origins: readonly Candidate[]): (origin: Candidate) => number {
  const nearest = origins.reduce(
    (least, { edge, penalty }) => (costing.isLocal(edge) ? Math.min(least, penalty) : least),
    Infinity,
  )
  const amends = costing.throughLocal * WEIGHT_PER_SECOND
  return ({ edge, penalty }) => (penalty >= nearest && !costing.isLocal(edge) ? amends : 0)
}

function destinationStates(weights: StateWeights, destinations: readonly Candidate[]): Map<number, Stop> {
  const leavesOnly = destinations.every((candidate) => candidate.along === 0)
  const stops = new Map<number, Stop>()
  for (const candidate of destinations) {
    if (candidate.along === 0 && !leavesOnly) continue
    const cost = partWeight(weights, candidate, candidate.along - 1)
    for (const state of weights.statesOf(candidate.edge)) offer(stops, state, { candidate, cost, place: 'on' })
    if (weights.edge(candidate.edge) >= UNREACHABLE) offerEntries(weights, candidate, cost, stops)
  }
  return stops
}

/** Adds the states before an edge that is open to local access only. */
function offerEntries(weights: StateWeights, candidate: Candidate, part: number, stops: Map<number, Stop>): void {
  if (weights.endEdge(candidate.edge) >= UNREACHABLE) return
  const { graph, network } = weights
  const { firstOut, head } = graph
  for (const entry of weights.entries(candidate.edge)) {
    if (candidate.edge === network.edgeOpposite[entry]) continue
    for (const state of weights.statesOf(entry)) {
      for (let arc = firstOut[state]!; arc < firstOut[state + 1]!; arc++) {
        if (graph.edgeOf(head[arc]!) !== candidate.edge) continue
        const weight = weights.lastArc(arc, state)
        if (weight < UNREACHABLE) offer(stops, state, { candidate, cost: weight + part, place: 'after' })
      }
    }
  }
}
