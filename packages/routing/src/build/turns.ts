import { turnDegrees } from '../geometry/geodesy.ts'
import { Access, isStreet, RoadClass, Turn, turnOf, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, headingDegrees, put, TrafficField, TurnField } from '../graph/fields.ts'
import type { EdgeTable } from './edges.ts'

/** Inputs for describing turns. */
export interface TurnInputs {
  readonly edges: EdgeTable
  /** Whether two edges share a name, or both have none. */
  readonly sameName: (a: number, b: number) => boolean
  readonly signal: (node: number) => boolean
  readonly driveOnRight: (node: number) => boolean
}

export interface TurnTable {
  readonly firstTurn: Uint32Array
  readonly info: Uint32Array
}

/**
 * Describes every turn at every node: angle, edges on both sides, whether the name continues, and the stop impact.
 * Rules after Valhalla 3.6 `mjolnir/util.cc` and `graphenhancer.cc`.
 */
export function describeTurns(inputs: TurnInputs): TurnTable {
  const { edges } = inputs
  const firstTurn = new Uint32Array(edges.nodeCount + 1)
  for (let node = 0; node < edges.nodeCount; node++) {
    firstTurn[node + 1] = firstTurn[node]! + (edges.firstEdge[node + 1]! - edges.firstEdge[node]!) ** 2
  }
  const info = new Uint32Array(firstTurn[edges.nodeCount]!)
  for (let node = 0; node < edges.nodeCount; node++) {
    const first = edges.firstEdge[node]!
    const end = edges.firstEdge[node + 1]!
    let at = firstTurn[node]!
    for (let from = first; from < end; from++) {
      for (let to = first; to < end; to++) info[at++] = describeTurn(inputs, node, from, to)
    }
  }
  return { firstTurn, info }
}

/** @param from the opposite of the edge of arrival: the edge that leaves the node */
function describeTurn(inputs: TurnInputs, node: number, from: number, to: number): number {
  const { edges } = inputs
  const arrival = headingDegrees(edges.heading[from]!) + 180
  const degrees = turnDegrees(arrival, headingDegrees(edges.heading[to]!))
  const { left, right } = besides(edges, node, from, to, arrival, degrees)
  const sameName = inputs.sameName(from, to)
  const turn = turnOf(degrees)
  let info = put(0, TurnField.turn, turn)
  info = put(info, TurnField.degrees, degrees)
  info = put(info, TurnField.edgeToLeft, left)
  info = put(info, TurnField.edgeToRight, right)
  info = put(info, TurnField.sameName, sameName)
  return put(info, TurnField.stopImpact, stopImpact(inputs, { node, from, to, turn, degrees, left, right, sameName }))
}

/** Whether other edges lie to the left and right of a turn. */
function besides(
  edges: EdgeTable,
  node: number,
  from: number,
  to: number,
  arrival: number,
  degrees: number,
): { left: boolean; right: boolean } {
  let left = false
  let right = false
  const end = edges.firstEdge[node + 1]!
  if (end - edges.firstEdge[node]! < 3) return { left, right }
  for (let other = edges.firstEdge[node]!; other < end; other++) {
    if (other === from || other === to) continue
    const angle = turnDegrees(arrival, headingDegrees(edges.heading[other]!))
    if (degrees > 180) {
      if (angle > degrees || angle < 180) right = true
      else if (angle < degrees && angle > 180) left = true
    } else if (angle > degrees && angle < 180) right = true
    else if (angle < degrees || angle > 180) left = true
  }
  return { left, right }
}

interface DescribedTurn {
  readonly node: number
  readonly from: number
  readonly to: number
  readonly turn: number
  readonly degrees: number
  readonly left: boolean
  readonly right: boolean
  readonly sameName: boolean
}

const MOST_IMPACT = 7
const SHARP = new Set<number>([Turn.sharpLeft, Turn.sharpRight, Turn.reverse])
const SLIGHT = new Set<number>([Turn.straight, Turn.slightLeft, Turn.slightRight])

function stopImpact(inputs: TurnInputs, turn: DescribedTurn): number {
  const { edges } = inputs
  const { node, from, to } = turn
  const use = (edge: number): number => get(edges.info[edge]!, EdgeField.use)
  const roundabout = (edge: number): boolean => get(edges.traffic[edge]!, TrafficField.roundabout) === 1
  if (roundabout(from) && roundabout(to)) return 0
  if (isTurnBack(inputs, turn)) return MOST_IMPACT
  const { best, onlyRamps } = crossing(edges, node, from, to)
  const fromClass = Math.min(roadClassOf(edges, from), RoadClass.unclassified)
  if (use(from) === Use.turnChannel && use(to) === Use.turnChannel && best < RoadClass.unclassified) return MOST_IMPACT
  let impact = Math.max(0, fromClass - best + 3)
  const controlled =
    inputs.signal(node) ||
    get(edges.flags[from]!, FlagField.signal) === 1 ||
    get(edges.flags[from]!, FlagField.stop) === 1
  const sharp = SHARP.has(turn.turn)
  const slight = SLIGHT.has(turn.turn)
  const eased = (): number => (sharp ? impact + 2 : slight ? Math.floor(impact / 2) : Math.max(0, impact - 1))
  if (onlyRamps) {
    impact = eased()
  } else if (use(from) === Use.ramp && use(to) === Use.ramp && best < RoadClass.unclassified) {
    if (controlled) impact = 4
    else if (edges.firstEdge[node + 1]! - edges.firstEdge[node]! > 3) impact += 2
  } else if (use(from) === Use.ramp && use(to) !== Use.ramp) {
    impact += sharp ? 3 : slight ? 1 : 2
  } else if (use(from) === Use.turnChannel) {
    impact = !sharp && use(to) === Use.ramp ? impact + 1 : eased()
  } else if (use(from) === Use.parkingAisle && use(to) === Use.parkingAisle) {
    impact = Math.max(0, impact - 1)
  } else if (
    acrossTraffic(inputs, turn) &&
    fromClass !== roadClassOf(edges, to) &&
    use(to) !== Use.ramp &&
    use(to) !== Use.turnChannel
  ) {
    if (controlled) impact += 2
    else if (Math.abs(fromClass - roadClassOf(edges, to)) > 1) impact++
  }
  return Math.min(impact, MOST_IMPACT)
}

/** Whether a turn crosses oncoming traffic. */
function acrossTraffic({ driveOnRight }: TurnInputs, { node, turn }: DescribedTurn): boolean {
  return driveOnRight(node)
    ? turn === Turn.left || turn === Turn.sharpLeft
    : turn === Turn.right || turn === Turn.sharpRight
}

/** The best class of the roads that cross a turn, and whether only ramps meet here. */
function crossing(edges: EdgeTable, node: number, from: number, to: number): { best: number; onlyRamps: boolean } {
  let best: number = RoadClass.unclassified
  let onlyRamps = true
  for (let other = edges.firstEdge[node]!; other < edges.firstEdge[node + 1]!; other++) {
    if (get(edges.traffic[other]!, TrafficField.link) === 0) onlyRamps = false
    const arriving = get(edges.info[edges.opposite[other]!]!, EdgeField.access)
    if (other === from || other === to || (arriving & Access.car) === 0) continue
    // Traffic on a roundabout is slow, so it counts as two classes lower.
    const lowered = get(edges.traffic[other]!, TrafficField.roundabout) === 1 ? 2 : 0
    best = Math.min(best, roadClassOf(edges, other) + lowered)
  }
  return { best, onlyRamps }
}

function roadClassOf(edges: EdgeTable, edge: number): number {
  return get(edges.info[edge]!, EdgeField.roadClass)
}

/** U-turns where two carriageways become one (the tip of a pencil), or on crossing cycleways. */
function isTurnBack(inputs: TurnInputs, turn: DescribedTurn): boolean {
  const { edges } = inputs
  const { node, from, to, degrees, left, right } = turn
  const onRight = inputs.driveOnRight(node)
  const short = edges.length[from]! < 50 || edges.length[to]! < 50
  // The angles are mirrored for driving on the left; the asymmetry of one degree is Valhalla's.
  const back = onRight ? degrees > 179 && degrees < (short ? 226 : 211) : degrees < 181 && degrees > (short ? 134 : 149)
  if (!back) return false
  const bothCycleways = [from, to].every((edge) => get(edges.info[edge]!, EdgeField.use) === Use.cycleway)
  if (bothCycleways && left && right) return true
  const oneSide = onRight ? right && !left : left && !right
  const into = onlyTowards(edges, edges.opposite[from]!)
  return into && onlyTowards(edges, to) && oneSide && turn.sameName
}

/** Whether cars may take an edge but not its opposite. */
function onlyTowards(edges: EdgeTable, edge: number): boolean {
  const car = (e: number): boolean => (get(edges.info[e]!, EdgeField.access) & Access.car) !== 0
  return car(edge) && !car(edges.opposite[edge]!)
}

/** Maximum length of an edge inside a crossing, in metres. */
const INTERNAL_METERS = 32

/**
 * Marks short edges inside a crossing of dual carriageways: a one-way street arrives at one end and another one leaves
 * from the other, both at an angle.
 */
export function markInternal(edges: EdgeTable): void {
  for (const edge of edges.traffic.keys()) if (isInsideCrossing(edges, edge)) mark(edges, edge)
}

/** Marks both directions when one is marked. Turns must be described before. */
export function shareInternal(edges: EdgeTable): void {
  const marked = edges.traffic.map((traffic) => get(traffic, TrafficField.internal))
  edges.opposite.forEach((opposite, edge) => {
    if (marked[opposite] === 1) mark(edges, edge)
  })
}

function mark({ traffic }: EdgeTable, edge: number): void {
  traffic[edge] = put(traffic[edge]!, TrafficField.internal, 1)
}

function isInsideCrossing(edges: EdgeTable, edge: number): boolean {
  if (edges.length[edge]! > INTERNAL_METERS || get(edges.traffic[edge]!, TrafficField.roundabout) === 1) return false
  if (get(edges.info[edge]!, EdgeField.use) > Use.cycleway) return false
  const node = edges.head[edges.opposite[edge]!]!
  const first = edges.firstEdge[node]!
  const end = edges.firstEdge[node + 1]!
  // Two edges between the same two nodes are a small loop.
  if (end - first === 2 && edges.head[first === edge ? first + 1 : first] === edges.head[edge]) return false
  const arrivals = crossTurns(edges, edge, false)
  if (arrivals === null || !arrivals.oneway) return false
  const departures = crossTurns(edges, edge, true)
  if (departures === null || !departures.oneway) return false
  return !(
    (arrivals.left && departures.right) ||
    (arrivals.right && departures.left) ||
    (departures.left && departures.right)
  )
}

interface CrossTurns {
  /** Whether a one-way street meets the edge at an angle. */
  readonly oneway: boolean
  readonly left: boolean
  readonly right: boolean
}

/** Turns from streets onto an edge, or from it onto streets; null when a roundabout is among them. */
function crossTurns(edges: EdgeTable, edge: number, leaving: boolean): CrossTurns | null {
  const opposite = edges.opposite[edge]!
  const node = leaving ? edges.head[edge]! : edges.head[opposite]!
  const self = leaving ? opposite : edge
  let oneway = false
  let left = false
  let right = false
  for (let other = edges.firstEdge[node]!; other < edges.firstEdge[node + 1]!; other++) {
    const car = (e: number): boolean => (get(edges.info[e]!, EdgeField.access) & Access.car) !== 0
    const travelled = leaving ? other : edges.opposite[other]!
    if (other === self || !isStreet(get(edges.info[other]!, EdgeField.use)) || !car(travelled)) continue
    if (get(edges.traffic[other]!, TrafficField.roundabout) === 1) return null
    const [from, to] = leaving ? [opposite, other] : [other, edge]
    const degrees = turnDegrees(headingDegrees(edges.heading[from]!) + 180, headingDegrees(edges.heading[to]!))
    const turn = turnOf(degrees)
    left ||= turn === Turn.left || turn === Turn.sharpLeft
    right ||= turn === Turn.right || turn === Turn.sharpRight
    const straight = degrees < 30 || degrees > 330
    if (!car(edges.opposite[travelled]!) && get(edges.traffic[other]!, TrafficField.link) === 0 && !straight)
      oneway = true
  }
  return { oneway, left, right }
}
