import type { Costing } from '../cost/costing.ts'
import type { Graph } from '../graph/graph.ts'
import { UNREACHABLE } from '../search/search.ts'
import { ArcRule, type StateGraph } from './state-graph.ts'

/** Weights are hundredths of a second of cost: fine enough, and a path of weeks still fits 30 bits. */
export const WEIGHT_PER_SECOND = 100

/** Most an arc may weigh, so that sums stay below `UNREACHABLE` as long as anybody would travel. */
const HEAVIEST = 2 ** 28

const UNKNOWN = -1

/**
 * Weights of the arcs of a state graph under one costing, computed when first asked for. An arc weighs its turn and the
 * edge it leads onto; the first edge of a path is paid by its seed.
 */
export class StateWeights {
  readonly graph: StateGraph
  readonly costing: Costing
  /** Cost of every edge as weight; `UNREACHABLE` where closed. Indexed by edge. */
  readonly edgeWeight: Int32Array
  readonly #network: Graph
  readonly #arcWeight: Int32Array
  #unknown: number

  constructor(network: Graph, graph: StateGraph, costing: Costing) {
    this.graph = graph
    this.costing = costing
    this.#network = network
    this.edgeWeight = edgeWeights(graph, costing)
    this.#arcWeight = new Int32Array(graph.head.length).fill(UNKNOWN)
    this.#unknown = graph.head.length
  }

  /** Weight of an arc; its tail is known to every caller. */
  arc(arc: number, tail: number): number {
    const known = this.#arcWeight[arc]!
    if (known !== UNKNOWN) return known
    this.#computeAll(tail)
    return this.#arcWeight[arc]!
  }

  /** All weights at once. */
  all(): Int32Array {
    if (this.#unknown > 0) {
      for (let state = 0; state < this.graph.vertexCount; state++) this.#computeAll(state)
    }
    return this.#arcWeight
  }

  /** Computes the arcs out of a state together: whether one may turn back depends on the others. */
  #computeAll(state: number): void {
    const { firstOut, arcRule } = this.graph
    const begin = firstOut[state]!
    const end = firstOut[state + 1]!
    let reverse = -1
    let open = false
    for (let arc = begin; arc < end; arc++) {
      if ((arcRule[arc]! & ArcRule.reverses) !== 0) {
        reverse = arc
        continue
      }
      const weight = this.#weigh(state, arc, true)
      open ||= weight < UNREACHABLE
      this.#arcWeight[arc] = weight
    }
    if (reverse >= 0) this.#arcWeight[reverse] = open ? UNREACHABLE : this.#weigh(state, reverse, false)
    this.#unknown -= end - begin
  }

  #weigh(state: number, arc: number, through: boolean): number {
    const { stateEdge, head, arcTurn, arcRule } = this.graph
    const { costing } = this
    const from = stateEdge[state]!
    const to = stateEdge[head[arc]!]!
    const edge = this.edgeWeight[to]!
    const rule = arcRule[arc]!
    if (edge >= UNREACHABLE || (rule & ArcRule.modes & costing.access) !== 0) return UNREACHABLE
    if (through && !costing.nodeOpen(this.#network.edgeHead[from]!)) return UNREACHABLE
    const turn = this.#network.turnInfo[arcTurn[arc]!]!
    const cost = costing.turnCost(from, to, turn, (rule & ArcRule.turnsAround) !== 0)
    return cost === Infinity ? UNREACHABLE : Math.min(HEAVIEST, edge + Math.round(cost * WEIGHT_PER_SECOND))
  }
}

function edgeWeights({ edgeState }: StateGraph, costing: Costing): Int32Array {
  return Int32Array.from(edgeState, (state, edge) => {
    if (state < 0 || !costing.edgeOpen(edge)) return UNREACHABLE
    return Math.min(HEAVIEST, Math.max(1, Math.round(costing.edgeCost(edge) * WEIGHT_PER_SECOND)))
  })
}
