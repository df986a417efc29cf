import { turnDegrees } from '../geometry/geodesy.ts'
import type { Name } from '../graph/texts.ts'
import { noSigns, type Signs } from './signs.ts'
import type { TravelMode } from '../cost/profile.ts'

/** Kinds of maneuvers, by the numbers that responses carry. */
export const Kind = {
  none: 0,
  start: 1,
  startRight: 2,
  startLeft: 3,
  destination: 4,
  destinationRight: 5,
  destinationLeft: 6,
  becomes: 7,
  continue: 8,
  slightRight: 9,
  right: 10,
  sharpRight: 11,
  uturnRight: 12,
  uturnLeft: 13,
  sharpLeft: 14,
  left: 15,
  slightLeft: 16,
  rampStraight: 17,
  rampRight: 18,
  rampLeft: 19,
  exitRight: 20,
  exitLeft: 21,
  stayStraight: 22,
  stayRight: 23,
  stayLeft: 24,
  merge: 25,
  roundaboutEnter: 26,
  roundaboutExit: 27,
  ferryEnter: 28,
  ferryExit: 29,
  mergeRight: 37,
  mergeLeft: 38,
  elevatorEnter: 39,
  stepsEnter: 40,
  escalatorEnter: 41,
  buildingEnter: 42,
  buildingExit: 43,
} as const

/** Direction of a maneuver relative to the previous one. */
export type Direction = 'none' | 'keepStraight' | 'keepRight' | 'right' | 'reverse' | 'left' | 'keepLeft'

/** A path without a street name, by its kind. */
export type Trail = 'none' | 'walkway' | 'cycleway'

/** An instruction to the traveller, and the part of the leg up to the next one. */
export interface Maneuver {
  kind: number
  /** Nodes of the leg where it begins and ends. */
  beginNode: number
  endNode: number
  beginShape: number
  endShape: number
  /** Names of the whole maneuver, longer lists of names at its beginning, and names of a crossing street. */
  names: readonly Name[]
  beginNames: readonly Name[]
  crossNames: readonly Name[]
  meters: number
  seconds: number
  /** Seconds at the plain speed, to judge how soon the next maneuver follows. */
  basicSeconds: number
  turnDegrees: number
  direction: Direction
  mergeDirection: Direction
  beginHeading: number
  endHeading: number
  travelMode: TravelMode
  travelType: string
  driveOnRight: boolean
  signs: Signs

  ramp: boolean
  turnChannel: boolean
  ferry: boolean
  railFerry: boolean
  roundabout: boolean
  internal: boolean
  elevator: boolean
  indoorSteps: boolean
  steps: boolean
  escalator: boolean
  buildingEnter: boolean
  buildingExit: boolean
  fork: boolean
  tee: boolean
  /** Whether another edge leads straight ahead where the maneuver begins. */
  crossesForward: boolean
  /** Whether an edge beside the route where the maneuver begins shares a name with the edge before or after it. */
  namesCross: boolean
  trail: Trail
  /** Whether the trail has no name. */
  unnamedTrail: boolean
  pedestrianCrossing: boolean
  passesElevator: boolean

  toll: boolean
  highway: boolean
  unpaved: boolean

  /** Number of turns within the maneuver, or within the part of a crossing that was merged into it. */
  rightTurnsInside: number
  leftTurnsInside: number
  /** Whether an obvious continuation was merged into the maneuver. */
  includesObvious: boolean
  toStayOn: boolean
  /** Whether a merge, or a fork at the end of a ramp, was merged into the maneuver. */
  includesMerge: boolean
  includesFork: boolean
  /** Whether streets branch off to a side along the maneuver. */
  branchesRight: boolean
  branchesLeft: boolean
  /** Whether a name is too long for a short cue. */
  longName: boolean

  roundaboutExit: number
  exitNames: readonly Name[]
  exitBeginNames: readonly Name[]
  exitSigns: Signs
  /** The maneuver of leaving the roundabout, if it was merged into this one. */
  joinedExit: Maneuver | null
}

/** A maneuver with empty values. */
export function newManeuver(): Maneuver {
  return {
    kind: Kind.none,
    beginNode: 0,
    endNode: 0,
    beginShape: 0,
    endShape: 0,
    names: [],
    beginNames: [],
    crossNames: [],
    meters: 0,
    seconds: 0,
    basicSeconds: 0,
    turnDegrees: 0,
    direction: 'none',
    mergeDirection: 'none',
    beginHeading: 0,
    endHeading: 0,
    travelMode: 'drive',
    travelType: 'car',
    driveOnRight: true,
    signs: noSigns(),
    ramp: false,
    turnChannel: false,
    ferry: false,
    railFerry: false,
    roundabout: false,
    internal: false,
    elevator: false,
    indoorSteps: false,
    steps: false,
    escalator: false,
    buildingEnter: false,
    buildingExit: false,
    fork: false,
    tee: false,
    crossesForward: false,
    namesCross: false,
    trail: 'none',
    unnamedTrail: false,
    pedestrianCrossing: false,
    passesElevator: false,
    toll: false,
    highway: false,
    unpaved: false,
    rightTurnsInside: 0,
    leftTurnsInside: 0,
    includesObvious: false,
    toStayOn: false,
    includesMerge: false,
    includesFork: false,
    branchesRight: false,
    branchesLeft: false,
    longName: false,
    roundaboutExit: 0,
    exitNames: [],
    exitBeginNames: [],
    exitSigns: noSigns(),
    joinedExit: null,
  }
}

/** The direction of a clockwise angle. */
export function directionOf(degrees: number): Direction {
  if (degrees > 329 || degrees < 31) return 'keepStraight'
  if (degrees < 160) return 'right'
  return degrees < 201 ? 'reverse' : 'left'
}

/** The direction from one heading to another. */
export function directionBetween(from: number, to: number): Direction {
  return directionOf(turnDegrees(from, to))
}

const STARTS = new Set<number>([Kind.start, Kind.startRight, Kind.startLeft])
const DESTINATIONS = new Set<number>([Kind.destination, Kind.destinationRight, Kind.destinationLeft])
const MERGES = new Set<number>([Kind.merge, Kind.mergeRight, Kind.mergeLeft])

export function isStart({ kind }: Maneuver): boolean {
  return STARTS.has(kind)
}

export function isDestination({ kind }: Maneuver): boolean {
  return DESTINATIONS.has(kind)
}

export function isMerge({ kind }: Maneuver): boolean {
  return MERGES.has(kind)
}

export function keepsOrTurns(maneuver: Maneuver, side: 'right' | 'left'): boolean {
  return maneuver.direction === side || maneuver.direction === (side === 'right' ? 'keepRight' : 'keepLeft')
}
