import { seededRandom } from '@terrane/core'

import { createCosting } from '../../src/cost/create.ts'
import { costOptions } from '../../src/cost/options.ts'
import type { Mode, Network } from '../../src/index.ts'
import { hierarchySearch } from '../../src/search/cch/hierarchy.ts'
import { dijkstra } from './dijkstra.ts'
import { type ArcWeights, UNREACHABLE } from '../../src/search/search.ts'
import type { StateGraph } from '../../src/states/state-graph.ts'
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

/** Searches between random states that a mode can leave or enter, under its metric, with the hierarchy and without. */
export function compareWithDijkstra(
  { graph, turns, metrics }: Network,
  { mode, pairs, seed }: { mode: Mode; pairs: number; seed: number },
): Comparison {
  const costing = createCosting(graph, mode, costOptions(mode))
  const { states, topology } = turns
  const weights = new StateWeights(graph, states, costing).all()
  const fast = hierarchySearch(metrics[mode].metric, topology)
  const plain = dijkstra(states, weights)
  const { left, entered } = passable(states, weights)
  const random = seededRandom(seed)
  const pick = (vertices: readonly number[]): { vertex: number; cost: number } => ({
    vertex: vertices[Math.floor(random() * vertices.length)]!,
    cost: Math.floor(random() * 1000),
  })
  const comparison: Comparison = { pairs, connected: 0, different: [] }
  for (let pair = 0; pair < pairs; pair++) {
    const [source, target] = [pick(left), pick(entered)]
    const hierarchy = fast.find([source], [target])?.cost ?? Infinity
    const reference = plain.find([source], [target])?.cost ?? Infinity
    if (reference < Infinity) comparison.connected++
    if (hierarchy !== reference) {
      comparison.different.push({ from: source.vertex, to: target.vertex, hierarchy, dijkstra: reference })
    }
  }
  return comparison
}

/** The vertices that open arcs leave, and the vertices that they enter. */
function passable(
  { vertexCount, firstOut, head }: StateGraph,
  weights: ArcWeights,
): Record<'left' | 'entered', number[]> {
  const left: number[] = []
  const entered = new Set<number>()
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    const arcs = head.subarray(firstOut[vertex], firstOut[vertex + 1])
    const open = arcs.filter((_, index) => weights[firstOut[vertex]! + index]! < UNREACHABLE)
    if (open.length > 0) left.push(vertex)
    for (const to of open) entered.add(to)
  }
  return { left, entered: [...entered] }
}
