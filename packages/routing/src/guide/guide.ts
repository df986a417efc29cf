import type { Maneuver } from './maneuver.ts'
import { combineManeuvers } from './rules/combine.ts'
import { withJunctions } from './rules/junction.ts'
import { produceManeuvers, type Sides } from './rules/produce.ts'
import { joinRoundaboutExits, refineManeuvers } from './rules/refine.ts'
import type { GuidedLeg } from './steps.ts'

/**
 * The maneuvers of a leg in order: departure, maneuvers in between, arrival.
 *
 * @param roundaboutExits whether leaving a roundabout is a separate maneuver
 */
export function guideLeg(leg: GuidedLeg, sides: Sides, roundaboutExits: boolean): Maneuver[] {
  const joined = withJunctions(leg)
  const maneuvers = refineManeuvers(joined, combineManeuvers(joined, produceManeuvers(joined, sides)))
  return roundaboutExits ? maneuvers : joinRoundaboutExits(maneuvers)
}
