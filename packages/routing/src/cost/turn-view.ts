import { Access, NodeType, Turn, Use } from '../graph/attributes.ts'
import {
  EdgeField,
  FlagField,
  get,
  isForLocals,
  NodeField,
  privateBits,
  TrafficField,
  TurnField,
} from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { paysToll } from '../graph/toll.ts'
import type { Rights } from './rights.ts'

/**
 * Direction of a turn. Near is the driving side, far the side across oncoming traffic: with driving on the right a left
 * turn is `far`, with driving on the left it is `near`.
 */
export const Side = {
  straight: 0,
  slightNear: 1,
  near: 2,
  sharpNear: 3,
  back: 4,
  sharpFar: 5,
  far: 6,
  slightFar: 7,
} as const
/** A direction of a turn. */
export type Side = (typeof Side)[keyof typeof Side]

/**
 * A turn from one edge onto another, for cost functions. One view is moved from turn to turn: values that every mode
 * needs are fields, the others are read on demand.
 */
export class TurnView {
  /** Stop impact: likelihood of a stop, 0 … 7. */
  stopImpact = 0
  /** Direction of the turn. */
  side: Side = Side.straight
  /** Use of the entered edge, and of the edge before it. */
  use = 0
  useBefore = 0
  /** Class of the entered edge. */
  roadClass = 0
  /** Type of the node, one of `NodeType`. */
  nodeType = 0
  drivesOnRight = true
  /** Whether the first edge is a short one inside a crossing, entered by a turn to the same side. */
  isInside = false
  readonly #graph: Graph
  readonly #access: number
  readonly #rights: Rights
  readonly #unlocking: number
  #from = 0
  #to = 0
  #turn = 0
  #node = 0
  #info = 0
  #before = 0
  #traffic = 0

  /**
   * @param access bit of the mode in the access masks
   * @param rights of the mode
   */
  constructor(graph: Graph, access: number, rights: Rights) {
    this.#graph = graph
    this.#access = access
    this.#rights = rights
    this.#unlocking = privateBits(access)
  }

  /** Moves to a turn; `turn` is its 32-bit value in `turnInfo`. */
  at(from: number, to: number, turn: number, isInside: boolean): this {
    const { edgeHead, edgeInfo, edgeTraffic, nodeInfo } = this.#graph
    this.#from = from
    this.#to = to
    this.#turn = turn
    this.isInside = isInside
    const node = (this.#node = nodeInfo[edgeHead[from]!]!)
    const info = (this.#info = edgeInfo[to]!)
    const before = (this.#before = edgeInfo[from]!)
    this.#traffic = edgeTraffic[to]!
    const direction = get(turn, TurnField.turn)
    this.stopImpact = get(turn, TurnField.stopImpact)
    this.drivesOnRight = get(node, NodeField.driveOnRight) === 1
    this.side = (this.drivesOnRight ? direction : (8 - direction) & 7) as Side
    this.use = get(info, EdgeField.use)
    this.useBefore = get(before, EdgeField.use)
    this.roadClass = get(info, EdgeField.roadClass)
    this.nodeType = get(node, NodeField.type)
    return this
  }

  /** Clockwise angle, 0 … 359. */
  get degrees(): number {
    return get(this.#turn, TurnField.degrees)
  }

  /** Whether there are streets on both sides of the turn. */
  get isCrossing(): boolean {
    return (get(this.#turn, TurnField.edgeToLeft) & get(this.#turn, TurnField.edgeToRight)) === 1
  }

  /** Whether more than two edges meet, or the turn is a U-turn. */
  get isAtJunction(): boolean {
    const { edgeHead, firstEdge } = this.#graph
    const node = edgeHead[this.#from]!
    return firstEdge[node + 1]! - firstEdge[node]! > 2 || get(this.#turn, TurnField.turn) === Turn.reverse
  }

  /** Whether the turn leads around the tip where two carriageways of a street become one. */
  get isPencilPoint(): boolean {
    const left = get(this.#turn, TurnField.edgeToLeft)
    const right = get(this.#turn, TurnField.edgeToRight)
    return (
      this.side === Side.sharpFar &&
      (this.drivesOnRight ? right > left : left > right) &&
      get(this.#turn, TurnField.sameName) === 1 &&
      get(this.#traffic, TrafficField.named) === 1
    )
  }

  get hasSignal(): boolean {
    return get(this.#node, NodeField.signal) === 1
  }

  /** Density of roads at the node, 0 … 15. */
  get density(): number {
    return get(this.#node, NodeField.density)
  }

  /** Whether an access tag of the node decides. */
  get isAccessTagged(): boolean {
    return get(this.#node, NodeField.taggedAccess) === 1
  }

  /** Whether the mode may pass the node for local access only. */
  get isPrivate(): boolean {
    return (get(this.#node, NodeField.private) & this.#unlocking) !== 0
  }

  /** Number of classes by which the entered edge is more important; 0 for a living street. */
  get climbed(): number {
    if (this.use === Use.livingStreet) return 0
    return Math.max(0, get(this.#before, EdgeField.roadClass) - this.roadClass)
  }

  get cycleLane(): number {
    return get(this.#info, EdgeField.cycleLane)
  }

  get hasShoulder(): boolean {
    return get(this.#traffic, TrafficField.shoulder) === 1
  }

  get isRoundabout(): boolean {
    return get(this.#traffic, TrafficField.roundabout) === 1
  }

  /** Whether the entered edge lies inside a crossing. */
  get isInternal(): boolean {
    return get(this.#traffic, TrafficField.internal) === 1
  }

  /** Whether the node has a toll booth, or a street with a toll for cars begins. */
  get entersToll(): boolean {
    if (this.nodeType === NodeType.tollBooth) return true
    // Tolls for lorries alone are collected without stops.
    return paysToll(this.#graph, this.#to, Access.car) && !paysToll(this.#graph, this.#from, Access.car)
  }

  /** Whether the name changes, and the entered edge is not a link. */
  get changesName(): boolean {
    return get(this.#turn, TurnField.sameName) === 0 && get(this.#traffic, TrafficField.link) === 0
  }

  /** Whether the turn leads onto a street for local traffic. */
  get entersLocal(): boolean {
    return isForLocals(this.#graph, this.#to, this.#access) && !isForLocals(this.#graph, this.#from, this.#access)
  }

  /** Like {@link entersLocal}, but by tags only: driveways do not count. */
  get entersTaggedLocal(): boolean {
    return (get(this.#graph.edgeFlags[this.#to]!, FlagField.local) & this.#access) !== 0 && this.entersLocal
  }

  /** Whether the turn leads from a street that is open to the mode onto a closed one. */
  get entersClosed(): boolean {
    return !this.#rights.edge(this.#to) && this.#rights.edge(this.#from)
  }

  /** Whether the entered edge is a cycleway, a footway or a path. */
  get entersPath(): boolean {
    const { use } = this
    return use === Use.cycleway || use === Use.footway || use === Use.path
  }

  get isLift(): boolean {
    return this.use === Use.elevator || this.nodeType === NodeType.elevator
  }
}
