import { turnDegrees } from '../../geometry/geodesy.ts'
import { Intersection, NodeType, RoadClass, Use } from '../../graph/attributes.ts'
import { get, NodeField } from '../../graph/fields.ts'
import { bend, CrossingView } from '../crossings.ts'
import type { TravelMode } from '../../cost/profile.ts'
import type { GuidedLeg, JoinedLeg, Junction, Step } from '../steps.ts'

/** A leg with the junctions at its nodes. */
export function withJunctions(leg: GuidedLeg): JoinedLeg {
  const { steps } = leg
  const junctions = [...steps, null].map((after, node) => {
    const before = steps[node - 1]
    return before === undefined || after === null ? null : junctionBetween(leg, node, before, after)
  })
  return { ...leg, junctions }
}

function junctionBetween(leg: GuidedLeg, node: number, before: Step, after: Step): Junction {
  const info = leg.nodeInfo[node]!
  return {
    leg,
    node,
    before,
    after,
    degrees: turnDegrees(before.endHeading, after.beginHeading),
    view: new CrossingView(leg.crossings(node), before.endHeading, before.travelMode),
    motorwayJunction: get(info, NodeField.type) === NodeType.motorwayJunction,
    fork: get(info, NodeField.intersection) === Intersection.fork,
  }
}

export function isForward(degrees: number): boolean {
  return degrees > 314 || degrees < 46
}

export function isWideForward(degrees: number): boolean {
  return degrees > 304 || degrees < 56
}

export function isForkForward(degrees: number): boolean {
  return degrees > 339 || degrees < 21
}

export function isNearStraight(degrees: number): boolean {
  return degrees > 329 || degrees < 31
}

/** Whether an angle leads backwards. */
export function isBackward(degrees: number): boolean {
  return degrees > 124 && degrees < 236
}

/** Minimum difference in degrees for another way to count as straighter. */
const STRAIGHTER_DEGREES = 10

/** Whether the route continues about as straight as another way, or straighter. */
export function isStraightest(degrees: number, other: number): boolean {
  if (!isWideForward(degrees)) return false
  return Math.abs(bend(degrees) - bend(other)) <= STRAIGHTER_DEGREES || bend(degrees) <= bend(other)
}

/** Maximum number of classes by which a significant street may be less important. */
const SIGNIFICANT_CLASSES = 2

/** Whether a street is important enough compared with the travelled one. */
export function isSignificant(roadClass: number, travelled: number): boolean {
  return roadClass - travelled <= SIGNIFICANT_CLASSES
}

/** Whether a street ahead is important enough to be mistaken for the route. */
export function hasSignificantForward({ view, before }: Junction): boolean {
  return view.someOpen((crossing, degrees) => isForward(degrees) && isSignificant(crossing.roadClass, before.roadClass))
}

export function isFerry(use: number): boolean {
  return use === Use.ferry || use === Use.railFerry
}

/** Whether an edge is an ordinary road: no ramp, turn channel or ferry. */
export function isPlainRoad({ use }: { use: number }): boolean {
  return use !== Use.ramp && use !== Use.turnChannel && !isFerry(use)
}

export function isFootway({ use }: { use: number }): boolean {
  return use === Use.footway || use === Use.crossing
}

export function isService({ roadClass }: { roadClass: number }): boolean {
  return roadClass === RoadClass.service
}

/** Whether roundabouts are announced. For pedestrians they are ordinary streets. */
export function tellsRoundabouts(mode: TravelMode): boolean {
  return mode !== 'pedestrian'
}
