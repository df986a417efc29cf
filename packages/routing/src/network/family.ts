import { EARTH_RADIUS } from '../geometry/geodesy.ts'
import type { Graph } from '../graph/graph.ts'
import { BidirectionalScratch, type VertexPositions } from '../search/bidirectional.ts'
import { HierarchyScratch } from '../search/cch/hierarchy.ts'
import type { HierarchyTopology } from '../search/cch/topology.ts'
import { type ReverseArcs, reverseArcs } from '../search/search.ts'
import type { StateGraph } from '../states/state-graph.ts'

/** States that some modes travel, with what searches without a hierarchy share. */
export class FamilyStates {
  readonly states: StateGraph
  readonly #graph: Graph
  #reverse: ReverseArcs | null = null
  #positions: { positions: VertexPositions; leastShare: number } | null = null
  #bidirectionalScratch: BidirectionalScratch | null = null

  constructor(graph: Graph, states: StateGraph) {
    this.states = states
    this.#graph = graph
  }

  get reverse(): ReverseArcs {
    return (this.#reverse ??= reverseArcs(this.states))
  }

  get bidirectionalScratch(): BidirectionalScratch {
    return (this.#bidirectionalScratch ??= new BidirectionalScratch(this.states.vertexCount))
  }

  /** Where the edges of the states end, and the least share of the distance between its ends that an edge is long. */
  get positions(): { positions: VertexPositions; leastShare: number } {
    return (this.#positions ??= findPositions(this.#graph, this.states))
  }
}

/** The part of a network that a family of modes travels, with its hierarchy. */
export class FamilyNetwork extends FamilyStates {
  readonly topology: HierarchyTopology
  #hierarchyScratch: HierarchyScratch | null = null

  constructor(graph: Graph, states: StateGraph, topology: HierarchyTopology) {
    super(graph, states)
    this.topology = topology
  }

  get hierarchyScratch(): HierarchyScratch {
    return (this.#hierarchyScratch ??= new HierarchyScratch(this.states.vertexCount))
  }
}

function findPositions(graph: Graph, { stateEdge }: StateGraph): { positions: VertexPositions; leastShare: number } {
  const nodes = new Float64Array(3 * graph.nodeCount)
  for (let node = 0; node < graph.nodeCount; node++) {
    const lon = (graph.nodeLon[node]! / 1e7) * (Math.PI / 180)
    const lat = (graph.nodeLat[node]! / 1e7) * (Math.PI / 180)
    nodes[3 * node] = EARTH_RADIUS * Math.cos(lat) * Math.cos(lon)
    nodes[3 * node + 1] = EARTH_RADIUS * Math.cos(lat) * Math.sin(lon)
    nodes[3 * node + 2] = EARTH_RADIUS * Math.sin(lat)
  }
  const xyz = new Float32Array(3 * stateEdge.length)
  let leastShare = 1
  stateEdge.forEach((edge, state) => {
    const head = graph.edgeHead[edge]!
    const tail = graph.edgeHead[graph.edgeOpposite[edge]!]!
    let square = 0
    for (let axis = 0; axis < 3; axis++) {
      xyz[3 * state + axis] = nodes[3 * head + axis]!
      square += (nodes[3 * head + axis]! - nodes[3 * tail + axis]!) ** 2
    }
    // Lengths are whole metres and positions have the precision of half a metre.
    leastShare = Math.min(leastShare, graph.edgeLength[edge]! / (Math.sqrt(square) + 1))
  })
  return { positions: { xyz }, leastShare }
}
