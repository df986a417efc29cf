import { hasAny, type Signs, type SignText } from '../guide/signs.ts'
import type { Maneuver } from '../guide/maneuver.ts'
import type { GuidedLeg } from '../guide/steps.ts'
import type { Units } from '../narrate/lengths.ts'
import type { Narration } from '../narrate/narrate.ts'
import type { Elapsed } from '../path/elapsed.ts'
import type { Recosting } from '../path/recost.ts'
import { lengthIn, secondsOf } from './numbers.ts'
import type { SignElement, TripManeuver, TripSign } from './response.ts'

interface ManeuverContext {
  readonly narration: Narration | null
  readonly units: Units
  readonly last: boolean
  readonly recostings: readonly Recosting[]
}

/** A maneuver as answers carry it: in the order of keys that Valhalla has, without what is empty. */
export function tripManeuver(
  leg: GuidedLeg,
  maneuver: Maneuver,
  { narration, units, last, recostings }: ManeuverContext,
): TripManeuver {
  const { beginNode, endNode } = maneuver
  const before = leg.steps[beginNode - 1]
  const cost = (node: number): number => leg.steps[node - 1]?.cost ?? 0
  return {
    type: maneuver.kind,
    instruction: narration?.instruction ?? '',
    ...(narration === null ? {} : verbal(narration)),
    ...(maneuver.names.length > 0 && { street_names: maneuver.names.map(({ text }) => text) }),
    ...(maneuver.beginNames.length > 0 && { begin_street_names: maneuver.beginNames.map(({ text }) => text) }),
    ...(before !== undefined && { bearing_before: before.endHeading }),
    ...(!last && { bearing_after: maneuver.beginHeading }),
    time: secondsOf(maneuver.seconds),
    length: lengthIn(units, maneuver.meters),
    cost: secondsOf(cost(endNode) - cost(beginNode)),
    begin_shape_index: maneuver.beginShape,
    end_shape_index: maneuver.endShape,
    ...(maneuver.toll && { toll: true }),
    ...(maneuver.highway && { highway: true }),
    ...(maneuver.ferry && { ferry: true }),
    ...(maneuver.unpaved && { rough: true }),
    // Signs that are no exits are there, with nothing on them.
    ...(hasAny(maneuver.signs) && { sign: tripSign(maneuver.signs) }),
    ...(maneuver.roundaboutExit > 0 && { roundabout_exit_count: maneuver.roundaboutExit }),
    ...Object.fromEntries(recostings.map(({ name, sums }) => [`time_${name}`, timeOf(sums, beginNode, endNode)])),
    ...(narration?.both === true && { verbal_multi_cue: true }),
    travel_mode: maneuver.travelMode,
    travel_type: maneuver.travelType,
  }
}

function timeOf(sums: Elapsed | null, begin: number, end: number): number | null {
  return sums === null ? null : secondsOf((sums.seconds[end - 1] ?? 0) - (sums.seconds[begin - 1] ?? 0))
}

function verbal({ alert, succinct, cue, after }: Narration): Partial<TripManeuver> {
  return {
    ...(alert !== '' && { verbal_transition_alert_instruction: alert }),
    ...(succinct !== '' && { verbal_succinct_transition_instruction: succinct }),
    ...(cue !== '' && { verbal_pre_transition_instruction: cue }),
    ...(after !== '' && { verbal_post_transition_instruction: after }),
  }
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
