import type { Graph } from '../graph/graph.ts'
import { nestedDissection } from '../search/cch/order.ts'
import type { StateGraph } from './state-graph.ts'

/**
 * Ranks the states of a graph for a hierarchy. Separators are cuts of the street network: the edges that a cut crosses,
 * in all their states, separate the edges on either side, for every path from one side to the other travels one of them.
 */
export function rankStates(network: Graph, states: StateGraph): Uint32Array {
  const links = new Map<number, number>()
  const tail: number[] = []
  const head: number[] = []
  const node = new Map<number, number>()
  const nodes: number[] = []
  const numberOf = (n: number): number => {
    let number = node.get(n)
    if (number === undefined) {
      node.set(n, (number = nodes.length))
      nodes.push(n)
    }
    return number
  }
  const linkOfState = Uint32Array.from(states.stateEdge, (edge) => {
    const shape = network.edgeShape[edge]!
    let link = links.get(shape)
    if (link === undefined) {
      links.set(shape, (link = tail.length))
      tail.push(numberOf(network.edgeHead[network.edgeOpposite[edge]!]!))
      head.push(numberOf(network.edgeHead[edge]!))
    }
    return link
  })
  const cosine = Math.cos(((network.nodeLat[nodes[0] ?? 0] ?? 0) / 1e7) * (Math.PI / 180))
  const linkRank = nestedDissection({
    nodeCount: nodes.length,
    x: Float32Array.from(nodes, (n) => network.nodeLon[n]! * cosine),
    y: Float32Array.from(nodes, (n) => network.nodeLat[n]!),
    linkTail: Uint32Array.from(tail),
    linkHead: Uint32Array.from(head),
  })
  return rankByLink(linkOfState, linkRank)
}

/** States in the order of their links; states of one link side by side. */
function rankByLink(linkOfState: Uint32Array, linkRank: Uint32Array): Uint32Array {
  const next = new Uint32Array(linkRank.length + 1)
  for (const link of linkOfState) next[linkRank[link]! + 1]!++
  for (let rank = 0; rank < linkRank.length; rank++) next[rank + 1]! += next[rank]!
  return linkOfState.map((link) => next[linkRank[link]!]!++)
}
