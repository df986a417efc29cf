import { ANGLE } from '../facts.ts'

/** Constants of the car profile of OSRM, which Valhalla uses for the time of turns (`sif/osrm_car_duration.h`). */
const TURN_SECONDS = 7.5
const TURN_BIAS = 1.075
const STEEPNESS = 13
const OFFSET = 6.5

/** Seconds a vehicle needs for a turn, by its angle as facts have it. */
export const TURN_TIMES: readonly number[] = [...turnTimes(TURN_BIAS), ...turnTimes(1 / TURN_BIAS), 0]

/** Seconds by clockwise degrees: a logistic curve, less steep by a bias to the right. */
function turnTimes(bias: number): number[] {
  return Array.from({ length: ANGLE.left }, (_, degrees) => {
    const angle = degrees > 180 ? degrees - 360 : degrees
    const steepness = STEEPNESS * (angle >= 0 ? 1 / bias : bias)
    const offset = OFFSET * (angle >= 0 ? bias : 1 / bias)
    return TURN_SECONDS / (1 + Math.exp(-((steepness * Math.abs(angle)) / 180 - offset)))
  })
}
