import type { Costing } from '../cost/costing.ts'
import { turnIndex } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { PathEdge } from './path.ts'

/** Cost and time at the end of each edge of a path. */
export interface Elapsed {
  readonly cost: Float64Array
  readonly seconds: Float64Array
}

/** Speed on an edge in km/h, some seconds after the departure; zero for the usual speed. */
export type SpeedAt = (edge: number, seconds: number) => number

/**
 * Sums the exact cost and time of a path, without the penalties of searches.
 *
 * @param speedAt the speeds at the time of travel; the usual ones when absent
 */
export function elapsed(graph: Graph, costing: Costing, edges: readonly PathEdge[], speedAt?: SpeedAt): Elapsed {
  const result = { cost: new Float64Array(edges.length), seconds: new Float64Array(edges.length) }
  let cost = 0
  let seconds = 0
  for (let i = 0; i < edges.length; i++) {
    const { edge, begin, end } = edges[i]!
    const kmh = speedAt?.(edge, seconds) || undefined
    if (i > 0) {
      const from = edges[i - 1]!.edge
      const turn = graph.turnInfo[turnIndex(graph, from, edge)]!
      seconds += costing.turnSeconds(from, edge, turn)
      cost += costing.pathTurnCost(from, edge, turn)
    }
    cost += costing.edgeCost(edge, kmh) * (end - begin)
    seconds += costing.edgeSeconds(edge, kmh) * (end - begin)
    result.cost[i] = cost
    result.seconds[i] = seconds
  }
  return result
}
