import type { Graph } from '../graph/graph.ts'
import type { PathEdge } from '../path/path.ts'
import type { Chain } from './matcher.ts'
import type { Candidate } from './steps.ts'

/** The edges of a chain, and the position of each of its candidates on them. */
export interface MatchedPath {
  readonly edges: readonly PathEdge[]
  /** For each candidate, the index of its edge and its share of that edge. */
  readonly places: readonly { readonly index: number; readonly along: number }[]
}

/** Joins the steps of a chain to one path. */
export function pathOfChain(graph: Graph, { candidates }: Chain): MatchedPath {
  const first = candidates[0]!
  const edges: { edge: number; begin: number; end: number }[] = [
    { edge: first.edge, begin: first.along, end: first.along },
  ]
  const places = [{ index: 0, along: first.along }]
  for (const { edge, along, back } of candidates.slice(1) as readonly Candidate[]) {
    const passed = back!.edges
    for (const [i, next] of passed.entries()) {
      const last = edges.at(-1)!
      // The first edge is that of the previous candidate; a U-turn leaves it at that candidate.
      if (i === 0 && next === last.edge) continue
      if (back!.turnsBack && i === 1) edges.push({ edge: next, begin: 1 - last.end, end: 1 - last.end })
      else {
        last.end = 1
        edges.push({ edge: next, begin: 0, end: 0 })
      }
    }
    const last = edges.at(-1)!
    last.end = Math.max(last.end, edge === last.edge ? along : last.end)
    places.push({ index: edges.length - 1, along: last.end })
  }
  return trimmed(graph, { edges, places })
}

/** Maximum length in metres at which an edge is only touched. */
const TOUCHED = 0.5

/** Removes edges at the ends that are only touched. */
function trimmed(graph: Graph, { edges, places }: MatchedPath): MatchedPath {
  const isTouched = ({ edge, begin, end }: PathEdge): boolean => (end - begin) * graph.edgeLength[edge]! < TOUCHED
  let first = 0
  let last = edges.length - 1
  while (first < last && isTouched(edges[first]!)) first++
  while (last > first && isTouched(edges[last]!)) last--
  return {
    edges: edges.slice(first, last + 1),
    places: places.map(({ index, along }) =>
      index < first
        ? { index: 0, along: edges[first]!.begin }
        : index > last
          ? { index: last - first, along: edges[last]!.end }
          : { index: index - first, along },
    ),
  }
}
