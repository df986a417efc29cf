import { turnDegrees } from '../../geometry/geodesy.ts'
import { Use } from '../../graph/attributes.ts'
import { isDestination, isMerge, Kind, type Maneuver } from '../maneuver.ts'
import { allCommon, allSame, commonNames } from '../names.ts'
import { countAmong, countConsecutive, hasAny, hasExit, hasGuide } from '../signs.ts'
import type { JoinedLeg } from '../steps.ts'
import { extend } from './combine.ts'
import { isNearStraight } from './junction.ts'
import { decideKind } from './kind.ts'
import { basicSeconds, secondsAt } from './produce.ts'

/** Maximum length of a fork at the end of a ramp that belongs to the ramp, in metres. */
const SMALL_FORK_METERS = 125
/** Maximum words and letters of a name in a short cue. */
const MOST_WORDS = 5
const MOST_LETTERS = 25
/** Maximum number of names in a cue. */
const CUE_NAMES = 2

/** Completes combined maneuvers, in the order of Valhalla 3.6 (`odin/maneuversbuilder.cc`, Build). */
export function refineManeuvers(leg: JoinedLeg, given: readonly Maneuver[]): Maneuver[] {
  const maneuvers = [...given]
  countSigns(maneuvers)
  for (const maneuver of maneuvers) decideKind(leg, maneuver, false)
  for (const maneuver of maneuvers) noteBranches(leg, maneuver)
  nameCircles(maneuvers)
  noteStaying(maneuvers)
  signRamps(maneuvers)
  moveTurnsBehindCrossings(leg, maneuvers)
  const combined = collapseMerges(collapseForks(maneuvers))
  for (const maneuver of combined) maneuver.longName = hasLongName(maneuver)
  return combined
}

/** Merges the maneuver of leaving a roundabout into that of entering it. */
export function joinRoundaboutExits(maneuvers: readonly Maneuver[]): Maneuver[] {
  return maneuvers.filter((exit, i) => {
    const enter = maneuvers[i - 1]
    if (exit.kind !== Kind.roundaboutExit || enter?.kind !== Kind.roundaboutEnter) return true
    extend(enter, exit)
    enter.branchesRight ||= exit.branchesRight
    enter.branchesLeft ||= exit.branchesLeft
    enter.joinedExit = exit
    return false
  })
}

/** Each maneuver except the first and the last, with its neighbours. */
function* inner(maneuvers: readonly Maneuver[]): Iterable<{ before: Maneuver; current: Maneuver; next: Maneuver }> {
  for (let i = 1; i + 1 < maneuvers.length; i++) {
    yield { before: maneuvers[i - 1]!, current: maneuvers[i]!, next: maneuvers[i + 1]! }
  }
}

/** Orders the texts of each sign by how often the next sign, or the names of the next street, repeat them. */
function countSigns(maneuvers: readonly Maneuver[]): void {
  for (let i = maneuvers.length - 1; i > 0; i--) {
    const before = maneuvers[i - 1]!.signs
    const { signs, names } = maneuvers[i]!
    if (before.exitBranches.length > 0 && !hasExit(signs) && names.length > 0) {
      before.exitBranches = countAmong(before.exitBranches, names)
    } else if (before.guideBranches.length > 0 && !hasGuide(signs) && names.length > 0) {
      before.guideBranches = countAmong(before.guideBranches, names)
    } else if (hasAny(before) && hasAny(signs)) {
      countConsecutive(before, signs)
    }
  }
}

/** Sets the sides on which streets branch off after the crossing where the maneuver begins. */
function noteBranches(leg: JoinedLeg, maneuver: Maneuver): void {
  let first = maneuver.beginNode
  while (first < maneuver.endNode && (leg.steps[first]!.internal || leg.steps[first]!.use === Use.turnChannel)) first++
  for (let node = first + 1; node < maneuver.endNode; node++) {
    const junction = leg.junctions[node]!
    const { right, left } = junction.view.sides(junction.degrees)
    maneuver.branchesRight ||= right.open > 0
    maneuver.branchesLeft ||= left.open > 0
  }
}

/** Keeps the name of a roundabout unless a street before or after it has it too, and sets the street at its exit. */
function nameCircles(maneuvers: readonly Maneuver[]): void {
  for (const { before, current, next } of inner(maneuvers)) {
    if (!current.roundabout) continue
    const own = current.names.filter(({ isRouteNumber }) => !isRouteNumber)
    const passing = commonNames(own, before.names).length + commonNames(own, next.names).length > 0
    current.names = passing ? [] : own
    current.beginNames = []
    if (next.kind !== Kind.roundaboutExit) continue
    const obvious = next.includesObvious && next.beginNames.length > 0
    current.exitNames = obvious ? next.beginNames : next.names
    current.exitBeginNames = obvious ? [] : next.beginNames
    if (hasAny(next.signs)) current.exitSigns = next.signs
  }
}

const TURNS = new Set<number>([
  Kind.slightRight,
  Kind.slightLeft,
  Kind.right,
  Kind.left,
  Kind.sharpRight,
  Kind.sharpLeft,
])
const STAYS = new Set<number>([Kind.stayStraight, Kind.stayRight, Kind.stayLeft])
const UTURNS = new Set<number>([Kind.uturnRight, Kind.uturnLeft])

/** Marks maneuvers that turn or keep to a side to stay on the same street. */
function noteStaying(maneuvers: readonly Maneuver[]): void {
  for (const { before, current, next } of inner(maneuvers)) {
    const similar = allCommon(current.names, before.names)
    if (TURNS.has(current.kind)) current.toStayOn ||= similar && current.beginNames.length === 0
    else if (STAYS.has(current.kind)) {
      current.toStayOn ||= similar && (!current.ramp || allCommon(current.names, next.names))
    } else if (UTURNS.has(current.kind)) current.toStayOn ||= allSame(current.names, before.names)
  }
}

/** Gives a ramp without exit signs the name of the street that it merges onto, as a sign. */
function signRamps(maneuvers: readonly Maneuver[]): void {
  maneuvers.slice(0, -1).forEach((current, i) => {
    const before = maneuvers[i - 1] ?? current
    const next = maneuvers[i + 1]!
    const ramp = current.ramp || (current.fork && current.names.length === 0)
    if (!ramp || hasExit(current.signs) || before.ramp || before.fork) return
    const name = next.names[0]
    if (isMerge(next) && name !== undefined) current.signs = { ...current.signs, exitBranches: [{ ...name, count: 0 }] }
  })
}

const MOVABLE = new Set<number>([...TURNS, ...UTURNS, Kind.rampRight, Kind.rampLeft, Kind.stayRight, Kind.stayLeft])

/** Moves a straight step inside a crossing at the beginning of a turn to the previous maneuver. */
function moveTurnsBehindCrossings(leg: JoinedLeg, maneuvers: readonly Maneuver[]): void {
  for (let i = 1; i < maneuvers.length; i++) {
    const before = maneuvers[i - 1]!
    const current = maneuvers[i]!
    if (isDestination(current)) break
    if (!MOVABLE.has(current.kind)) continue
    while (current.beginNode + 1 < current.endNode && before.travelMode === current.travelMode) {
      const step = leg.steps[current.beginNode]!
      const earlier = leg.steps[current.beginNode - 1]!
      if (!step.internal || !isNearStraight(turnDegrees(earlier.endHeading, step.beginHeading))) break
      moveStep(leg, before, current)
    }
  }
}

function moveStep(leg: JoinedLeg, before: Maneuver, current: Maneuver): void {
  const step = leg.steps[current.beginNode]!
  const node = current.beginNode + 1
  before.meters += step.meters
  before.basicSeconds += basicSeconds(before.travelMode, step)
  before.endNode = node
  before.endShape = step.endShape
  before.seconds = secondsAt(leg, node) - secondsAt(leg, before.beginNode)
  current.meters -= step.meters
  current.basicSeconds -= basicSeconds(current.travelMode, step)
  current.beginNode = node
  current.beginShape = step.endShape
  current.seconds = secondsAt(leg, current.endNode) - secondsAt(leg, node)
}

const RIGHT_TURNS = new Set<number>([Kind.slightRight, Kind.right, Kind.sharpRight])
const LEFT_TURNS = new Set<number>([Kind.slightLeft, Kind.left, Kind.sharpLeft])

/** Removes small forks at the end of a ramp that only repeat the following turn to the same side. */
function collapseForks(maneuvers: readonly Maneuver[]): Maneuver[] {
  const kept = [...maneuvers]
  for (let i = 1; i + 1 < kept.length;) {
    const before = kept[i - 1]!
    const current = kept[i]!
    const next = kept[i + 1]!
    const sameSide =
      (current.kind === Kind.stayRight && RIGHT_TURNS.has(next.kind)) ||
      (current.kind === Kind.stayLeft && LEFT_TURNS.has(next.kind))
    const small = before.ramp && current.ramp && !next.ramp && current.meters <= SMALL_FORK_METERS
    if (sameSide && small && !before.includesFork) {
      extend(before, current)
      before.includesFork = true
      kept.splice(i, 1)
    } else {
      i++
    }
  }
  return kept
}

/** Merges a merge at the end of a ramp into the ramp. */
function collapseMerges(maneuvers: readonly Maneuver[]): Maneuver[] {
  const kept: Maneuver[] = []
  for (const maneuver of maneuvers) {
    const ramp = kept.at(-1)
    if (ramp === undefined || !ramp.ramp || !isMerge(maneuver) || ramp.includesMerge) {
      kept.push(maneuver)
      continue
    }
    if (ramp.toStayOn && !allSame(maneuver.names, ramp.names)) ramp.toStayOn = false
    if (maneuver.names.length > 0) ramp.names = maneuver.names
    if (!hasAny(ramp.signs)) {
      const { guideBranches, guideTowards } = maneuver.signs
      ramp.signs = { ...ramp.signs, guideBranches, guideTowards }
    }
    extend(ramp, maneuver)
    ramp.includesMerge = true
  }
  return kept
}

function hasLongName({ kind, names, exitNames }: Maneuver): boolean {
  const long = names.slice(0, CUE_NAMES).some(isLong)
  return long || (kind === Kind.roundaboutEnter && exitNames.slice(0, CUE_NAMES).some(isLong))
}

function isLong({ text }: { text: string }): boolean {
  return (
    text.split(/[\s!-/:-@[-`{-~]+/).filter((word) => word !== '').length > MOST_WORDS ||
    Array.from(text).length > MOST_LETTERS
  )
}
