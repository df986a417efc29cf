import { hasAny, type Signs, type SignText } from '../guide/signs.ts'
import type { Maneuver } from '../guide/maneuver.ts'
import type { GuidedLeg } from '../guide/steps.ts'
import type { Units } from '../narrate/lengths.ts'
import type { Narration } from '../narrate/narrate.ts'
import type { Elapsed } from '../path/elapsed.ts'
import type { Recosting } from '../path/recost.ts'
import { lengthIn, secondsOf } from './numbers.ts'
import type { SignElement, TripManeuver, TripSign } from './response.ts'

/** An object whose members are still being written. */
type Draft<T> = { -readonly [Key in keyof T]: T[Key] }

interface ManeuverContext {
  readonly narration: Narration | null
  readonly units: Units
  readonly last: boolean
  readonly recostings: readonly Recosting[]
}

/**
 * A maneuver in Valhalla's answer format: in its order of keys, without empty members. Performance matters, because
 * every route has many.
 */
export function tripManeuver(
  leg: GuidedLeg,
  maneuver: Maneuver,
  { narration, units, last, recostings }: ManeuverContext,
): TripManeuver {
  const { beginNode, endNode } = maneuver
  const before = leg.steps[beginNode - 1]
  const cost = (node: number): number => leg.steps[node - 1]?.cost ?? 0
  const told = { type: maneuver.kind, instruction: narration?.instruction ?? '' } as Draft<TripManeuver>
  if (narration !== null) addVerbal(told, narration)
  if (maneuver.names.length > 0) told.street_names = maneuver.names.map(({ text }) => text)
  if (maneuver.beginNames.length > 0) told.begin_street_names = maneuver.beginNames.map(({ text }) => text)
  if (before !== undefined) told.bearing_before = before.endHeading
  if (!last) told.bearing_after = maneuver.beginHeading
  told.time = secondsOf(maneuver.seconds)
  told.length = lengthIn(units, maneuver.meters)
  told.cost = secondsOf(cost(endNode) - cost(beginNode))
  told.begin_shape_index = maneuver.beginShape
  told.end_shape_index = maneuver.endShape
  if (maneuver.toll) told.toll = true
  if (maneuver.highway) told.highway = true
  if (maneuver.ferry) told.ferry = true
  if (maneuver.unpaved) told.rough = true
  // The member `sign` is present but empty for signs other than exits.
  if (hasAny(maneuver.signs)) told.sign = tripSign(maneuver.signs)
  if (maneuver.roundaboutExit > 0) told.roundabout_exit_count = maneuver.roundaboutExit
  for (const { name, sums } of recostings) told[`time_${name}`] = timeOf(sums, beginNode, endNode)
  if (narration?.both === true) told.verbal_multi_cue = true
  told.travel_mode = maneuver.travelMode
  told.travel_type = maneuver.travelType
  return told
}

function timeOf(sums: Elapsed | null, begin: number, end: number): number | null {
  return sums === null ? null : secondsOf((sums.seconds[end - 1] ?? 0) - (sums.seconds[begin - 1] ?? 0))
}

function addVerbal(told: Draft<TripManeuver>, { alert, succinct, cue, after }: Narration): void {
  if (alert !== '') told.verbal_transition_alert_instruction = alert
  if (succinct !== '') told.verbal_succinct_transition_instruction = succinct
  if (cue !== '') told.verbal_pre_transition_instruction = cue
  if (after !== '') told.verbal_post_transition_instruction = after
}

function tripSign({ exitNumbers, exitBranches, exitTowards, exitNames }: Signs): TripSign {
  return {
    ...(exitNumbers.length > 0 && { exit_number_elements: exitNumbers.map(signElement) }),
    ...(exitBranches.length > 0 && { exit_branch_elements: exitBranches.map(signElement) }),
    ...(exitTowards.length > 0 && { exit_toward_elements: exitTowards.map(signElement) }),
    ...(exitNames.length > 0 && { exit_name_elements: exitNames.map(signElement) }),
  }
}

function signElement({ text, count }: SignText): SignElement {
  return count > 0 ? { text, consecutive_count: count } : { text }
}
