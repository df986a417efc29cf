import type { Costing } from '../cost/costing.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import type { Graph } from '../graph/graph.ts'
import type { Candidate } from '../snap/candidate.ts'
import { WEIGHT_PER_SECOND } from '../states/weights.ts'
import { elapsed } from './elapsed.ts'
import type { Path, PathEdge } from './path.ts'
import type { Planner } from './planner.ts'

/** Maximum number of rejected paths before the search for alternates ends. */
const MOST_EXAMINED = 400
/** Maximum cost of a differing part, as a multiple of the part that it replaces. */
const MOST_DETOUR = 2

/**
 * The cheapest path and up to `count` good alternates: they share limited length with each other, do not cost much more
 * in total, and have no long detours. The limits are those of Valhalla 3.6 (`thor/alternates.cc`, after Kobitzsch:
 * "Alternative Route Techniques", 2015).
 */
export function alternates(
  given: { graph: Graph; costing: Costing; planner: Planner; count: number; startMs: number },
  origins: readonly Candidate[],
  destinations: readonly Candidate[],
): Path[] {
  const { graph, costing, planner, count, startMs } = given
  const accepted: Path[] = []
  const mostShared = mostSharedLength(origins[0]!, destinations[0]!)
  let examined = 0
  for (const path of planner.findSeveral(origins, destinations, mostWeight, startMs)) {
    if (accepted.length > 0) {
      const apart = accepted.every(
        (other) => sharedMeters(graph, path, other) <= mostShared * metersOf(graph, other.edges),
      )
      if (!apart || turnsBack(path) || goesFarAround(graph, costing, accepted[0]!, path)) {
        if (++examined === MOST_EXAMINED) break
        continue
      }
    }
    accepted.push(path)
    if (accepted.length > count) break
  }
  return accepted
}

/** Maximum weight of an alternate. */
function mostWeight(cheapest: number): number {
  const seconds = cheapest / WEIGHT_PER_SECOND
  return Math.min(seconds * mostLonger(seconds), seconds * 1.2 + 420) * WEIGHT_PER_SECOND
}

/** Maximum duration of an alternate as a factor: 2 for short routes, 1.25 for long ones. */
function mostLonger(seconds: number): number {
  if (seconds < 600) return 2
  return seconds < 18000 ? 1.21067994 + 722.941576 / seconds - 145726.221 / seconds ** 2 : 1.25
}

/** Maximum share of another path that an alternate may repeat: 0.6 for short routes, 0.75 for long ones. */
function mostSharedLength(origin: Candidate, destination: Candidate): number {
  const meters = distanceMeters(origin.lon, origin.lat, destination.lon, destination.lat)
  return 0.6 + 0.15 * Math.min(1, Math.max(0, (meters - 10_000) / 90_000))
}

function metersOf(graph: Graph, edges: readonly PathEdge[]): number {
  return edges.reduce((sum, { edge, begin, end }) => sum + graph.edgeLength[edge]! * (end - begin), 0)
}

function sharedMeters(graph: Graph, path: Path, other: Path): number {
  const taken = new Set(other.edges.map(({ edge }) => edge))
  return metersOf(
    graph,
    path.edges.filter(({ edge }) => taken.has(edge)),
  )
}

/** Whether a path uses a street twice. */
function turnsBack({ edges }: Path): boolean {
  return new Set(edges.map(({ edge }) => edge)).size < edges.length
}

/** Whether the part in which a path differs from the best one costs too much more. */
function goesFarAround(graph: Graph, costing: Costing, best: Path, path: Path): boolean {
  const differs = (i: number, j: number): boolean => best.edges[i]?.edge !== path.edges[j]?.edge
  let first = 0
  while (first < path.edges.length && !differs(first, first)) first++
  let lastOfBest = best.edges.length - 1
  let last = path.edges.length - 1
  while (lastOfBest > first && last > first && !differs(lastOfBest, last)) {
    lastOfBest--
    last--
  }
  if (first > lastOfBest) return first < path.edges.length
  return (
    stretchCost(graph, costing, path, first, last) > MOST_DETOUR * stretchCost(graph, costing, best, first, lastOfBest)
  )
}

function stretchCost(graph: Graph, costing: Costing, { edges }: Path, first: number, last: number): number {
  const { cost } = elapsed(graph, costing, edges.slice(first, last + 1))
  return cost.at(-1) ?? 0
}
