import { Use } from '../graph/attributes.ts'
import { entering } from './entering.ts'
import type { OptionReader, TurnCosts } from './profile.ts'
import { Side, type TurnView } from './turn-view.ts'

/**
 * Weights of a motor vehicle's turns, multiplied by the stop impact. With driving on the right, a left turn is `far`.
 * Source: Valhalla 3.6 `sif/autocost.cc`.
 */
const MOTOR_TURN = {
  [Side.straight]: 0.5,
  [Side.slightNear]: 0.75,
  [Side.near]: 1,
  [Side.sharpNear]: 1.5,
  [Side.back]: 9.5,
  [Side.sharpFar]: 3.5,
  [Side.far]: 2.5,
  [Side.slightFar]: 0.75,
}
/** Weight of a turn at a crossing with streets on both sides, in any direction. */
const CROSSING = 2
/** Weight of entering or leaving a ramp. */
const RAMP = 1.5
const RAMP_AT_ROUNDABOUT = 2
const U_TURN_COST = 600
const PENCIL_POINT_FACTOR = 15
/** Factor of stops by density of roads, because stops take longer in towns. */
const STOP_DENSITY = [1, 1, 1, 1, 1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.9, 2.2, 2.5, 2.8, 3.1, 3.5]

const U_TURN_SECONDS = 20
const SIGNAL_SECONDS = 2

/** Differences between motor vehicles in the costs of turns. */
interface MotorTurnRules {
  /** Whether two turns to the far side inside a crossing count as a U-turn. */
  readonly turnsAroundInside?: true
  /** Additional cost of entering a street. */
  readonly more?: (turn: TurnView) => number
  /** Whether driveways are exempt from the penalty of streets for local traffic. */
  readonly ignoresDriveways?: boolean
}

/** Cost and time of turns for a motor vehicle. */
export function motorTurns(options: OptionReader, rules: MotorTurnRules = {}): TurnCosts {
  const { turnsAroundInside = false, more, ignoresDriveways = false } = rules
  const base = entering(options, { ignoresDriveways })
  const isShortest = options.is('shortest')
  const timeShare = 1 - options.number('use_distance')
  return {
    seconds: (turn) =>
      base.seconds(turn) +
      ((turn.hasSignal ? SIGNAL_SECONDS : 0) + motorTurnSeconds(turn) + (turn.side === Side.back ? U_TURN_SECONDS : 0)),
    cost: (turn) => {
      const entered = more === undefined ? base.cost(turn) : base.cost(turn) + more(turn)
      return (isShortest ? entered : entered + motorStopCost(turn, turnsAroundInside)) * timeShare
    },
  }
}

/** Cost of a motor vehicle's turn with a possible stop. */
function motorStopCost(turn: TurnView, turnsAroundInside: boolean): number {
  const { stopImpact, side } = turn
  if (stopImpact === 0) return 0
  const weight = (turn.isCrossing ? CROSSING : MOTOR_TURN[side]) + rampWeight(turn)
  const isAroundInside = turnsAroundInside && turn.isInside && (side === Side.far || side === Side.sharpFar)
  const around = side === Side.back || isAroundInside ? U_TURN_COST : 0
  const tip = !isAroundInside && turn.isPencilPoint ? PENCIL_POINT_FACTOR : 1
  return (weight * stopImpact + around) * tip * STOP_DENSITY[turn.density]!
}

function rampWeight(turn: TurnView): number {
  if ((turn.use === Use.ramp) === (turn.useBefore === Use.ramp)) return 0
  return turn.isRoundabout ? RAMP_AT_ROUNDABOUT : RAMP
}

/** Constants of the car profile of OSRM, which Valhalla uses for the time of turns (`sif/osrm_car_duration.h`). */
const TURN_SECONDS = 7.5
const TURN_BIAS = 1.075
const STEEPNESS = 13
const OFFSET = 6.5
const SECONDS_ON_RIGHT = secondsByDegrees(TURN_BIAS)
const SECONDS_ON_LEFT = secondsByDegrees(1 / TURN_BIAS)

/** Seconds of a motor vehicle's turn. They are part of a route's time, but not of its cost. */
function motorTurnSeconds(turn: TurnView): number {
  if (!turn.isAtJunction) return 0
  return (turn.drivesOnRight ? SECONDS_ON_RIGHT : SECONDS_ON_LEFT)[turn.degrees]!
}

/** Seconds by clockwise degrees: a logistic curve, less steep by a bias to the right. */
function secondsByDegrees(bias: number): readonly number[] {
  return Array.from({ length: 360 }, (_, degrees) => {
    const angle = degrees > 180 ? degrees - 360 : degrees
    const steepness = STEEPNESS * (angle >= 0 ? 1 / bias : bias)
    const offset = OFFSET * (angle >= 0 ? bias : 1 / bias)
    return TURN_SECONDS / (1 + Math.exp(-((steepness * Math.abs(angle)) / 180 - offset)))
  })
}

/** Seconds and stress of a bicycle's turns. Source: Valhalla 3.6 `sif/bicyclecost.cc`. */
const BICYCLE_TURN = {
  [Side.straight]: { seconds: 0.15, stress: 0 },
  [Side.slightNear]: { seconds: 0.2, stress: 0.25 },
  [Side.near]: { seconds: 0.3, stress: 0.75 },
  [Side.sharpNear]: { seconds: 0.5, stress: 1 },
  [Side.back]: { seconds: 5, stress: 4 },
  [Side.sharpFar]: { seconds: 1.5, stress: 2.25 },
  [Side.far]: { seconds: 1, stress: 1.75 },
  [Side.slightFar]: { seconds: 0.4, stress: 0.75 },
}
/** Minimum seconds of a bicycle's turn at a crossing with streets on both sides. */
const BICYCLE_CROSSING_SECONDS = 0.75
/** Stress of a bicycle's turn onto a street, by its class. */
export const CLASS_STRESS = [1, 0.4, 0.2, 0.1, 0.05, 0.05, 0, 0.5]
const PATH_STRESS = 0.1
/** Factor on the cost of a bicycle's turn onto a larger road, by kind of cycle lane. */
const LANE_EASE = [1, 0.5, 0.25, 0.1]
const SHOULDER_EASE = [0.4, 0.5, 0.25, 0.1]
const PATH_EASE = 0.05
/** Cost of turning onto a more important road, per class, and the wait there. */
const CLIMB_COST = 10
const CLIMB_WAIT = 1
const CLIMB_WAIT_AT_SIGNAL = 0.4

/** Cost and time of turns for a bicycle. */
export function bicycleTurns(options: OptionReader): TurnCosts {
  const base = entering(options, {})
  const use = options.number('use_roads')
  const isShortest = options.is('shortest')
  return {
    seconds: (turn) => base.seconds(turn) + bicycleTurnSeconds(turn),
    cost: (turn) => {
      if (isShortest) return 0
      const stress = bicycleTurnStress(turn, use)
      return base.cost(turn) + bicycleTurnSeconds(turn) * (stress + 1) + climbCost(turn, use)
    },
  }
}

function bicycleTurnSeconds(turn: TurnView): number {
  const { seconds } = BICYCLE_TURN[turn.side]
  return turn.stopImpact * (turn.isCrossing ? Math.max(seconds, BICYCLE_CROSSING_SECONDS) : seconds)
}

function bicycleTurnStress(turn: TurnView, useRoads: number): number {
  const { stress } = BICYCLE_TURN[turn.stopImpact > 0 ? turn.side : Side.straight]
  const onto = turn.entersPath ? PATH_STRESS : CLASS_STRESS[turn.roadClass]!
  const wait = turn.climbed === 0 ? 0 : turn.hasSignal ? CLIMB_WAIT_AT_SIGNAL : CLIMB_WAIT
  return (1 + stress) * (onto * (1 - useRoads) + useRoads + 1) + wait
}

/** Cost of a bicycle's turn onto a more important road. */
function climbCost(turn: TurnView, useRoads: number): number {
  const { climbed } = turn
  if (climbed === 0) return 0
  const lane = (turn.hasShoulder ? SHOULDER_EASE : LANE_EASE)[turn.cycleLane]!
  const ease = turn.entersPath ? PATH_EASE : lane
  return climbed * CLIMB_COST * (ease * (1 - useRoads) + useRoads)
}

/** Seconds to cross a street on foot at a crossing with streets on both sides, by stop impact. */
const PEDESTRIAN_CROSSING_SECONDS = [0, 0, 1, 1, 2, 3, 5, 15]

/** Cost and time of turns on foot. The penalty for stairs or a lift replaces all other costs of the turn. */
export function pedestrianTurns(options: OptionReader): TurnCosts {
  const base = entering(options, { isOnFoot: true })
  const [stepPenalty, liftPenalty] = [options.number('step_penalty'), options.number('elevator_penalty')]
  const isShortest = options.is('shortest')
  return {
    seconds: (turn) => (turn.use === Use.steps || turn.isLift ? 0 : base.seconds(turn) + pedestrianCrossing(turn)),
    cost: (turn) => {
      if (turn.use === Use.steps) return stepPenalty
      if (turn.isLift) return liftPenalty
      return isShortest ? 0 : base.cost(turn) + pedestrianCrossing(turn)
    },
  }
}

function pedestrianCrossing(turn: TurnView): number {
  return turn.isCrossing ? PEDESTRIAN_CROSSING_SECONDS[turn.stopImpact]! : 0
}
