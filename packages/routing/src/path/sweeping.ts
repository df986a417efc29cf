import { turnIndex } from '../graph/fields.ts'
import type { PreparedCosting } from '../network/costings.ts'
import type { TurnNetwork } from '../network/turns.ts'
import { HierarchySweep } from '../search/cch/hierarchy-sweep.ts'
import { UNREACHABLE } from '../search/search.ts'
import { Sweep, type SweepRules, type SweepSeed } from '../search/sweep.ts'
import type { Candidate } from '../snap/candidate.ts'
import { WEIGHT_PER_SECOND } from '../states/weights.ts'
import { type Clock, extraInTime, secondsInTime } from './clock.ts'
import type { Closures, Stop } from './path.ts'

/** Weight above that of any path without excluded streets. */
export const TOO_FAR = 400_000 * WEIGHT_PER_SECOND

const freeSweeps = new WeakMap<TurnNetwork, Sweep>()
const freeHierarchySweeps = new WeakMap<TurnNetwork, HierarchySweep>()

/** A search over the states of a costing, and a function that releases its memory to the next one. */
export interface Taken<T> {
  readonly sweep: T
  readonly giveBack: () => void
}

/** Takes a sweep that obeys all rules of a request. */
export function takeSweep({ turns }: PreparedCosting): Taken<Sweep> {
  return takeFrom(freeSweeps, turns, () => new Sweep(turns.states, () => turns.reverse))
}

/** Takes a sweep with the hierarchy of a network. */
export function takeHierarchySweep(turns: TurnNetwork): Taken<HierarchySweep> {
  return takeFrom(
    freeHierarchySweeps,
    turns,
    () => new HierarchySweep(turns.states, () => turns.reverse, turns.topology),
  )
}

/** A free sweep of a network, or a new one. */
export function takeFrom<T>(free: WeakMap<TurnNetwork, T>, turns: TurnNetwork, make: () => T): Taken<T> {
  const sweep = free.get(turns) ?? make()
  free.delete(turns)
  return { sweep, giveBack: () => void free.set(turns, sweep) }
}

/** Parameters of a sweep besides its costing. */
export interface SweepTerms {
  readonly closures: Closures
  /** Candidates at the start, whose edges may be used even if closed. */
  readonly candidates: readonly Candidate[]
  readonly clock: { readonly clock: Clock; readonly startMs: number } | null
  readonly leadsOn: SweepRules['leadsOn']
}

/** Rules of a sweep: the costs of a costing, and the closures of the request. */
export function sweepRules(
  { weights }: PreparedCosting,
  { closures, candidates, clock, leadsOn }: SweepTerms,
): SweepRules {
  const { graph, network } = weights
  const { head } = graph
  const own = new Set(candidates.map(({ edge }) => edge))
  const isClosed = (edge: number): boolean => closures.has(edge) && !own.has(edge)
  return {
    weight:
      closures.size === 0
        ? (arc, tail) => weights.arc(arc, tail)
        : (arc, tail) =>
            isClosed(graph.edgeOf(tail)) || isClosed(graph.edgeOf(head[arc]!)) ? UNREACHABLE : weights.arc(arc, tail),
    seconds:
      clock === null ? (arc, tail) => weights.seconds(arc, tail) : secondsInTime(weights, clock.clock, clock.startMs),
    meters: (arc) => network.edgeLength[graph.edgeOf(head[arc]!)]!,
    leadsOn,
    ...(clock !== null && { extra: extraInTime(weights, clock.clock, clock.startMs) }),
  }
}

/** Seconds and metres of the part of a path that a seed represents; negative for an untravelled part of an edge. */
export function seedOf(
  { costing, weights: { network, graph } }: PreparedCosting,
  vertex: number,
  { candidate: { edge, along }, cost, place }: Stop,
  end: 'origin' | 'destination',
): SweepSeed {
  const [edgeSeconds, edgeMeters] = [costing.edgeSeconds(edge), network.edgeLength[edge]!]
  if (place === 'on') {
    const share = end === 'origin' ? 1 - along : along - 1
    return { vertex, cost, seconds: edgeSeconds * share, meters: edgeMeters * share }
  }
  // The state is on the edge before or after the candidate's, so the turn between them belongs to the seed.
  const other = graph.edgeOf(vertex)
  const [from, to] = place === 'before' ? [edge, other] : [other, edge]
  const turn = costing.turnSeconds(from, to, network.turnInfo[turnIndex(network, from, to)]!)
  return place === 'before'
    ? {
        vertex,
        cost,
        seconds: edgeSeconds * (1 - along) + turn + costing.edgeSeconds(other),
        meters: edgeMeters * (1 - along) + network.edgeLength[other]!,
      }
    : { vertex, cost, seconds: turn + edgeSeconds * along, meters: edgeMeters * along }
}
