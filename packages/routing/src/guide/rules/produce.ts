import { NodeType, Turn, turnOf, Use } from '../../graph/attributes.ts'
import { get, NodeField } from '../../graph/fields.ts'
import { directionBetween, type Direction, directionOf, Kind, type Maneuver, newManeuver } from '../maneuver.ts'
import { commonNames } from '../names.ts'
import { addSigns } from '../signs.ts'
import type { TravelMode } from '../../cost/profile.ts'
import type { JoinedLeg, Junction, Step } from '../steps.ts'
import { coversStepBefore } from './divide.ts'
import { isFootway, isStraightest, tellsRoundabouts } from './junction.ts'
import { decideKind } from './kind.ts'

/** Minimum length of stairs that are announced, in metres. */
const SHORT_STAIRS_METERS = 3
/** Speeds in km/h for estimating the time until a maneuver. */
const PLAIN_SPEED: Readonly<Record<'pedestrian' | 'bicycle', number>> = { pedestrian: 5.1, bicycle: 20 }

/** Sides of the street on which the ends of a leg are. */
export interface Sides {
  readonly origin: 'left' | 'right' | null
  readonly destination: 'left' | 'right' | null
}

/**
 * Divides a leg into maneuvers, from the end to the beginning, because an instruction depends on the steps after it.
 */
export function produceManeuvers(leg: JoinedLeg, sides: Sides): Maneuver[] {
  const last = leg.steps.length
  const maneuvers = [arrival(leg, sides.destination)]
  let current = beginManeuver(leg, last)
  for (let node = last - 1; node > 0; node--) {
    const junction = leg.junctions[node]!
    if (coversStepBefore(junction, current)) {
      coverStep(leg, current, node)
    } else {
      finishManeuver(leg, current, node)
      maneuvers.push(current)
      current = beginManeuver(leg, node)
    }
  }
  const { use } = leg.steps[0]!
  const climbs = use === Use.steps || use === Use.escalator
  if (climbs) current.kind = Kind.none
  else current.kind = sides.origin === 'left' ? Kind.startLeft : sides.origin === 'right' ? Kind.startRight : Kind.start
  finishManeuver(leg, current, 0)
  maneuvers.push(current)
  return maneuvers.toReversed()
}

function arrival({ steps }: JoinedLeg, side: Sides['destination']): Maneuver {
  const { endShape, travelMode, travelType } = steps.at(-1)!
  const kind = side === 'left' ? Kind.destinationLeft : side === 'right' ? Kind.destinationRight : Kind.destination
  const node = steps.length
  return {
    ...newManeuver(),
    kind,
    beginNode: node,
    endNode: node,
    beginShape: endShape,
    endShape,
    travelMode,
    travelType,
  }
}

/** Begins a maneuver that ends at a node, with the step before it. */
function beginManeuver(leg: JoinedLeg, node: number): Maneuver {
  const before = leg.steps[node - 1]!
  const { use } = before
  const roundabout = tellsRoundabouts(before.travelMode) && before.roundabout
  const maneuver = newManeuver()
  maneuver.endNode = node
  maneuver.endShape = before.endShape
  maneuver.endHeading = before.endHeading
  maneuver.travelMode = before.travelMode
  maneuver.travelType = before.travelType
  maneuver.driveOnRight = before.driveOnRight
  maneuver.ramp = use === Use.ramp
  maneuver.turnChannel = use === Use.turnChannel
  maneuver.ferry = use === Use.ferry
  maneuver.railFerry = use === Use.railFerry
  maneuver.roundabout = roundabout
  maneuver.roundaboutExit = roundabout ? 1 : 0
  maneuver.internal = before.internal && node < leg.steps.length && node > 1
  maneuver.elevator = use === Use.elevator
  maneuver.indoorSteps = use === Use.steps && before.indoor
  maneuver.steps = use === Use.steps && before.meters >= SHORT_STAIRS_METERS
  maneuver.escalator = use === Use.escalator
  maneuver.trail = isFootway(before) ? 'walkway' : use === Use.cycleway ? 'cycleway' : 'none'
  maneuver.unnamedTrail = before.names.length === 0
  coverStep(leg, maneuver, node)
  return maneuver
}

/** Adds the step before a node to a maneuver. */
function coverStep(leg: JoinedLeg, maneuver: Maneuver, node: number): void {
  const before = leg.steps[node - 1]!
  const turn = turnInside(leg, node)
  const nameless = maneuver.names.length === 0 && !maneuver.internal
  const fromSide = turn === (before.driveOnRight ? 'left' : 'right')
  if (nameless || (maneuver.internal && fromSide)) maneuver.names = before.names
  if (turn === 'right') maneuver.rightTurnsInside++
  if (turn === 'left') maneuver.leftTurnsInside++
  maneuver.meters += before.meters
  maneuver.basicSeconds += basicSeconds(maneuver.travelMode, before)
  maneuver.toll ||= before.toll
  maneuver.unpaved ||= before.unpaved
  maneuver.highway ||= before.highway
  if (tellsRoundabouts(before.travelMode) && before.roundabout) maneuver.roundaboutExit += exitsPassed(leg, node)
  addSigns(maneuver.signs, before.signs, 'exit')
}

/** Direction of the turn onto the step before a node. */
function turnInside({ steps }: JoinedLeg, node: number): Direction {
  const earlier = steps[node - 2]
  return earlier === undefined ? 'keepStraight' : directionBetween(earlier.endHeading, steps[node - 1]!.beginHeading)
}

/** Whole seconds for a step at plain speed. */
export function basicSeconds(mode: TravelMode, { meters, speed }: Step): number {
  return Math.round((meters * 3.6) / (mode === 'drive' ? speed : PLAIN_SPEED[mode]))
}

/** Number of roundabout exits that the route passes at a node: the exits on the outside, which is the driving side. */
function exitsPassed(leg: JoinedLeg, node: number): number {
  const before = leg.steps[node - 1]!
  const isRoad = before.use === Use.road || before.use === Use.serviceRoad
  const mode = before.travelMode === 'bicycle' && isRoad ? 'drive' : before.travelMode
  const junction = leg.junctions[node] ?? null
  if (junction === null) return 0
  const { right, left } = junction.view.as(mode).sides(junction.degrees)
  return before.driveOnRight ? right.open : left.open
}

/** Completes a maneuver that begins at a node. */
function finishManeuver(leg: JoinedLeg, maneuver: Maneuver, node: number): void {
  const after = leg.steps[node]!
  const junction = leg.junctions[node] ?? null
  const type = get(leg.nodeInfo[node]!, NodeField.type)
  maneuver.beginNode = node
  maneuver.beginShape = after.beginShape
  maneuver.beginHeading = after.beginHeading
  maneuver.seconds = secondsAt(leg, maneuver.endNode) - secondsAt(leg, node)
  if (type === NodeType.elevator) {
    maneuver.elevator = true
    maneuver.passesElevator = true
  }
  if (junction !== null) {
    const { before } = junction
    if (type === NodeType.buildingEntrance) {
      maneuver.buildingEnter = after.indoor && !before.indoor
      maneuver.buildingExit = !after.indoor && before.indoor
    }
    maneuver.turnDegrees = junction.degrees
    maneuver.direction = relativeDirection(junction, maneuver)
    maneuver.pedestrianCrossing = after.use === Use.crossing && isFootway(before)
  }
  maneuver.namesCross = leg.crossings(node).some((crossing) => crossing.sameNameBefore || crossing.sameNameAfter)
  if (!after.highway && !after.internal && after.names.length > commonNames(after.names, maneuver.names).length) {
    if (after.names.length > 1) maneuver.beginNames = after.names
  }
  addSigns(maneuver.signs, after.signs, 'guide')
  decideKind(leg, maneuver, true)
}

/** Seconds from the beginning of a leg to a node. */
export function secondsAt({ steps }: JoinedLeg, node: number): number {
  return steps[node - 1]?.seconds ?? 0
}

/** Direction of a maneuver, relative to the other streets at the junction. */
function relativeDirection(junction: Junction, maneuver: Maneuver): Direction {
  const { view } = junction
  const degrees = maneuver.turnDegrees
  const plain = directionOf(degrees)
  if (plain === 'left' || plain === 'right') {
    const slight = turnOf(degrees) === (plain === 'left' ? Turn.slightLeft : Turn.slightRight)
    const sharper = plain === 'left' ? Turn.left : Turn.right
    if (!slight || !view.as(maneuver.travelMode).someTurn(sharper)) return plain
    return plain === 'left' ? 'keepLeft' : 'keepRight'
  }
  if (plain !== 'keepStraight') return plain
  const { right, left } = view.sides(junction.degrees)
  if (right.similarOpen === 0 && left.similarOpen > 0) return 'keepRight'
  if (right.similarOpen > 0 && left.similarOpen === 0) return 'keepLeft'
  if (right.similarOpen > 0 || left.open > 0 === right.open > 0) return plain
  const bends =
    !isStraightest(degrees, view.straightestOpen().degrees) ||
    (maneuver.turnChannel && turnOf(degrees) !== Turn.straight) ||
    maneuver.fork
  if (!bends) return plain
  return left.open > 0 ? 'keepRight' : 'keepLeft'
}
