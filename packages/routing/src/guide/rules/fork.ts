import { turnDegrees } from '../../geometry/geodesy.ts'
import { Turn, turnOf, Use } from '../../graph/attributes.ts'
import { isHighway } from '../crossings.ts'
import { commonNames } from '../names.ts'
import {
  hasSignificantForward,
  isBackward,
  isFootway,
  isForkForward,
  isForward,
  isPlainRoad,
  isService,
  isStraightest,
  isWideForward,
} from './junction.ts'
import type { Junction } from '../steps.ts'

/**
 * Whether the road forks so that an instruction must name the side to keep to. These and the following rules, with
 * their angles, are those of Valhalla 3.6 (`odin/maneuversbuilder.cc`).
 */
export function isFork(junction: Junction): boolean {
  const { before, after, view, degrees } = junction
  if (view.crossings.length === 0 || view.crossings.length > 2) return false
  const open = view.someOpen((_, other) => isWideForward(other))
  if (junction.fork && isWideForward(degrees) && open) return isMarkedFork(junction)
  const highwayAhead = view.someOpen((crossing, other) => isWideForward(other) && isHighway(crossing))
  if (before.highway && after.highway && isWideForward(degrees) && highwayAhead) return true
  const plain = isPlainRoad(before) && isPlainRoad(after) && isForkForward(degrees)
  if (plain && before.roadClass >= after.roadClass && onlyEqualsAhead(junction)) return true
  if (plain && splitsOff(junction)) return true
  return view.crossings.length === 1 && lanesSplit(junction)
}

/** The graph marks the node as a fork; this checks that the branches are alike. */
function isMarkedFork(junction: Junction): boolean {
  const { after, view, degrees } = junction
  if (junction.motorwayJunction && !isService(after) && view.crossings.some(isService)) return false
  const { right, left } = view.sides(degrees)
  if (right.similarOpen + left.similarOpen > 0) return true
  if (right.open + left.open > 0 && after.use === Use.ramp && !isBackward(view.straightestOpen().degrees)) return true
  return isForkForward(degrees) && onlyEqualsAhead(junction)
}

/** Whether all other streets at the node lead ahead and are at least as important as the way before. */
function onlyEqualsAhead({ before, view }: Junction): boolean {
  return view.crossings.every(
    (crossing, i) =>
      isPlainRoad(crossing) &&
      before.roadClass >= crossing.roadClass &&
      isForkForward(view.degrees[i]!) &&
      view.isOpen(crossing),
  )
}

/** Whether a street of the same name continues ahead. */
function splitsOff({ before, after, view }: Junction): boolean {
  const service = isService(before) || isService(after)
  return view.someOpen(
    (crossing, degrees) =>
      isForkForward(degrees) && crossing.sameNameBefore && isPlainRoad(crossing) && (service || !isService(crossing)),
  )
}

/** Whether the lanes of a motorway are divided between it and a ramp. */
function lanesSplit(junction: Junction): boolean {
  const { before, after, view, degrees } = junction
  const other = view.crossings[0]!
  const toRamp = after.highway && other.use === Use.ramp
  const fromRamp = isHighway(other) && after.use === Use.ramp
  if (!before.highway || !(toRamp || fromRamp)) return false
  if (!isForkForward(degrees) || !isForkForward(turnDegrees(before.endHeading, other.heading))) return false
  const extraLane = after.lanes > 1 && before.lanes === after.lanes + 1 && other.use === Use.ramp
  if (extraLane && isDecelerationLane(junction)) return false
  if (before.lanes === 2) return after.lanes === 1 && other.lanes === 1
  const half = (before.lanes + 1) >> 1
  return before.lanes > 2 && after.lanes === half && other.lanes === half
}

/** Whether the additional lane before an exit has about the length of a deceleration lane. */
function isDecelerationLane({ leg, node, before }: Junction): boolean {
  const usual = before.speed < 80 ? 100 : 1.41994 * before.speed + 35.09388
  const most = usual * 1.35
  let meters = before.meters
  for (let i = node - 2; meters <= most; i--) {
    const step = leg.steps[i]
    if (step === undefined) return false
    if (step.lanes < before.lanes) break
    meters += step.meters
  }
  return meters < most && meters > usual * 0.65
}

/** Whether pedestrians must choose between ways of the same kind. */
export function isWalkersFork({ before, after, view, degrees }: Junction): boolean {
  if (before.travelMode !== 'pedestrian' || after.travelMode !== 'pedestrian') return false
  if (!isQuiteStraight(degrees) || view.crossings.length > 2) return false
  if (before.roundabout && !after.roundabout) return true
  const other = view.straightestOpen()
  if (other.use === null) return false
  const alike = after.use === other.use || (isFootway(after) && isFootway({ use: other.use }))
  const { right, left } = view.sides(degrees)
  return alike && (right.similarOpen + left.similarOpen > 0 || isQuiteStraight(other.degrees))
}

function isQuiteStraight(degrees: number): boolean {
  return degrees > 315 || degrees < 45
}

/** Whether the way ends at a street with both sides open; `named` when it keeps its name there. */
export function isTee({ view, degrees }: Junction, named: boolean): boolean {
  if (view.crossings.length !== 1 || !view.someTravelled()) return false
  if (named && !view.someOpen(({ use }) => use !== Use.track)) return false
  const turn = turnOf(degrees)
  const other = turnOf(view.degrees[0]!)
  return (turn === Turn.right && other === Turn.left) || (turn === Turn.left && other === Turn.right)
}

/** The side of a U-turn onto the other carriageway of the same street; null for other turns. */
export function turnsBackAround({ before, after, view, degrees }: Junction): 'left' | 'right' | null {
  if (!after.driveOnRight || !before.oneway || !after.oneway) return null
  if (commonNames(before.names, after.names).length === 0) return null
  const { right, left } = view.sides(degrees)
  if (degrees > 179 && degrees < 226 && left.open === 0) return 'left'
  return degrees > 134 && degrees < 181 && right.open === 0 ? 'right' : null
}

/** Whether a street ahead might be mistaken for the route. */
export function crossesForward(junction: Junction): boolean {
  const { before, after, view, degrees } = junction
  if (view.crossings.length === 0 || junction.motorwayJunction || junction.fork) return false
  if (before.highway && after.highway) return false
  if (!isForward(degrees)) return view.someOpen(({ use }, other) => isForward(other) && use !== Use.track)
  return hasSignificantForward(junction) && !isStraightest(degrees, view.straightestOpen().degrees)
}
