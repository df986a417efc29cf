import type { Costing } from '../cost/costing.ts'
import { turnIndex } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { UNREACHABLE } from '../search/search.ts'
import { timedOpenings } from '../graph/timed.ts'
import { ArcRule, FAMILY_ACCESS, isOpenTo, mayReverse, type StateGraph } from './state-graph.ts'

/** Weight units per second: hundredths are fine enough, and a path of weeks still fits into 30 bits. */
export const WEIGHT_PER_SECOND = 100

/** Maximum weight of an arc, so that realistic sums stay below `UNREACHABLE`. */
const HEAVIEST = 2 ** 28

/**
 * Weights of the arcs of a state graph under one costing, computed on first use. The weight of an arc covers its turn
 * and its second edge; the weight of the first edge of a path is part of its seed.
 */
export class StateWeights {
  readonly graph: StateGraph
  readonly costing: Costing
  readonly network: Graph
  /** Weights plus one; zero before they are computed. Unused pages take no memory. */
  readonly #edges: Uint32Array
  readonly #arcs: Uint32Array
  /** Seconds; zero before they are computed. */
  readonly #seconds: Float64Array
  readonly #edgeSeconds: Float64Array
  /** Modes of the costing's family, which bound its network. */
  readonly #access: number
  readonly #openings: ReadonlyMap<number, number>

  constructor(network: Graph, graph: StateGraph, costing: Costing) {
    this.graph = graph
    this.costing = costing
    this.network = network
    this.#edges = new Uint32Array(network.edgeCount)
    this.#arcs = new Uint32Array(graph.head.length)
    this.#seconds = new Float64Array(graph.head.length)
    this.#edgeSeconds = new Float64Array(network.edgeCount)
    this.#access = FAMILY_ACCESS[costing.rights.everywhere ? 'any' : costing.family]
    this.#openings = timedOpenings(network)
  }

  /** Weight of a whole edge; `UNREACHABLE` when it is closed. */
  edge(edge: number): number {
    const known = this.#edges[edge]!
    if (known > 0) return known - 1
    const weight = this.#weighEdge(edge)
    this.#edges[edge] = weight + 1
    return weight
  }

  /**
   * Weight of the first or last edge of a path. Such an edge may be used even if passing it is forbidden, e.g. by a bad
   * surface or a weight limit.
   */
  endEdge(edge: number): number {
    const weight = this.edge(edge)
    if (weight < UNREACHABLE || !this.#isInFamily(edge) || !this.costing.snapOpen(edge)) return weight
    return weightOf(this.costing.edgeCost(edge))
  }

  /** Weight of an arc onto the last edge of a path. */
  lastArc(arc: number, tail: number): number {
    const to = this.graph.edgeOf(this.graph.head[arc]!)
    return this.edge(to) < UNREACHABLE ? this.arc(arc, tail) : this.#weighArc(tail, arc, true, this.endEdge(to))
  }

  /** The edges that end at the beginning of an edge. */
  entries(edge: number): number[] {
    const { edgeHead, edgeOpposite, firstEdge } = this.network
    const node = edgeHead[edgeOpposite[edge]!]!
    const first = firstEdge[node]!
    return Array.from({ length: firstEdge[node + 1]! - first }, (_, i) => edgeOpposite[first + i]!)
  }

  /** The states of an edge, the plain one first; none when the mode's family may not travel it. */
  *statesOf(edge: number): Iterable<number> {
    if (!this.#isInFamily(edge)) return
    yield edge
    yield* this.graph.furtherStates(edge)
  }

  /** The plain state of an edge, or −1 when the mode's family may not travel it. */
  stateOf(edge: number): number {
    return this.#isInFamily(edge) ? edge : -1
  }

  /** Weight of an arc; its tail is known to every caller. */
  arc(arc: number, tail: number): number {
    if (this.#arcs[arc] === 0) this.#weighArcs(tail)
    return this.#arcs[arc]! - 1
  }

  /** Seconds of an arc: of the turn and of the edge after it. */
  seconds(arc: number, tail: number): number {
    const known = this.#seconds[arc]!
    if (known > 0) return known
    const { graph, costing, network } = this
    const from = graph.edgeOf(tail)
    const to = graph.edgeOf(graph.head[arc]!)
    const turn = costing.turnSeconds(from, to, network.turnInfo[turnIndex(network, from, to)]!)
    return (this.#seconds[arc] = turn + this.edgeSeconds(to))
  }

  edgeSeconds(edge: number): number {
    const known = this.#edgeSeconds[edge]!
    return known > 0 ? known : (this.#edgeSeconds[edge] = this.costing.edgeSeconds(edge))
  }

  /** The weights of all arcs. */
  all(): Int32Array {
    const { firstOut, vertexCount } = this.graph
    for (let state = 0; state < vertexCount; state++) {
      if (firstOut[state]! < firstOut[state + 1]! && this.#arcs[firstOut[state]!] === 0) this.#weighArcs(state)
    }
    // `Int32Array.from` with a function took longer than computing all costs.
    const weights = new Int32Array(this.#arcs)
    for (let arc = 0; arc < weights.length; arc++) weights[arc]!--
    return weights
  }

  #isInFamily(edge: number): boolean {
    return this.costing.rights.everywhere || isOpenTo(this.network, this.#openings, edge, this.#access)
  }

  #weighEdge(edge: number): number {
    const { costing } = this
    if (!this.#isInFamily(edge) || !costing.edgeOpen(edge)) return UNREACHABLE
    return weightOf(costing.edgeCost(edge))
  }

  /** Computes the weights of all arcs of a state together, because the cost of a U-turn depends on the others. */
  #weighArcs(state: number): void {
    const { firstOut, head } = this.graph
    const end = firstOut[state + 1]!
    const edge = this.graph.edgeOf(state)
    const back = this.network.edgeOpposite[edge]!
    if (!this.#isInFamily(edge)) {
      this.#arcs.fill(UNREACHABLE + 1, firstOut[state], end)
      return
    }
    let reverse = -1
    let open = false
    for (let arc = firstOut[state]!; arc < end; arc++) {
      if (this.graph.edgeOf(head[arc]!) === back) {
        reverse = arc
        continue
      }
      const weight = this.#weighArc(state, arc, true)
      open ||= weight < UNREACHABLE
      this.#arcs[arc] = weight + 1
    }
    if (reverse < 0) return
    const isClosed = open || !mayReverse(this.network, edge, this.#access)
    this.#arcs[reverse] = (isClosed ? UNREACHABLE : this.#weighArc(state, reverse, false)) + 1
  }

  #weighArc(state: number, arc: number, through: boolean, onto?: number): number {
    const { graph, costing, network } = this
    const to = graph.edgeOf(graph.head[arc]!)
    const edge = onto ?? this.edge(to)
    if (edge >= UNREACHABLE) return UNREACHABLE
    const from = graph.edgeOf(state)
    const rule = graph.ruleOf(arc)
    if ((rule & ArcRule.modes & costing.rights.boundModes) !== 0) return UNREACHABLE
    if ((rule & ArcRule.sized) !== 0 && this.#isTooLarge(arc)) return UNREACHABLE
    if (through && !costing.nodeOpen(network.edgeHead[from]!)) return UNREACHABLE
    const turn = network.turnInfo[turnIndex(network, from, to)]!
    const turnsAround = (rule & ArcRule.turnsAround) !== 0 && costing.family === 'motor'
    const cost = costing.turnCost(from, to, turn, turnsAround)
    return cost === Infinity ? UNREACHABLE : Math.min(HEAVIEST, edge + Math.round(cost * WEIGHT_PER_SECOND))
  }

  /** Whether the vehicle is too large for the sequences that an arc completes. */
  #isTooLarge(arc: number): boolean {
    const { ruleModes, ruleType, ruleValue } = this.network
    const { rights } = this.costing
    for (const rule of this.graph.sizeRulesOf(arc)) {
      const isBound = (ruleModes[rule]! & rights.boundModes) !== 0
      if (isBound && this.costing.exceeds(ruleType[rule]!, ruleValue[rule]!)) return true
    }
    return false
  }
}

function weightOf(seconds: number): number {
  return Math.min(HEAVIEST, Math.max(1, Math.round(seconds * WEIGHT_PER_SECOND)))
}
