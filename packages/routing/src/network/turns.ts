import { EARTH_RADIUS } from '../geometry/geodesy.ts'
import type { Graph } from '../graph/graph.ts'
import { BidirectionalScratch, type VertexPositions } from '../search/bidirectional.ts'
import { HierarchyScratch } from '../search/cch/hierarchy.ts'
import type { HierarchyTopology } from '../search/cch/topology.ts'
import { type ReverseArcs, reverseArcs } from '../search/search.ts'
import type { StateGraph } from '../states/state-graph.ts'

/** The turns of a network for all modes, with their hierarchy and the data of searches without a hierarchy. */
export class TurnNetwork {
  readonly states: StateGraph
  readonly topology: HierarchyTopology
  readonly #graph: Graph
  #hierarchyScratch: HierarchyScratch | null = null
  #reverse: ReverseArcs | null = null
  #positions: { positions: VertexPositions; leastShare: number } | null = null
  #bidirectionalScratch: BidirectionalScratch | null = null

  constructor(graph: Graph, states: StateGraph, topology: HierarchyTopology) {
    this.states = states
    this.topology = topology
    this.#graph = graph
  }

  get hierarchyScratch(): HierarchyScratch {
    return (this.#hierarchyScratch ??= new HierarchyScratch(this.states.vertexCount))
  }

  get reverse(): ReverseArcs {
    return (this.#reverse ??= reverseArcs(this.states))
  }

  get bidirectionalScratch(): BidirectionalScratch {
    return (this.#bidirectionalScratch ??= new BidirectionalScratch(this.states.vertexCount))
  }

  /** Positions of the ends of the states' edges, and the minimum ratio of edge length to the distance of its ends. */
  get positions(): { positions: VertexPositions; leastShare: number } {
    return (this.#positions ??= findPositions(this.#graph, this.states))
  }
}

function findPositions(graph: Graph, states: StateGraph): { positions: VertexPositions; leastShare: number } {
  const nodes = new Float64Array(3 * graph.nodeCount)
  for (let node = 0; node < graph.nodeCount; node++) {
    const lon = (graph.nodeLon[node]! / 1e7) * (Math.PI / 180)
    const lat = (graph.nodeLat[node]! / 1e7) * (Math.PI / 180)
    nodes[3 * node] = EARTH_RADIUS * Math.cos(lat) * Math.cos(lon)
    nodes[3 * node + 1] = EARTH_RADIUS * Math.cos(lat) * Math.sin(lon)
    nodes[3 * node + 2] = EARTH_RADIUS * Math.sin(lat)
  }
  const xyz = new Float32Array(3 * states.vertexCount)
  let leastShare = 1
  for (let state = 0; state < states.vertexCount; state++) {
    const edge = states.edgeOf(state)
    const head = graph.edgeHead[edge]!
    const tail = graph.edgeHead[graph.edgeOpposite[edge]!]!
    let square = 0
    for (let axis = 0; axis < 3; axis++) {
      xyz[3 * state + axis] = nodes[3 * head + axis]!
      square += (nodes[3 * head + axis]! - nodes[3 * tail + axis]!) ** 2
    }
    // Lengths are in whole metres, and positions are accurate to half a metre.
    leastShare = Math.min(leastShare, graph.edgeLength[edge]! / (Math.sqrt(square) + 1))
  }
  return { positions: { xyz }, leastShare }
}
