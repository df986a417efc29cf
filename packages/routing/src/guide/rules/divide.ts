import { NodeType, Use } from '../../graph/attributes.ts'
import { get, NodeField } from '../../graph/fields.ts'
import { isStraightest } from './junction.ts'
import { Kind, type Maneuver } from '../maneuver.ts'
import { commonNames } from '../names.ts'
import { hasExit } from '../signs.ts'
import type { Junction, Step } from '../steps.ts'
import { crossesForward, isFork, isTee, isWalkersFork, turnsBackAround } from './fork.ts'
import { isFootway, isForward, tellsRoundabouts } from './junction.ts'

/**
 * Whether a maneuver also covers the step before it; undefined passes to the next rule. A rule may record its reason in
 * the maneuver.
 */
type Rule = (junction: Junction, maneuver: Maneuver) => boolean | undefined

/** The rules in order of precedence, after Valhalla 3.6 (`odin/maneuversbuilder.cc`, CanManeuverIncludePrevEdge). */
const RULES: readonly Rule[] = [
  ({ before }, maneuver) => (maneuver.driveOnRight === before.driveOnRight ? undefined : false),
  alike(
    (maneuver) => maneuver.elevator,
    (before) => before.use === Use.elevator,
  ),
  ({ leg, node }) => (nodeType(leg.nodeInfo[node]!) === NodeType.elevator ? false : undefined),
  alike(
    (maneuver) => maneuver.indoorSteps,
    (before) => before.use === Use.steps && before.indoor,
  ),
  alike(
    (maneuver) => maneuver.steps,
    (before) => before.use === Use.steps,
  ),
  alike(
    (maneuver) => maneuver.escalator,
    (before) => before.use === Use.escalator,
  ),
  ({ leg, node }) => (nodeType(leg.nodeInfo[node]!) === NodeType.buildingEntrance ? false : undefined),
  ({ before }, maneuver) => (maneuver.travelMode === before.travelMode ? undefined : false),
  differs(
    (maneuver) => unnamed(maneuver, 'walkway'),
    (before) => before.names.length === 0 && isFootway(before),
  ),
  differs(
    (maneuver) => unnamed(maneuver, 'cycleway'),
    (before) => before.names.length === 0 && before.use === Use.cycleway,
  ),
  (junction, maneuver) => (tellsRoundabouts(junction.before.travelMode) ? aroundCircle(junction, maneuver) : undefined),
  forked,
  insideCrossing,
  alike(
    (maneuver) => maneuver.turnChannel,
    (before) => before.use === Use.turnChannel,
  ),
  (_, maneuver) => (hasExit(maneuver.signs) ? false : undefined),
  onRamp,
  alike(
    (maneuver) => maneuver.ferry,
    (before) => before.use === Use.ferry,
  ),
  alike(
    (maneuver) => maneuver.railFerry,
    (before) => before.use === Use.railFerry,
  ),
  turnedBack,
  byStreets,
]

/** Whether a maneuver that begins at a node also covers the step before it. */
export function coversStepBefore(junction: Junction, maneuver: Maneuver): boolean {
  for (const rule of RULES) {
    const answer = rule(junction, maneuver)
    if (answer !== undefined) return answer
  }
  return false
}

/** Steps of a kind form one maneuver, separate from all other steps. */
function alike(is: (maneuver: Maneuver) => boolean, was: (before: Step) => boolean): Rule {
  return ({ before }, maneuver) => {
    if (is(maneuver) !== was(before)) return false
    return is(maneuver) ? true : undefined
  }
}

/** Steps of a kind are separate from all other steps. */
function differs(is: (maneuver: Maneuver) => boolean, was: (before: Step) => boolean): Rule {
  return ({ before }, maneuver) => (is(maneuver) === was(before) ? undefined : false)
}

function nodeType(info: number): number {
  return get(info, NodeField.type)
}

function unnamed({ trail, unnamedTrail }: Maneuver, kind: 'walkway' | 'cycleway'): boolean {
  return unnamedTrail && trail === kind
}

function aroundCircle({ before }: Junction, maneuver: Maneuver): boolean | undefined {
  if (maneuver.roundabout !== before.roundabout) return false
  return maneuver.roundabout ? true : undefined
}

function forked(junction: Junction, maneuver: Maneuver): boolean | undefined {
  if (!isFork(junction) && !isWalkersFork(junction)) return undefined
  maneuver.fork = true
  return false
}

function insideCrossing({ before, node }: Junction, maneuver: Maneuver): boolean | undefined {
  if (before.internal !== maneuver.internal) return false
  // The first step of a leg is never just part of a crossing.
  return before.internal && node > 1 ? true : undefined
}

function onRamp({ before, degrees }: Junction, maneuver: Maneuver): boolean | undefined {
  if ((before.use === Use.ramp) !== maneuver.ramp) return false
  return maneuver.ramp ? isForward(degrees) : undefined
}

function turnedBack(junction: Junction, maneuver: Maneuver): boolean | undefined {
  const around = turnsBackAround(junction)
  if (junction.degrees === 180) maneuver.kind = junction.before.driveOnRight ? Kind.uturnLeft : Kind.uturnRight
  else if (around !== null) maneuver.kind = around === 'left' ? Kind.uturnLeft : Kind.uturnRight
  else return undefined
  return false
}

function byStreets(junction: Junction, maneuver: Maneuver): boolean {
  const { before, view, degrees } = junction
  if (crossesForward(junction)) {
    maneuver.crossesForward = true
    return false
  }
  const common = commonNames(before.names, maneuver.names)
  if (isTee(junction, common.length > 0)) {
    maneuver.tee = true
    return false
  }
  const straightest = isStraightest(degrees, view.straightestOpen().degrees)
  const ahead = view.someOpen((_, other) => isForward(other))
  if (!straightest && !ahead && view.someOpen(({ use }) => use !== Use.track)) return false
  if (common.length > 0) {
    maneuver.names = common
    return true
  }
  if (maneuver.names.length > 0 || before.names.length > 0) return false
  return view.crossings.length === 0 || isStraightest(degrees, view.straightest())
}
