import { NodeType, Turn, Use } from '../graph/attributes.ts'
import {
  EdgeField,
  FlagField,
  get,
  isForLocals,
  NodeField,
  privateBits,
  tailOf,
  TrafficField,
  TurnField,
} from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { VALUES } from './expression.ts'
import type { Rights } from './rights.ts'

/** Facts of an edge that terms of a cost can ask for, by their place. */
export const EDGE_FACTS = {
  meters: 0,
  access: 1,
  use: 2,
  roadClass: 3,
  surface: 4,
  hiking: 5,
  lanes: 6,
  cycleLane: 7,
  /** A lane for bicycles, four more where there is a shoulder. */
  room: 8,
  speed: 9,
  lorrySpeed: 10,
  /** The lower of both where there is one for lorries. */
  slowerSpeed: 11,
  speedOnSurface: 12,
  density: 13,
  toll: 14,
  truckRoute: 15,
  bikeNetwork: 16,
  useSidepath: 17,
  dismount: 18,
  lit: 19,
  /** 1 beside a street with a sidewalk, 2 around a roundabout without. */
  beside: 20,
  local: 21,
  isSteps: 22,
  isRailFerry: 23,
} as const
export type EdgeFact = keyof typeof EDGE_FACTS

/** Facts of a turn, by their place. */
export const TURN_FACTS = {
  stopImpact: 0,
  side: 1,
  /** The kind of turn, or that it leads between other streets. */
  sideOrCrossing: 2,
  sideAndBetween: 3,
  /** The kind of turn where one may have to stop. */
  stoppedSide: 4,
  /** How likely one has to stop where streets lie to both sides. */
  crossed: 5,
  /** 1 back, 2 around the tip where two carriageways become one. */
  around: 6,
  /** The same, and 1 for two turns to the far side inside a crossing. */
  aroundInside: 7,
  /** 1 where a ramp begins or ends, 2 on a roundabout. */
  ramp: 8,
  density: 9,
  signal: 10,
  angle: 11,
  /** The use of the street that is entered. */
  entered: 12,
  /** The same; of what lies inside a crossing it is not minded that it is a service road. */
  enteredOutside: 13,
  enteredClass: 14,
  /** What stands on the node; see `BARRIER`. */
  barrier: 15,
  tolled: 16,
  renamed: 17,
  entersLocal: 18,
  /** The same of what tags say is for local traffic: driveways do not count. */
  lorryEntersLocal: 19,
  entersClosed: 20,
  /** Classes that the street entered is more important by, and whether one waits for that: 1 without a signal, 2 at one. */
  climbed: 21,
  climbWait: 22,
  /** The class, or the room, of the street entered; paths are classed as service roads, but are not what one minds there. */
  classOrPath: 23,
  roomOrPath: 24,
  /** 1 onto stairs, 2 into or at a lift. */
  stepsOrLift: 25,
} as const
export type TurnFact = keyof typeof TURN_FACTS

/** Kinds of turns as facts know them: near is the side one drives on, far the side across oncoming traffic. */
export const Side = {
  straight: 0,
  slightNear: 1,
  near: 2,
  sharpNear: 3,
  back: 4,
  sharpFar: 5,
  far: 6,
  slightFar: 7,
  /** Streets lie to both sides of the way that is taken. */
  crossing: 8,
} as const

/** Turns between streets on both sides, for costs that tell them from others by kind. */
const BETWEEN = 8
/** What is entered where the kind of street stays, and what paths are instead of a class or a lane. */
const UNCHANGED = VALUES - 1
const PATH = 8
/** Bits of what stands on a node: kind of barrier, and what its tags say. */
export const BARRIER = { kind: 4, tagged: 2, private: 1 } as const
/** Angles are those where one drives on the left this much higher; at a node of two edges one does not turn. */
export const ANGLE = { left: 360, none: 720 } as const

/**
 * Gives a function that reads the facts of an edge, as they are when one drives so many km/h there instead of the usual
 * speed; zero is as usual. They are overwritten by the next call.
 */
export function edgeReader(graph: Graph, access: number): (edge: number, kmh?: number) => Int32Array {
  const facts = new Int32Array(Object.keys(EDGE_FACTS).length)
  let [known, knownSpeed] = [-1, 0]
  return (edge, kmh = 0) => {
    if (edge === known && kmh === knownSpeed) return facts
    known = edge
    knownSpeed = kmh
    const info = graph.edgeInfo[edge]!
    const traffic = graph.edgeTraffic[edge]!
    const { nodeInfo, edgeHead } = graph
    const speed = kmh || get(traffic, TrafficField.speed)
    const lorrySpeed = get(traffic, TrafficField.truckSpeed)
    const surface = get(info, EdgeField.surface)
    const cycleLane = get(info, EdgeField.cycleLane)
    const sidewalk = get(traffic, TrafficField.sidewalkLeft) | get(traffic, TrafficField.sidewalkRight)
    const end = get(nodeInfo[edgeHead[edge]!]!, NodeField.density)
    facts[EDGE_FACTS.meters] = graph.edgeLength[edge]!
    facts[EDGE_FACTS.access] = get(info, EdgeField.access)
    facts[EDGE_FACTS.use] = get(info, EdgeField.use)
    facts[EDGE_FACTS.roadClass] = get(info, EdgeField.roadClass)
    facts[EDGE_FACTS.surface] = surface
    facts[EDGE_FACTS.hiking] = get(info, EdgeField.hikingDifficulty)
    facts[EDGE_FACTS.lanes] = get(info, EdgeField.lanes)
    facts[EDGE_FACTS.cycleLane] = cycleLane
    facts[EDGE_FACTS.room] = get(traffic, TrafficField.shoulder) * 4 + cycleLane
    facts[EDGE_FACTS.speed] = speed
    facts[EDGE_FACTS.lorrySpeed] = lorrySpeed
    facts[EDGE_FACTS.slowerSpeed] = lorrySpeed > 0 && lorrySpeed < speed ? lorrySpeed : speed
    facts[EDGE_FACTS.speedOnSurface] = surface * (TrafficField.speed.mask + 1) + speed
    facts[EDGE_FACTS.density] = (end + get(nodeInfo[tailOf(graph, edge)]!, NodeField.density)) >> 1
    facts[EDGE_FACTS.toll] = get(traffic, TrafficField.toll)
    facts[EDGE_FACTS.truckRoute] = get(traffic, TrafficField.truckRoute)
    facts[EDGE_FACTS.bikeNetwork] = get(traffic, TrafficField.bikeNetwork)
    facts[EDGE_FACTS.useSidepath] = get(traffic, TrafficField.useSidepath)
    facts[EDGE_FACTS.dismount] = get(traffic, TrafficField.dismount)
    facts[EDGE_FACTS.lit] = get(traffic, TrafficField.lit)
    facts[EDGE_FACTS.beside] = sidewalk === 1 ? 1 : get(traffic, TrafficField.roundabout) * 2
    facts[EDGE_FACTS.local] = Number(isForLocals(graph, edge, access))
    facts[EDGE_FACTS.isSteps] = facts[EDGE_FACTS.use] === Use.steps ? 1 : 0
    facts[EDGE_FACTS.isRailFerry] = facts[EDGE_FACTS.use] === Use.railFerry ? 1 : 0
    return facts
  }
}

/**
 * Gives a function that reads the facts of the turn from one edge onto another. They are overwritten by the next call.
 *
 * @param access bit of the access masks of the mode
 * @param rights those of lorries, which may be let onto streets that are closed to them; null for others
 */
export function turnReader(
  graph: Graph,
  access: number,
  rights: Rights | null,
): (from: number, to: number, turn: number, internal: boolean) => Int32Array {
  const facts = new Int32Array(Object.keys(TURN_FACTS).length)
  const unlocking = privateBits(access)
  let [knownFrom, knownTo, knownInternal] = [-1, -1, false]
  return (from, to, turn, internal) => {
    if (from === knownFrom && to === knownTo && internal === knownInternal) return facts
    knownFrom = from
    knownTo = to
    knownInternal = internal
    const { edgeInfo, edgeTraffic, edgeFlags, nodeInfo, firstEdge } = graph
    const nodeAt = graph.edgeHead[from]!
    const node = nodeInfo[nodeAt]!
    const info = edgeInfo[to]!
    const traffic = edgeTraffic[to]!
    const use = get(info, EdgeField.use)
    const before = get(edgeInfo[from]!, EdgeField.use)
    const roadClass = get(info, EdgeField.roadClass)
    const onRight = get(node, NodeField.driveOnRight) === 1
    const type = get(node, NodeField.type)
    const signal = get(node, NodeField.signal)
    const impact = get(turn, TurnField.stopImpact)
    const kind = get(turn, TurnField.turn)
    const toLeft = get(turn, TurnField.edgeToLeft)
    const toRight = get(turn, TurnField.edgeToRight)
    const between = (toLeft & toRight) === 1
    const sameName = get(turn, TurnField.sameName) === 1
    // Where one drives on the left turns are mirrored.
    const side = onRight ? kind : (8 - kind) & 7
    const isPencilPoint =
      side === Side.sharpFar &&
      !between &&
      (onRight ? toRight : toLeft) === 1 &&
      sameName &&
      get(traffic, TrafficField.named) === 1
    const around = side === Side.back ? 1 : isPencilPoint ? 2 : 0
    const entered = use === before ? UNCHANGED : use
    const isInside = use === Use.serviceRoad && get(traffic, TrafficField.internal) === 1
    const isTurn = firstEdge[nodeAt + 1]! - firstEdge[nodeAt]! > 2 || kind === Turn.reverse
    const tolled = get(traffic, TrafficField.toll) > get(edgeTraffic[from]!, TrafficField.toll)
    const entersLocal = isForLocals(graph, to, access) && !isForLocals(graph, from, access)
    const isYard = (get(edgeFlags[to]!, FlagField.local) & access) === 0
    const climbed = use === Use.livingStreet ? 0 : Math.max(0, get(edgeInfo[from]!, EdgeField.roadClass) - roadClass)
    const isPath = use === Use.cycleway || use === Use.footway || use === Use.path
    const isLift = use === Use.elevator || type === NodeType.elevator
    facts[TURN_FACTS.stopImpact] = impact
    facts[TURN_FACTS.side] = side
    facts[TURN_FACTS.sideOrCrossing] = between ? Side.crossing : side
    facts[TURN_FACTS.sideAndBetween] = between ? side + BETWEEN : side
    facts[TURN_FACTS.stoppedSide] = impact > 0 ? side : Side.straight
    facts[TURN_FACTS.crossed] = between ? impact : 0
    facts[TURN_FACTS.around] = around
    facts[TURN_FACTS.aroundInside] = internal && (side === Side.far || side === Side.sharpFar) ? 1 : around
    facts[TURN_FACTS.ramp] =
      (use === Use.ramp) === (before === Use.ramp) ? 0 : 1 + get(traffic, TrafficField.roundabout)
    facts[TURN_FACTS.density] = get(node, NodeField.density)
    facts[TURN_FACTS.signal] = signal
    const degrees = get(turn, TurnField.degrees)
    facts[TURN_FACTS.angle] = !isTurn ? ANGLE.none : onRight ? degrees : degrees + ANGLE.left
    facts[TURN_FACTS.entered] = entered
    facts[TURN_FACTS.enteredOutside] = isInside ? UNCHANGED : entered
    facts[TURN_FACTS.enteredClass] = roadClass
    facts[TURN_FACTS.barrier] =
      type * BARRIER.kind +
      get(node, NodeField.taggedAccess) * BARRIER.tagged +
      Number((get(node, NodeField.private) & unlocking) !== 0) * BARRIER.private
    facts[TURN_FACTS.tolled] = tolled || type === NodeType.tollBooth ? 1 : 0
    facts[TURN_FACTS.renamed] = sameName || get(traffic, TrafficField.link) === 1 ? 0 : 1
    facts[TURN_FACTS.entersLocal] = Number(entersLocal)
    facts[TURN_FACTS.lorryEntersLocal] = Number(entersLocal && !isYard)
    facts[TURN_FACTS.entersClosed] = rights !== null && !rights.edge(to) && rights.edge(from) ? 1 : 0
    facts[TURN_FACTS.climbed] = climbed
    facts[TURN_FACTS.climbWait] = climbed > 0 ? 1 + signal : 0
    facts[TURN_FACTS.classOrPath] = isPath ? PATH : roadClass
    facts[TURN_FACTS.roomOrPath] = isPath
      ? PATH
      : get(traffic, TrafficField.shoulder) * 4 + get(info, EdgeField.cycleLane)
    facts[TURN_FACTS.stepsOrLift] = use === Use.steps ? 1 : isLift ? 2 : 0
    return facts
  }
}
