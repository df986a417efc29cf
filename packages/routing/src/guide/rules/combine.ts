import { turnDegrees } from '../../geometry/geodesy.ts'
import { Turn, turnOf, Use } from '../../graph/attributes.ts'
import {
  directionBetween,
  directionOf,
  isDestination,
  isStart,
  keepsOrTurns,
  Kind,
  type Maneuver,
} from '../maneuver.ts'
import { allCommon, commonNames } from '../names.ts'
import { hasAny } from '../signs.ts'
import type { JoinedLeg } from '../steps.ts'
import { isBackward, isForward } from './junction.ts'
import { decideKind, SHORT_CONTINUE_METERS } from './kind.ts'

/** Maximum length of a part inside a crossing, and of a turn channel, in metres. */
const MOST_INSIDE_METERS = 32
const MOST_CHANNEL_METERS = 200
/** A turn channel shorter than this belongs to its turn regardless of its target. */
const SHORT_CHANNEL_METERS = 36

/** Three consecutive maneuvers; the first two are the same at the beginning of the leg. */
interface Window {
  readonly leg: JoinedLeg
  readonly maneuvers: readonly Maneuver[]
  readonly before: Maneuver
  readonly current: Maneuver
  readonly next: Maneuver
  readonly first: boolean
}

/** Result for two maneuvers: the second joins the first, the first joins the second, or they stay apart. */
type Outcome = 'extend' | 'absorb' | 'apart' | undefined
type Rule = (window: Window) => Outcome

/** The rules in order of precedence, after Valhalla 3.6 (`odin/maneuversbuilder.cc`, Combine). */
const RULES: readonly Rule[] = [
  ({ current, next }) => (standsAlone(current) || standsAlone(next) ? 'apart' : undefined),
  ({ current, next }) => (current.driveOnRight === next.driveOnRight ? undefined : 'apart'),
  ({ current, next }) =>
    current.travelMode !== next.travelMode || next.kind === Kind.destination ? 'apart' : undefined,
  turnsAroundInside,
  ({ current, next }) => (next.fork || next.tee || current.ferry || next.ferry ? 'apart' : undefined),
  crossingPart,
  turnChannel,
  ({ current, next }) => (next.crossesForward || trailOf(current) !== trailOf(next) ? 'apart' : undefined),
  sameStreet,
  ramps,
  obvious,
  shortTurnOntoRamp,
]

/** Joins maneuvers that a traveller perceives as one, until no more can be joined. */
export function combineManeuvers(leg: JoinedLeg, given: readonly Maneuver[]): Maneuver[] {
  let maneuvers = [...given]
  for (let changed = true; changed;) {
    changed = false
    let before = 0
    let current = 0
    for (let next = 1; next < maneuvers.length;) {
      const window = {
        leg,
        maneuvers,
        before: maneuvers[before]!,
        current: maneuvers[current]!,
        next: maneuvers[next]!,
        first: current === 0,
      }
      const outcome = RULES.reduce<Outcome>((decided, rule) => decided ?? rule(window), undefined) ?? 'apart'
      if (outcome === 'apart') {
        before = current
        current = next
        next++
        continue
      }
      changed = true
      if (outcome === 'extend') {
        extend(window.current, window.next)
        maneuvers = maneuvers.toSpliced(next, 1)
      } else {
        maneuvers = maneuvers.toSpliced(current, 1)
        next = current + 1
        if (window.first) before = current
      }
    }
  }
  return maneuvers
}

/** Adds a maneuver to the one before it. */
export function extend(current: Maneuver, next: Maneuver): void {
  current.meters += next.meters
  current.seconds += next.seconds
  current.basicSeconds += next.basicSeconds
  current.endHeading = next.endHeading
  current.endNode = next.endNode
  current.endShape = next.endShape
  for (const flag of INHERITED) current[flag] ||= next[flag]
}

const INHERITED = [
  'elevator',
  'indoorSteps',
  'steps',
  'escalator',
  'ramp',
  'ferry',
  'railFerry',
  'roundabout',
  'toll',
  'unpaved',
  'highway',
  'includesObvious',
] as const

/** Makes a maneuver begin where the previous one begins. */
function beginEarlier(next: Maneuver, current: Maneuver): void {
  next.meters += current.meters
  next.seconds += current.seconds
  next.basicSeconds += current.basicSeconds
  next.beginNode = current.beginNode
  next.beginShape = current.beginShape
}

function standsAlone({ elevator, indoorSteps, escalator, buildingEnter, buildingExit }: Maneuver): boolean {
  return elevator || indoorSteps || escalator || buildingEnter || buildingExit
}

function trailOf({ trail, unnamedTrail }: Maneuver): string {
  return trail === 'none' ? trail : `${trail} ${unnamedTrail}`
}

/** Whether a maneuver may be a short part inside a crossing that is not tagged as such. */
function maybeInside({ before, current, next }: Window): boolean {
  const circles = before.roundabout || current.roundabout || next.roundabout
  return (
    !current.internal &&
    current.travelMode === 'drive' &&
    !circles &&
    current.meters <= MOST_INSIDE_METERS &&
    !isStart(current) &&
    !isDestination(next)
  )
}

/** Two turns to the same side within a short distance, back along the same street. */
function turnsAroundInside(window: Window): Outcome {
  const { before, current, next } = window
  if (!maybeInside(window) || !allCommon(before.names, next.names)) return undefined
  const side = directionOf(current.turnDegrees)
  if ((side !== 'left' && side !== 'right') || directionOf(next.turnDegrees) !== side) return undefined
  if (directionBetween(before.endHeading, next.beginHeading) !== 'reverse') return undefined
  return absorbShort(window, side === 'left' ? Kind.uturnLeft : Kind.uturnRight)
}

/** A short turn directly before a ramp that goes straight on. */
function shortTurnOntoRamp(window: Window): Outcome {
  const side = directionOf(window.current.turnDegrees)
  if (!maybeInside(window) || (side !== 'left' && side !== 'right')) return undefined
  return window.next.kind === Kind.rampStraight ? absorbShort(window, Kind.none) : undefined
}

function absorbShort({ before, current, next }: Window, kind: number): Outcome {
  next.turnDegrees = turnDegrees(before.endHeading, next.beginHeading)
  if (current.names.length > 0) next.crossNames = current.names
  next.direction = directionOf(next.turnDegrees)
  beginEarlier(next, current)
  next.kind = kind
  return 'absorb'
}

/** A part inside a crossing joins the next maneuver. */
function crossingPart({ leg, before, current, next, first }: Window): Outcome {
  if (!current.internal || isDestination(next)) return undefined
  next.turnDegrees = turnDegrees((first ? current : before).endHeading, next.beginHeading)
  const links = current.endNode - current.beginNode
  if (current.names.length > 0 && (links === 1 || links === 3)) next.crossNames = current.names
  next.rightTurnsInside = current.rightTurnsInside
  next.leftTurnsInside = current.leftTurnsInside
  next.direction = directionOf(next.turnDegrees)
  if (next.direction === 'keepStraight' && current.leftTurnsInside > 0 && current.rightTurnsInside > 0) {
    next.direction = directionBetween(before.endHeading, current.endHeading)
  }
  beginEarlier(next, current)
  decideAgain(leg, next, first)
  return 'absorb'
}

function decideAgain(leg: JoinedLeg, next: Maneuver, first: boolean): void {
  next.kind = first ? Kind.start : Kind.none
  decideKind(leg, next, true)
}

/** A turn channel becomes part of the turn it leads to. */
function turnChannel(window: Window): Outcome {
  const { leg, before, current, next, first } = window
  if (!current.turnChannel || isDestination(next)) return undefined
  const degrees = turnDegrees((first ? current : before).endHeading, next.beginHeading)
  if (!endsAsTurn(window) || !leadsTheSameWay(current, next, turnOf(degrees))) return undefined
  next.turnDegrees = degrees
  next.direction = current.direction
  beginEarlier(next, current)
  if (hasAny(current.signs) && !hasAny(next.signs)) next.signs = current.signs
  decideAgain(leg, next, first)
  return 'absorb'
}

function endsAsTurn({ leg, current }: Window): boolean {
  const junction = leg.junctions[current.endNode] ?? null
  if (junction === null || current.meters > MOST_CHANNEL_METERS) return false
  if (junction.view.as(current.travelMode).someOpen((_, degrees) => isForward(degrees))) return false
  return junction.degrees >= 290 || junction.degrees <= 70 || current.meters < SHORT_CHANNEL_METERS
}

function leadsTheSameWay(current: Maneuver, next: Maneuver, turn: number): boolean {
  if (keepsOrTurns(current, 'right')) return next.direction !== 'left' && turn <= Turn.reverse
  if (keepsOrTurns(current, 'left'))
    return next.direction !== 'right' && (turn === Turn.straight || turn >= Turn.reverse)
  return current.direction === 'keepStraight' && turn === Turn.straight
}

/** The street continues straight on under a name it already had, or without a name as before. */
function sameStreet({ leg, current, next }: Window): Outcome {
  const special = next.internal || current.ramp || next.ramp || current.roundabout || next.roundabout
  const channel = leg.steps[next.beginNode]?.use === Use.turnChannel
  if (next.direction !== 'keepStraight' || special || channel || leg.steps[next.beginNode] === undefined)
    return undefined
  const common = commonNames(current.names, next.names)
  if (common.length > 0) {
    const more = current.names.length > common.length
    if (current.beginNames.length === 0 && !current.highway && more) current.beginNames = current.names
    current.names = common
    return 'extend'
  }
  return current.names.length === 0 && next.names.length === 0 ? 'extend' : undefined
}

function ramps({ leg, current, next }: Window): Outcome {
  if (!current.ramp || !next.ramp || next.fork || current.internal || next.internal) return undefined
  if (next.kind === Kind.rampStraight) return 'extend'
  const view = leg.junctions[next.beginNode]?.view.as(next.travelMode)
  if (view === undefined) return undefined
  return !view.someOpen(() => true) || isBackward(view.straightestOpen().degrees) ? 'extend' : undefined
}

/** A continue instruction that can be omitted. */
function obvious(window: Window): Outcome {
  const { current, next } = window
  if (!isObvious(window)) return undefined
  if (current.names.length === 0) current.names = next.names
  current.includesObvious = true
  current.turnChannel = false
  return 'extend'
}

function isObvious({ leg, maneuvers, current, next }: Window): boolean {
  if (next.kind !== Kind.continue) return false
  const junction = leg.junctions[next.beginNode] ?? null
  if (junction === null) return false
  const view = junction.view.as(next.travelMode)
  if (!view.someTravelled()) return true
  if (next.signs.exitNumbers.length > 0) return false
  if (current.ramp && current.fork && !current.includesObvious) {
    const { right, left } = view.sides(junction.degrees)
    if (current.kind === Kind.stayLeft) return left.all === 0
    return current.kind === Kind.stayStraight || (current.kind === Kind.stayRight && right.all === 0)
  }
  const afterNext = maneuvers[maneuvers.indexOf(next) + 1]
  if (next.meters < SHORT_CONTINUE_METERS && afterNext !== undefined && afterNext.kind !== Kind.continue) return true
  if (junction.motorwayJunction) return false
  return !view.someTravelled(
    ({ use, sameNameBefore, sameNameAfter }, degrees) =>
      use === Use.ramp && (sameNameBefore || sameNameAfter) && !isBackward(degrees),
  )
}
