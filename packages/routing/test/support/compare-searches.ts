import { seededRandom } from '@terrane/core'

import { createCosting } from '../../src/cost/create.ts'
import { costOptions } from '../../src/cost/options.ts'
import type { Mode, Network } from '../../src/index.ts'
import { hierarchySearch } from '../../src/search/cch/hierarchy.ts'
import { dijkstra } from './dijkstra.ts'
import { StateWeights } from '../../src/states/weights.ts'

/** How the costs of the hierarchy compare with those of plain Dijkstra. */
export interface Comparison {
  pairs: number
  connected: number
  /** Pairs of edges whose costs differ. */
  readonly different: {
    readonly from: number
    readonly to: number
    readonly hierarchy: number
    readonly dijkstra: number
  }[]
}

/** Searches between random edges of a network under the metric of a mode, with the hierarchy and without. */
export function compareWithDijkstra(
  { graph, families, metrics }: Network,
  { mode, pairs, seed }: { mode: Mode; pairs: number; seed: number },
): Comparison {
  const costing = createCosting(graph, mode, costOptions(mode))
  const { states, topology } = families[costing.family]
  const weights = new StateWeights(graph, states, costing)
  const fast = hierarchySearch(metrics[mode].metric, topology)
  const plain = dijkstra(states, weights.all())
  const random = seededRandom(seed)
  const place = (): { vertex: number; cost: number } => ({
    vertex: Math.floor(random() * states.vertexCount),
    cost: Math.floor(random() * 1000),
  })
  const comparison: Comparison = { pairs, connected: 0, different: [] }
  for (let pair = 0; pair < pairs; pair++) {
    const [source, target] = [place(), place()]
    const hierarchy = fast.find([source], [target])?.cost ?? Infinity
    const reference = plain.find([source], [target])?.cost ?? Infinity
    if (reference < Infinity) comparison.connected++
    if (hierarchy !== reference) {
      comparison.different.push({ from: source.vertex, to: target.vertex, hierarchy, dijkstra: reference })
    }
  }
  return comparison
}
