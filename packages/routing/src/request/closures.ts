import type { Ring } from './location.ts'
import type { Graph } from '../graph/graph.ts'
import type { Costing } from '../cost/costing.ts'
import type { Closures } from '../path/path.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import type { Candidate } from '../snap/candidate.ts'
import { shapesTouching } from '../snap/touching.ts'

/** The edges that a request closes: the edges of its excluded locations, and all edges that its polygons touch. */
export function closuresOf(
  { graph, costing }: { graph: Graph; costing: Costing },
  places: readonly Candidate[],
  rings: readonly Ring[],
): Closures {
  const closures = new Map<number, number>()
  const edges = shapeEdges(graph)
  for (const shape of shapesTouching(graph, rings)) {
    for (const edge of [edges[2 * shape]!, edges[2 * shape + 1]!]) if (costing.snapOpen(edge)) closures.set(edge, 0)
  }
  for (const { edge, along } of places) if (!closures.has(edge)) closures.set(edge, along)
  return closures
}
