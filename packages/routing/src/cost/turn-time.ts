import { Turn, turnOf } from '../graph/attributes.ts'

/** Constants of the car profile of OSRM, which Valhalla uses for the time of turns (`sif/osrm_car_duration.h`). */
const TURN_SECONDS = 7.5
const TURN_BIAS = 1.075
const U_TURN_SECONDS = 20
const SIGNAL_SECONDS = 2

/** Seconds of a turn by its clockwise angle: a logistic curve, steeper to the side that does not cross traffic. */
function turnTable(driveOnRight: boolean): Float64Array {
  const bias = driveOnRight ? TURN_BIAS : 1 / TURN_BIAS
  return Float64Array.from({ length: 360 }, (_, degrees) => {
    const angle = degrees > 180 ? degrees - 360 : degrees
    const towardsRight = angle >= 0
    const steepness = 13 * (towardsRight ? 1 / bias : bias)
    const offset = 6.5 * (towardsRight ? bias : 1 / bias)
    return TURN_SECONDS / (1 + Math.exp(-((steepness * Math.abs(angle)) / 180 - offset)))
  })
}

const RIGHT = turnTable(true)
const LEFT = turnTable(false)

/** Seconds a vehicle needs for a turn. At a node of two edges only turning around takes time, and waiting for a signal. */
export function turnTime(degrees: number, edgesAtNode: number, signal: boolean, driveOnRight: boolean): number {
  const wait = signal ? SIGNAL_SECONDS : 0
  const around = turnOf(degrees) === Turn.reverse
  if (edgesAtNode <= 2 && !around) return wait
  return wait + (driveOnRight ? RIGHT : LEFT)[degrees]! + (around ? U_TURN_SECONDS : 0)
}
