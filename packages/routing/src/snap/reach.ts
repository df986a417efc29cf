import type { Costing } from '../cost/costing.ts'
import { tailOf } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'

/**
 * Whether at least so many nodes can be reached from an edge and can reach it: otherwise it lies on an island, which few
 * routes begin or end on. Large parts of the network are known beforehand; the rest is counted.
 */
export function isReachable(graph: Graph, costing: Costing, edge: number, nodes: number): boolean {
  if (nodes === 0) return true
  const head = graph.edgeHead[edge]!
  const tail = tailOf(graph, edge)
  return (
    (isConnected(graph, costing, head) || countNodes(graph, costing, head, true, nodes) >= nodes) &&
    (isConnected(graph, costing, tail) || countNodes(graph, costing, tail, false, nodes) >= nodes)
  )
}

function isConnected(graph: Graph, costing: Costing, node: number): boolean {
  return (graph.nodeConnected[node]! & costing.access) !== 0
}

/** Nodes on ways from (or, backwards, to) a node, the node itself included, counted up to a limit. */
function countNodes(graph: Graph, costing: Costing, start: number, forward: boolean, limit: number): number {
  if (!costing.nodeOpen(start)) return 0
  const seen = new Set([start])
  const queue = [start]
  for (let next = 0; next < queue.length && seen.size < limit; next++) {
    const node = queue[next]!
    for (let edge = graph.firstEdge[node]!; edge < graph.firstEdge[node + 1]!; edge++) {
      const end = graph.edgeHead[edge]!
      if (seen.has(end) || !costing.snapOpen(forward ? edge : graph.edgeOpposite[edge]!) || !costing.nodeOpen(end))
        continue
      seen.add(end)
      queue.push(end)
    }
  }
  return seen.size
}
