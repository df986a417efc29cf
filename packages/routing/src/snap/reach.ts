import type { Costing } from '../cost/costing.ts'
import { get, tailOf, turnIndex, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { UNREACHABLE } from '../search/search.ts'
import type { StateWeights } from '../states/weights.ts'

/** Minimum numbers of nodes that must reach an edge, and that it must reach. */
export interface Reach {
  readonly inbound: number
  readonly outbound: number
}

/**
 * Whether enough nodes reach an edge and are reached from it. Otherwise it lies on an island, where few routes should
 * begin or end. Large connected parts are stored in the graph. Other edges are counted, first without streets that have
 * a forbidden turn, then, if that is not enough, with the exact turns.
 */
export function isReachable(graph: Graph, weights: StateWeights, edge: number, { inbound, outbound }: Reach): boolean {
  const { costing } = weights
  return (
    (outbound === 0 ||
      (isFree(graph, costing, edge) && touches(graph, costing, graph.edgeHead[edge]!, true, outbound)) ||
      countExactly(graph, weights, edge, true, outbound) >= outbound) &&
    (inbound === 0 ||
      touches(graph, costing, tailOf(graph, edge), false, inbound) ||
      countExactly(graph, weights, edge, false, inbound) >= inbound)
  )
}

function touches(graph: Graph, costing: Costing, node: number, forward: boolean, nodes: number): boolean {
  const isConnected = (graph.nodeConnected[node]! & costing.access) !== 0
  return isConnected || countNodes(graph, costing, { start: node, forward, limit: nodes }) >= nodes
}

/** Whether no turn from an edge is forbidden, to vehicles of any size. */
function isFree(graph: Graph, { rights }: Costing, edge: number): boolean {
  const { edgeHead, firstEdge, turnInfo } = graph
  const node = edgeHead[edge]!
  const first = turnIndex(graph, edge, firstEdge[node]!)
  const degree = firstEdge[node + 1]! - firstEdge[node]!
  for (let turn = first; turn < first + degree; turn++) {
    if (!rights.turn(turnInfo[turn]!) || get(turnInfo[turn]!, TurnField.sized) === 1) return false
  }
  return true
}

/** Number of nodes reachable from a node (or, backwards, that reach it), including itself, up to a limit. */
function countNodes(
  graph: Graph,
  costing: Costing,
  { start, forward, limit }: { start: number; forward: boolean; limit: number },
): number {
  if (!costing.nodeOpen(start)) return 0
  const seen = new Set([start])
  const queue = [start]
  for (let next = 0; next < queue.length && seen.size < limit; next++) {
    const node = queue[next]!
    for (let edge = graph.firstEdge[node]!; edge < graph.firstEdge[node + 1]!; edge++) {
      const end = graph.edgeHead[edge]!
      const travelled = forward ? edge : graph.edgeOpposite[edge]!
      if (seen.has(end) || !costing.snapOpen(travelled) || !costing.nodeOpen(end)) continue
      if (!isFree(graph, costing, travelled)) continue
      seen.add(end)
      queue.push(end)
    }
  }
  return seen.size
}

/** Number of nodes on paths from an edge, or to it, by the rules of searches; up to a limit. */
function countExactly(graph: Graph, weights: StateWeights, edge: number, forward: boolean, limit: number): number {
  if (weights.stateOf(edge) < 0) return 0
  const states = new Set(forward ? [edge] : weights.statesOf(edge))
  const nodes = new Set<number>()
  for (const state of states) {
    const passed = weights.graph.edgeOf(state)
    nodes.add(forward ? graph.edgeHead[passed]! : tailOf(graph, passed))
    if (nodes.size >= limit) break
    for (const next of forward ? onward(weights, state) : before(weights, state)) states.add(next)
  }
  return nodes.size
}

function* onward(weights: StateWeights, state: number): Iterable<number> {
  const { firstOut, head } = weights.graph
  for (let arc = firstOut[state]!; arc < firstOut[state + 1]!; arc++) {
    if (weights.arc(arc, state) < UNREACHABLE) yield head[arc]!
  }
}

function* before(weights: StateWeights, state: number): Iterable<number> {
  const { graph } = weights
  const { firstOut, head } = graph
  for (const entry of weights.entries(graph.edgeOf(state))) {
    for (const from of weights.statesOf(entry)) {
      for (let arc = firstOut[from]!; arc < firstOut[from + 1]!; arc++) {
        if (head[arc] === state && weights.arc(arc, from) < UNREACHABLE) yield from
      }
    }
  }
}
