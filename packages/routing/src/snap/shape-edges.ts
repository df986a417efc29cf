import { EdgeField, get } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'

const known = new WeakMap<Graph, Uint32Array>()

/** The two edges of each geometry: at `2 * shape` the one in the order of its points, then the opposite one. */
export function shapeEdges(graph: Graph): Uint32Array {
  let edges = known.get(graph)
  if (edges === undefined) {
    edges = new Uint32Array(graph.edgeCount)
    for (let edge = 0; edge < graph.edgeCount; edge++) {
      edges[2 * graph.edgeShape[edge]! + (get(graph.edgeInfo[edge]!, EdgeField.forward) === 1 ? 0 : 1)] = edge
    }
    known.set(graph, edges)
  }
  return edges
}
