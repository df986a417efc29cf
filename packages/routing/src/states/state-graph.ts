import type { Family } from '../cost/profile.ts'
import { Access, ALL_ACCESS, MOTOR_ACCESS, Turn } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, NodeField, TrafficField, turnIndex, TurnField } from '../graph/fields.ts'
import { ANY_SIZE, type Graph } from '../graph/graph.ts'
import { timedOpenings } from '../graph/timed.ts'
import { firstAtLeast } from '../graph/first-at-least.ts'
import type { ArcGraph } from '../search/search.ts'
import { NumberList } from '../graph/lists.ts'
import { type Sequence, SequenceAutomaton, type Step } from './sequences.ts'

/** Modes of each family, as bits; `any` are modes with unrestricted access. */
export const FAMILY_ACCESS: Readonly<Record<Family | 'any', number>> = {
  motor: MOTOR_ACCESS,
  bicycle: Access.bicycle,
  foot: Access.foot | Access.wheelchair,
  any: ALL_ACCESS,
}

/** The arrays of a state graph. */
export interface StateArrays {
  /** Index of the first outgoing arc of each state. */
  readonly firstOut: Uint32Array
  readonly head: Uint32Array
  /** Edge of each additional state. */
  readonly sequenceEdge: Uint32Array
  /** Arcs that complete a sequence in ascending order, with their rules; see `ArcRule`. */
  readonly ruledArc: Uint32Array
  readonly arcRule: Uint16Array
  /**
   * Arcs that complete a sequence forbidden to some vehicle sizes in ascending order, each with a rule of the graph.
   */
  readonly sizedArc: Uint32Array
  readonly sizedArcRule: Uint32Array
}

/**
 * The graph that searches run on: its vertices are states of being on an edge of the network, and its arcs are turns.
 * The plain state of an edge has the edge's number; edges inside a forbidden sequence have additional states, which
 * represent the path to the edge. Edges that are closed to a mode have the weight `UNREACHABLE`.
 */
export class StateGraph implements ArcGraph, StateArrays {
  readonly vertexCount: number
  readonly firstOut: Uint32Array
  readonly head: Uint32Array
  readonly sequenceEdge: Uint32Array
  readonly ruledArc: Uint32Array
  readonly arcRule: Uint16Array
  readonly sizedArc: Uint32Array
  readonly sizedArcRule: Uint32Array
  readonly #edgeCount: number
  readonly #further = new Map<number, number[]>()
  readonly #rules = new Map<number, number>()

  constructor({ firstOut, head, sequenceEdge, ruledArc, arcRule, sizedArc, sizedArcRule }: StateArrays) {
    this.vertexCount = firstOut.length - 1
    this.firstOut = firstOut
    this.head = head
    this.sequenceEdge = sequenceEdge
    this.ruledArc = ruledArc
    this.arcRule = arcRule
    this.sizedArc = sizedArc
    this.sizedArcRule = sizedArcRule
    this.#edgeCount = this.vertexCount - sequenceEdge.length
    sequenceEdge.forEach((edge, i) => {
      const known = this.#further.get(edge)
      if (known === undefined) this.#further.set(edge, [this.#edgeCount + i])
      else known.push(this.#edgeCount + i)
    })
    ruledArc.forEach((arc, i) => this.#rules.set(arc, arcRule[i]!))
  }

  edgeOf(state: number): number {
    return state < this.#edgeCount ? state : this.sequenceEdge[state - this.#edgeCount]!
  }

  furtherStates(edge: number): readonly number[] {
    return this.#further.get(edge) ?? NO_STATES
  }

  /** Size rules of the graph that forbid the sequences completed by an arc. */
  *sizeRulesOf(arc: number): Iterable<number> {
    for (let i = firstAtLeast(this.sizedArc, arc); this.sizedArc[i] === arc; i++) yield this.sizedArcRule[i]!
  }

  /** Rule of the sequences that an arc completes; see `ArcRule`. */
  ruleOf(arc: number): number {
    return this.#rules.get(arc) ?? 0
  }
}

const NO_STATES: readonly number[] = []

/** Layout of the rules of arcs. */
export const ArcRule = {
  /** Modes that must not take the arc. */
  modes: 0x03ff,
  /** Whether the arc completes a U-turn inside a crossing. */
  turnsAround: 0x4000,
  /** Forbidden by rules to some sizes of vehicles; see `sizeRulesOf`. */
  sized: 0x8000,
} as const

/** Maximum length of an edge inside a crossing on which two turns to the same side form a U-turn. */
const SHORT_INTERNAL_METERS = 8

/** Derives the states of all edges in both directions. O(turns). */
export function buildStateGraph(graph: Graph): StateGraph {
  const openings = timedOpenings(graph)
  const automaton = new SequenceAutomaton([...forbiddenSequences(graph), ...turnsAround(graph, openings)])
  const plain = graph.edgeCount
  const count = plain + automaton.edges.length
  const firstOut = new Uint32Array(count + 1)
  const head = new NumberList(new Uint32Array())
  const ruledArc = new NumberList(new Uint32Array())
  const arcRule = new NumberList(new Uint16Array())
  const sizedArc = new NumberList(new Uint32Array())
  const sizedArcRule = new NumberList(new Uint32Array())
  for (let state = 0; state < count; state++) {
    const edge = state < plain ? state : automaton.edges[state - plain]!
    const node = graph.edgeHead[edge]!
    const back = graph.edgeOpposite[edge]!
    const follows = state >= plain || automaton.begins(edge)
    for (let next = graph.firstEdge[node]!; next < graph.firstEdge[node + 1]!; next++) {
      if (next === back && !mayAnyReverse(graph, edge)) continue
      const step = follows ? automaton.step(Math.max(-1, state - plain), edge, next) : NO_STEP
      for (const sizeRule of step.sizeRules) {
        sizedArc.push(head.length)
        sizedArcRule.push(sizeRule)
      }
      const rule =
        step.modes | (step.turnsAround ? ArcRule.turnsAround : 0) | (step.sizeRules.length > 0 ? ArcRule.sized : 0)
      if (rule !== 0) {
        ruledArc.push(head.length)
        arcRule.push(rule)
      }
      head.push(step.state < 0 ? next : plain + step.state)
    }
    firstOut[state + 1] = head.length
  }
  return new StateGraph({
    firstOut,
    head: head.take(),
    sequenceEdge: Uint32Array.from(automaton.edges),
    ruledArc: ruledArc.take(),
    arcRule: arcRule.take(),
    sizedArc: sizedArc.take(),
    sizedArcRule: sizedArcRule.take(),
  })
}

const NO_STEP: Step = { state: -1, modes: 0, turnsAround: false, sizeRules: [] }

function forbiddenSequences(graph: Graph): Sequence[] {
  const sequences: Sequence[] = []
  for (let rule = 0; rule < graph.ruleModes.length; rule++) {
    const edges = Array.from(graph.ruleEdge.subarray(graph.firstRule[rule], graph.firstRule[rule + 1]))
    // Only mode families that may travel the whole sequence can complete it.
    const travellers = Object.values(FAMILY_ACCESS).reduce((modes, access) => {
      return edges.every((edge) => (get(graph.edgeInfo[edge]!, EdgeField.access) & access) !== 0)
        ? modes | access
        : modes
    }, 0)
    const modes = graph.ruleModes[rule]! & travellers
    if (modes === 0) continue
    const bindsAll = graph.ruleType[rule] === ANY_SIZE
    sequences.push({ edges, modes: bindsAll ? modes : 0, turnsAround: false, ...(!bindsAll && { sizeRule: rule }) })
  }
  return sequences
}

/** Two turns across oncoming traffic over a very short edge inside a crossing, by motor vehicles. */
function turnsAround(graph: Graph, openings: ReadonlyMap<number, number>): Sequence[] {
  const open = (edge: number): boolean => isOpenTo(graph, openings, edge, MOTOR_ACCESS)
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

/** Whether some of the modes may travel an edge, always or at times. */
export function isOpenTo(graph: Graph, openings: ReadonlyMap<number, number>, edge: number, access: number): boolean {
  return ((get(graph.edgeInfo[edge]!, EdgeField.access) | (openings.get(edge) ?? 0)) & access) !== 0
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

function mayAnyReverse(graph: Graph, edge: number): boolean {
  for (const access of Object.values(FAMILY_ACCESS)) if (mayReverse(graph, edge, access)) return true
  return false
}

/** Whether some of the modes may be unable to continue except by a U-turn. */
export function mayReverse(graph: Graph, edge: number, access: number): boolean {
  const node = graph.edgeHead[edge]!
  const back = graph.edgeOpposite[edge]!
  let onward = get(graph.nodeInfo[node]!, NodeField.access) & access
  if (onward !== access) return true
  onward = 0
  for (let next = graph.firstEdge[node]!; next < graph.firstEdge[node + 1]!; next++) {
    // Edges with limits may be closed to some vehicle.
    if (next === back || get(graph.edgeFlags[next]!, FlagField.limits) === 1) continue
    const turn = graph.turnInfo[turnIndex(graph, edge, next)]!
    if (get(turn, TurnField.sized) === 1) continue
    onward |= get(graph.edgeInfo[next]!, EdgeField.access) & access & ~get(turn, TurnField.forbidden)
  }
  const here = get(graph.edgeInfo[edge]!, EdgeField.access) & access
  return (here & ~onward) !== 0
}
