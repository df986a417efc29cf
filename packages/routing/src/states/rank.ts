import type { Graph } from '../graph/graph.ts'
import { nestedDissection } from '../search/cch/order.ts'
import type { StateGraph } from './state-graph.ts'

/** Ranks the streets of a network by nested dissection, both directions of a street together. */
export function rankLinks(network: Graph): Uint32Array {
  const { nodeLon, nodeLat, nodeCount, edgeShape, edgeHead, edgeOpposite } = network
  const links = network.firstPoint.length - 1
  const linkTail = new Uint32Array(links)
  const linkHead = new Uint32Array(links)
  for (let edge = 0; edge < edgeHead.length; edge++) {
    if (edge > edgeOpposite[edge]!) continue
    linkTail[edgeShape[edge]!] = edgeHead[edgeOpposite[edge]!]!
    linkHead[edgeShape[edge]!] = edgeHead[edge]!
  }
  const cosine = Math.cos(((nodeLat[0] ?? 0) / 1e7) * (Math.PI / 180))
  const x = Float32Array.from(nodeLon, (lon) => lon * cosine)
  return nestedDissection({ nodeCount, x, y: Float32Array.from(nodeLat), linkTail, linkHead })
}

/**
 * Ranks the states of a graph for a hierarchy. Separators are cuts of the street network: all states of the edges
 * across a cut separate the edges on its two sides, because every path between the sides uses one of them. States of
 * one street are adjacent.
 */
export function rankStates({ edgeShape }: Graph, states: StateGraph, linkRank: Uint32Array): Uint32Array {
  const next = new Uint32Array(linkRank.length + 1)
  const linkOf = (state: number): number => edgeShape[states.edgeOf(state)]!
  for (let state = 0; state < states.vertexCount; state++) next[linkRank[linkOf(state)]! + 1]!++
  for (let rank = 0; rank < linkRank.length; rank++) next[rank + 1]! += next[rank]!
  return Uint32Array.from({ length: states.vertexCount }, (_, state) => next[linkRank[linkOf(state)]!]!++)
}
