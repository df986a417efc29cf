import type { ArcGraph, PathSearch } from '../search/search.ts'
import { type TimedOptions, timedSearch } from '../search/timed.ts'
import { WEIGHT_PER_SECOND, type StateWeights } from '../states/weights.ts'
import type { TimedLaw } from '../time/timed-rules.ts'
import { elapsed, type SpeedAt } from './elapsed.ts'
import type { PathEdge } from './path.ts'

/** Clock of a trip: its timed rules, and whether time is constant. */
export interface Clock {
  readonly law: TimedLaw
  /** Whether the rules at departure apply to the whole trip. */
  readonly stands: boolean
}

/** Cost in seconds of entering a street that is for local traffic at that hour, from another street. */
const LOCAL_PENALTY = 600

/** Speeds by time for a departure at a moment. */
export function speedsFrom({ law, stands }: Clock, startMs: number): SpeedAt {
  return (edge, seconds) => law.speed(edge, startMs + (stands ? 0 : seconds * 1000))
}

/** Whether a path with a departure at a moment obeys all timed rules. */
export function isInTime(
  { network: graph, costing }: Pick<StateWeights, 'network' | 'costing'>,
  { law, stands }: Clock,
  edges: readonly PathEdge[],
  startMs: number,
): boolean {
  if (!edges.some(({ edge }, i) => i > 0 && law.isTimed(edge))) return true
  const speedAt = speedsFrom({ law, stands }, startMs)
  const { seconds } = elapsed(graph, costing, edges, speedAt)
  // If an edge is slower than usual, another path may be cheaper.
  const isSlow = ({ edge }: PathEdge, i: number): boolean => {
    const kmh = i === 0 ? 0 : speedAt(edge, seconds[i - 1]!)
    return kmh > 0 && costing.edgeCost(edge, kmh) > costing.edgeCost(edge)
  }
  if (edges.some(isSlow)) return false
  const verdicts = edges.map(({ edge }, i) => {
    if (i === 0) return 'open'
    const at = startMs + (stands ? 0 : seconds[i - 1]! * 1000)
    return law.forbids(edge, (steps) => edges[i - steps]?.edge ?? -1, at) ? 'closed' : law.edge(edge, at)
  })
  const lastPublic = verdicts.lastIndexOf('open')
  return verdicts.every((verdict, i) => verdict === 'open' || (verdict === 'local' && i > lastPublic))
}

/** Graph and weights of a timed search. */
export interface TimedGround {
  readonly states: ArcGraph
  readonly weights: StateWeights
  /** Weight of an arc, regardless of time. */
  readonly weight: (arc: number, tail: number) => number
  /** A lower bound of the weight from a state to the nearest target. */
  readonly estimate: (vertex: number) => number
}

/** The search that obeys the timed rules at the time each edge is passed. */
export function searchInTime(
  { states, weights, weight, estimate }: TimedGround,
  clock: Clock,
  startMs: number,
): PathSearch {
  return timedSearch(states, {
    weight,
    estimate,
    seconds: secondsInTime(weights, clock, startMs),
    extra: extraInTime(weights, clock, startMs),
  })
}

/** Seconds of an arc for a departure at a moment; see `TimedOptions`. */
export function secondsInTime(weights: StateWeights, clock: Clock, startMs: number): TimedOptions['seconds'] {
  const { graph } = weights
  const speedAt = speedsFrom(clock, startMs)
  return (arc, tail, passed) => {
    const to = graph.edgeOf(graph.head[arc]!)
    const kmh = speedAt(to, passed)
    const usual = weights.seconds(arc, tail)
    return kmh === 0 ? usual : usual - weights.edgeSeconds(to) + weights.costing.edgeSeconds(to, kmh)
  }
}

/** Extra cost of an arc at the time of leaving its tail; see `TimedOptions`. */
export function extraInTime(
  { graph, costing }: StateWeights,
  { law, stands }: Clock,
  startMs: number,
): TimedOptions['extra'] {
  const slowness = (edge: number, at: number): number => {
    const kmh = law.speed(edge, at)
    return kmh === 0 ? 0 : Math.max(0, costing.edgeCost(edge, kmh) - costing.edgeCost(edge))
  }
  return (arc, tail, seconds, before) => {
    const from = graph.edgeOf(tail)
    const to = graph.edgeOf(graph.head[arc]!)
    if (!law.isTimed(to) && !law.isTimed(from)) return 0
    const at = startMs + (stands ? 0 : seconds * 1000)
    const edgeBefore = (steps: number): number => {
      const vertex = before(steps - 1)
      return vertex < 0 ? -1 : graph.edgeOf(vertex)
    }
    if (law.forbids(to, edgeBefore, at)) return Infinity
    const verdict = law.edge(to, at)
    if (verdict === 'closed') return Infinity
    const isLocal = verdict === 'local'
    const wasLocal = law.edge(from, at) === 'local'
    const enters = isLocal && !wasLocal ? LOCAL_PENALTY : 0
    const passes = wasLocal && !isLocal && !costing.isLocal(to) ? costing.throughLocal : 0
    return Math.round((slowness(to, at) + enters + passes) * WEIGHT_PER_SECOND)
  }
}
