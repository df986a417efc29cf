import type { Costing } from '../cost/costing.ts'
import type { Graph } from '../graph/graph.ts'
import { elapsed, type Elapsed } from './elapsed.ts'
import type { Leg } from './legs.ts'

/**
 * Seconds and cost of a leg under another costing, up to the end of each edge; null if that costing may not travel it.
 */
export interface Recosting {
  readonly name: string
  readonly sums: Elapsed | null
}

/** An additional costing of a request. */
export interface NamedCosting {
  readonly name: string
  readonly costing: Costing
}

/** Time and cost of a leg under other costings. */
export function recost(graph: Graph, leg: Leg, costings: readonly NamedCosting[]): Recosting[] {
  return costings.map(({ name, costing }) => ({
    name,
    sums: leg.edges.every(({ edge }) => costing.rights.edge(edge)) ? elapsed(graph, costing, leg.edges) : null,
  }))
}
