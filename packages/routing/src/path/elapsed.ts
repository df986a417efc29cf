import type { Costing } from '../cost/costing.ts'
import { turnIndex } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { PathEdge } from './path.ts'

/** Cost and time at the end of each edge of a path. */
export interface Elapsed {
  readonly cost: Float64Array
  readonly seconds: Float64Array
}

/** Sums what a path costs, exactly as its costing says, without what searches add to it. */
export function elapsed(graph: Graph, costing: Costing, edges: readonly PathEdge[]): Elapsed {
  const result = { cost: new Float64Array(edges.length), seconds: new Float64Array(edges.length) }
  let cost = 0
  let seconds = 0
  for (let i = 0; i < edges.length; i++) {
    const { edge, begin, end } = edges[i]!
    if (i > 0) {
      const from = edges[i - 1]!.edge
      const turn = graph.turnInfo[turnIndex(graph, from, edge)]!
      seconds += costing.turnSeconds(from, edge, turn)
      cost += costing.pathTurnCost(from, edge, turn)
    }
    cost += costing.edgeCost(edge) * (end - begin)
    seconds += costing.edgeSeconds(edge) * (end - begin)
    result.cost[i] = cost
    result.seconds[i] = seconds
  }
  return result
}
