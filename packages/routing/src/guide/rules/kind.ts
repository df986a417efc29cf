import { RoadClass, Turn, turnOf, Use } from '../../graph/attributes.ts'
import { Kind, type Maneuver } from '../maneuver.ts'
import type { Junction, JoinedLeg } from '../steps.ts'
import { apart } from '../crossings.ts'
import {
  hasSignificantForward,
  isFerry,
  isForward,
  isNearStraight,
  isSignificant,
  tellsRoundabouts,
} from './junction.ts'

/** Minimum metres of a continuation on a motorway that is announced. */
export const SHORT_CONTINUE_METERS = 600
const SIMILAR_STRAIGHT_DEGREES = 30

/**
 * Sets the kind of a maneuver, unless it is set already. With `undecidedParts`, parts of crossings and turn channels
 * stay undecided, because they may become part of the next maneuver.
 */
export function decideKind(leg: JoinedLeg, maneuver: Maneuver, undecidedParts: boolean): void {
  if (maneuver.kind !== Kind.none) return
  const junction = leg.junctions[maneuver.beginNode] ?? null
  if (maneuver.roundabout) maneuver.kind = Kind.roundaboutEnter
  else if (junction !== null && tellsRoundabouts(junction.before.travelMode) && junction.before.roundabout) {
    maneuver.kind = Kind.roundaboutExit
  } else if (maneuver.fork) maneuver.kind = bySide(maneuver, Kind.stayLeft, Kind.stayRight) ?? Kind.stayStraight
  else if (undecidedParts && (maneuver.internal || maneuver.turnChannel)) maneuver.kind = Kind.none
  else
    maneuver.kind = rampKind(leg, junction, maneuver) ?? mergeKind(junction, maneuver) ?? placeKind(junction, maneuver)
}

function bySide({ direction }: Maneuver, left: number, right: number): number | null {
  if (direction === 'keepLeft' || direction === 'left') return left
  return direction === 'keepRight' || direction === 'right' ? right : null
}

function rampKind(leg: JoinedLeg, junction: Junction | null, maneuver: Maneuver): number | null {
  if (!maneuver.ramp || junction === null) return null
  const { before } = junction
  const keeps = maneuver.direction === 'keepRight' || maneuver.direction === 'keepLeft'
  const offMinor = before.use !== Use.ramp && keeps && !leadsToHighway(leg, maneuver)
  if (before.highway || maneuver.signs.exitNumbers.length > 0 || offMinor) {
    return bySide(maneuver, Kind.exitLeft, Kind.exitRight) ?? (maneuver.driveOnRight ? Kind.exitRight : Kind.exitLeft)
  }
  const side = bySide(maneuver, Kind.rampLeft, Kind.rampRight)
  if (side !== null) return side
  if (maneuver.direction === 'keepStraight') return Kind.rampStraight
  if (maneuver.direction === 'reverse' && maneuver.turnDegrees !== 180) {
    return maneuver.turnDegrees < 180 ? Kind.rampRight : Kind.rampLeft
  }
  return maneuver.direction === 'reverse' && maneuver.driveOnRight ? Kind.rampLeft : Kind.rampRight
}

/** Whether a ramp ends on a motorway. */
function leadsToHighway({ steps }: JoinedLeg, maneuver: Maneuver): boolean {
  const next = steps
    .slice(maneuver.endNode)
    .find(({ use, internal }) => use !== Use.ramp && use !== Use.turnChannel && !internal)
  return next?.highway === true
}

function mergeKind(junction: Junction | null, maneuver: Maneuver): number | null {
  if (junction === null) return null
  const { before, after, view, degrees } = junction
  if (before.use !== Use.ramp || after.use === Use.ramp) return null
  const major = after.roadClass === RoadClass.trunk || after.roadClass === RoadClass.primary
  const named = view.crossings.some(({ sameNameAfter }) => sameNameAfter)
  if (!after.highway && !(major && after.oneway && isForward(maneuver.turnDegrees) && named)) return null
  const { right, left } = view.sides(degrees)
  if (left.all > 0 && left.similar === 0 && right.all === 0) maneuver.mergeDirection = 'keepLeft'
  else if (right.all > 0 && right.similar === 0 && left.all === 0) maneuver.mergeDirection = 'keepRight'
  if (maneuver.mergeDirection === 'keepLeft') return Kind.mergeLeft
  return maneuver.mergeDirection === 'keepRight' ? Kind.mergeRight : Kind.merge
}

function placeKind(junction: Junction | null, maneuver: Maneuver): number {
  if (maneuver.ferry || maneuver.railFerry) return Kind.ferryEnter
  if (junction !== null && isFerry(junction.before.use)) return Kind.ferryExit
  if (maneuver.elevator) return Kind.elevatorEnter
  if (maneuver.indoorSteps || maneuver.steps) return Kind.stepsEnter
  if (maneuver.escalator) return Kind.escalatorEnter
  if (maneuver.buildingEnter) return Kind.buildingEnter
  if (maneuver.buildingExit) return Kind.buildingExit
  return turnKind(junction, maneuver)
}

function turnKind(junction: Junction | null, maneuver: Maneuver): number {
  switch (turnOf(maneuver.turnDegrees)) {
    case Turn.straight:
      return junction === null ? Kind.continue : straightKind(junction, maneuver)
    case Turn.slightRight:
      return junction !== null && isHardlyATurn(junction, maneuver, true) ? Kind.continue : Kind.slightRight
    case Turn.slightLeft:
      return junction !== null && isHardlyATurn(junction, maneuver, false) ? Kind.continue : Kind.slightLeft
    case Turn.right:
      return junction === null ? Kind.right : sideKind(junction, maneuver, true)
    case Turn.left:
      return junction === null ? Kind.left : sideKind(junction, maneuver, false)
    case Turn.sharpRight:
      return Kind.sharpRight
    case Turn.sharpLeft:
      return Kind.sharpLeft
    default:
      return backKind(junction, maneuver)
  }
}

/** Straight on by the angle, unless another way is as straight. */
function straightKind(junction: Junction, maneuver: Maneuver): number {
  const { before, after, view } = junction
  const { direction } = maneuver
  if (after.use === Use.turnChannel && direction !== 'keepStraight') {
    return direction === 'keepRight' ? Kind.slightRight : direction === 'keepLeft' ? Kind.slightLeft : Kind.continue
  }
  if (after.internal) return bySide(maneuver, Kind.slightLeft, Kind.slightRight) ?? Kind.continue
  if (after.highway && maneuver.meters < SHORT_CONTINUE_METERS) return Kind.continue
  if (direction !== 'keepRight' && direction !== 'keepLeft') return Kind.continue
  const right = direction === 'keepRight'
  const alike = (degrees: number): boolean =>
    isNearStraight(maneuver.turnDegrees) &&
    isNearStraight(degrees) &&
    apart(maneuver.turnDegrees, degrees) <= SIMILAR_STRAIGHT_DEGREES
  if (!view.someOpen(({ roadClass }, degrees) => alike(degrees) && isSignificant(roadClass, before.roadClass)))
    return Kind.continue
  const rampAhead = view.someOpen(({ use }, degrees) => use === Use.ramp && isForward(degrees))
  if (!after.highway && !rampAhead) return right ? Kind.slightRight : Kind.slightLeft
  const rival = view.someOpen(
    ({ use, sameNameBefore }, degrees) => alike(degrees) && (use !== Use.ramp || sameNameBefore),
  )
  if (!rival) return Kind.continue
  return right ? Kind.stayRight : Kind.stayLeft
}

/** A bend that travellers do not perceive as a turn: all other streets turn off further, or there are no others. */
function isHardlyATurn(junction: Junction, maneuver: Maneuver, right: boolean): boolean {
  const sides = junction.view.sides(junction.degrees)
  const same = right ? sides.right : sides.left
  const alone = sides.right.all + sides.left.all === 0
  return maneuver.direction === 'keepStraight' && !hasSignificantForward(junction) && (same.all > 0 || alone)
}

/** A turn to a side: slight or sharp when another street is nearer to a right angle. */
function sideKind(junction: Junction, maneuver: Maneuver, right: boolean): number {
  const plain = right ? Kind.right : Kind.left
  const view = junction.view.as(maneuver.travelMode)
  if (!view.someOpen(() => true)) return plain
  const squarest = view.sharpestTo(right, maneuver.turnDegrees)
  if (squarest === maneuver.turnDegrees) return plain
  const less = right ? maneuver.turnDegrees < squarest : maneuver.turnDegrees > squarest
  if (less)
    return view.someTurn(right ? Turn.slightRight : Turn.slightLeft)
      ? plain
      : right
        ? Kind.slightRight
        : Kind.slightLeft
  return view.someTurn(right ? Turn.sharpRight : Turn.sharpLeft) ? plain : right ? Kind.sharpRight : Kind.sharpLeft
}

function backKind(junction: Junction | null, maneuver: Maneuver): number {
  const { rightTurnsInside, leftTurnsInside, turnDegrees } = maneuver
  if (leftTurnsInside !== rightTurnsInside) return leftTurnsInside > rightTurnsInside ? Kind.uturnLeft : Kind.uturnRight
  if (maneuver.direction === 'keepLeft') return Kind.uturnLeft
  if (maneuver.direction === 'keepRight') return Kind.uturnRight
  if (turnDegrees !== 180) return turnDegrees < 180 ? Kind.uturnRight : Kind.uturnLeft
  const onRight = junction?.after.driveOnRight ?? maneuver.driveOnRight
  return onRight ? Kind.uturnLeft : Kind.uturnRight
}
