import type { Family } from '../cost/costing.ts'
import { Access, ALL_ACCESS, MOTOR_ACCESS, Turn } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, NodeField, TrafficField, turnIndex, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { timedOpenings } from '../graph/timed.ts'
import type { ArcGraph } from '../search/search.ts'
import { type Sequence, SequenceAutomaton } from './sequences.ts'

/** Modes of each family, as bits. */
const FAMILY_ACCESS: Readonly<Record<Family | 'any', number>> = {
  motor: MOTOR_ACCESS,
  bicycle: Access.bicycle,
  foot: Access.foot | Access.wheelchair,
  any: ALL_ACCESS,
}

/**
 * The graph that searches run on, for one family of modes: its vertices are edges of the network, or more exactly states
 * of being on one, and its arcs are turns. Most edges have a single state; edges inside a sequence that is forbidden as a
 * whole have further ones, which remember how the edge was reached.
 */
export interface StateGraph extends ArcGraph {
  readonly family: Family | 'any'
  /** Edge of each state. */
  readonly stateEdge: Uint32Array
  /** Plain state of each edge, or −1. */
  readonly edgeState: Int32Array
  /** Next state of the same edge, or −1: all states of an edge form a list that begins with the plain one. */
  readonly nextState: Int32Array
  /** Entry of the turn table for each arc. */
  readonly arcTurn: Uint32Array
  /** What each arc completes; see `ArcRule`. */
  readonly arcRule: Uint16Array
}

/** Layout of `arcRule`. */
export const ArcRule = {
  /** Modes that must not take the arc. */
  modes: 0x03ff,
  /** The arc turns around inside a crossing. */
  turnsAround: 0x4000,
  /** The arc goes back over the same edge; open only where nothing else is. */
  reverses: 0x8000,
} as const

/** Longest edge inside a crossing on which two turns to the same side are a turn around. */
const SHORT_INTERNAL_METERS = 8

/**
 * Derives the state graph of a family, or of all edges in both directions for those who may go anywhere (`any`).
 * O(turns).
 */
export function buildStateGraph(graph: Graph, family: Family | 'any'): StateGraph {
  const access = FAMILY_ACCESS[family]
  const openings = timedOpenings(graph)
  const open = (edge: number): boolean =>
    family === 'any' || ((get(graph.edgeInfo[edge]!, EdgeField.access) | (openings.get(edge) ?? 0)) & access) !== 0
  const automaton = new SequenceAutomaton([
    ...forbiddenSequences(graph, access),
    ...(family === 'motor' ? turnsAround(graph, open) : []),
  ])
  const edgeState = new Int32Array(graph.edgeCount).fill(-1)
  let plain = 0
  for (let edge = 0; edge < graph.edgeCount; edge++) if (open(edge)) edgeState[edge] = plain++
  const stateEdge = new Uint32Array(plain + automaton.edges.length)
  for (let edge = 0; edge < graph.edgeCount; edge++) if (edgeState[edge]! >= 0) stateEdge[edgeState[edge]!] = edge
  const nextState = new Int32Array(stateEdge.length).fill(-1)
  automaton.edges.forEach((edge, i) => {
    const state = plain + i
    stateEdge[state] = edge
    nextState[state] = nextState[edgeState[edge]!]!
    nextState[edgeState[edge]!] = state
  })
  const arcs = {
    firstOut: new Uint32Array(stateEdge.length + 1),
    head: [] as number[],
    turn: [] as number[],
    rule: [] as number[],
  }
  for (let state = 0; state < stateEdge.length; state++) {
    const edge = stateEdge[state]!
    const node = graph.edgeHead[edge]!
    const back = graph.edgeOpposite[edge]!
    const sequence = state - plain
    const follows = sequence >= 0 || automaton.begins(edge)
    for (let next = graph.firstEdge[node]!; next < graph.firstEdge[node + 1]!; next++) {
      if (edgeState[next]! < 0) continue
      if (next === back && !mayReverse(graph, edge, access)) continue
      const step = follows ? automaton.step(Math.max(-1, sequence), edge, next) : NO_STEP
      arcs.head.push(step.state < 0 ? edgeState[next]! : plain + step.state)
      arcs.turn.push(turnIndex(graph, edge, next))
      arcs.rule.push(step.modes | (step.turnsAround ? ArcRule.turnsAround : 0) | (next === back ? ArcRule.reverses : 0))
    }
    arcs.firstOut[state + 1] = arcs.head.length
  }
  return {
    family,
    vertexCount: stateEdge.length,
    firstOut: arcs.firstOut,
    head: Uint32Array.from(arcs.head),
    stateEdge,
    edgeState,
    nextState,
    arcTurn: Uint32Array.from(arcs.turn),
    arcRule: Uint16Array.from(arcs.rule),
  }
}

const NO_STEP = { state: -1, modes: 0, turnsAround: false }

function forbiddenSequences(graph: Graph, access: number): Sequence[] {
  const sequences: Sequence[] = []
  for (let rule = 0; rule < graph.ruleModes.length; rule++) {
    const modes = graph.ruleModes[rule]! & access
    const edges = Array.from(graph.ruleEdge.subarray(graph.firstRule[rule], graph.firstRule[rule + 1]))
    const travelled = edges.every((edge) => (get(graph.edgeInfo[edge]!, EdgeField.access) & access) !== 0)
    if (modes !== 0 && travelled) sequences.push({ edges, modes, turnsAround: false })
  }
  return sequences
}

/** Two turns to the side of oncoming traffic, over a very short edge inside a crossing. */
function turnsAround(graph: Graph, open: (edge: number) => boolean): Sequence[] {
  const sequences: Sequence[] = []
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    const inside = get(graph.edgeTraffic[edge]!, TrafficField.internal) === 1
    if (!inside || graph.edgeLength[edge]! > SHORT_INTERNAL_METERS || !open(edge)) continue
    const tail = graph.edgeHead[graph.edgeOpposite[edge]!]!
    const entries = edgesAt(graph, tail)
      .map((leaving) => graph.edgeOpposite[leaving]!)
      .filter((entry) => open(entry) && isAcross(graph, entry, edge))
    const exits = edgesAt(graph, graph.edgeHead[edge]!).filter((exit) => open(exit) && isAcross(graph, edge, exit))
    for (const entry of entries) {
      for (const exit of exits) sequences.push({ edges: [entry, edge, exit], modes: 0, turnsAround: true })
    }
  }
  return sequences
}

function isAcross(graph: Graph, from: number, to: number): boolean {
  if (to === graph.edgeOpposite[from]) return false
  const turn = get(graph.turnInfo[turnIndex(graph, from, to)]!, TurnField.turn)
  const right = get(graph.nodeInfo[graph.edgeHead[from]!]!, NodeField.driveOnRight) === 1
  return right ? turn === Turn.left || turn === Turn.sharpLeft : turn === Turn.right || turn === Turn.sharpRight
}

function edgesAt(graph: Graph, node: number): number[] {
  const first = graph.firstEdge[node]!
  return Array.from({ length: graph.firstEdge[node + 1]! - first }, (_, i) => first + i)
}

/** Whether some mode of the family might find no other way on than back: then the arc must be there for it. */
function mayReverse(graph: Graph, edge: number, access: number): boolean {
  const node = graph.edgeHead[edge]!
  const back = graph.edgeOpposite[edge]!
  let onward = get(graph.nodeInfo[node]!, NodeField.access) & access
  if (onward !== access) return true
  onward = 0
  for (let next = graph.firstEdge[node]!; next < graph.firstEdge[node + 1]!; next++) {
    // Edges with limits may be closed to some vehicle.
    if (next === back || get(graph.edgeFlags[next]!, FlagField.limits) === 1) continue
    const forbidden = get(graph.turnInfo[turnIndex(graph, edge, next)]!, TurnField.forbidden)
    onward |= get(graph.edgeInfo[next]!, EdgeField.access) & access & ~forbidden
  }
  const here = get(graph.edgeInfo[edge]!, EdgeField.access) & access
  return (here & ~onward) !== 0
}
