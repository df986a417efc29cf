import type { Maneuver } from './maneuver.ts'
import { combineManeuvers } from './rules/combine.ts'
import { produceManeuvers, type Sides } from './rules/produce.ts'
import { refineManeuvers } from './rules/refine.ts'
import type { GuidedLeg } from './steps.ts'

/** What a traveller has to do on a leg, in order: the departure, the maneuvers between, the arrival. */
export function guideLeg(leg: GuidedLeg, sides: Sides): Maneuver[] {
  return refineManeuvers(leg, combineManeuvers(leg, produceManeuvers(leg, sides)))
}
