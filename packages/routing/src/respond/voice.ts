import type { Maneuver } from '../guide/maneuver.ts'
import type { GuidedLeg } from '../guide/steps.ts'
import { type Units, wordLength } from '../narrate/lengths.ts'
import type { Narration } from '../narrate/narrate.ts'
import type { Phrases } from '../narrate/phrases.ts'

// Times and texts of voice instructions before a maneuver. Figures are those of Valhalla 3.6 (`route_serializer_osrm.cc`).

/** Seconds before a maneuver for its early announcement and its final instruction. */
const ALERT_SECONDS = 35
const CUE_SECONDS = 10
/** Minimum distance of the final instruction from its maneuver, in metres. */
const LEAST_CUE_METERS = 40
/** Seconds for speaking an instruction, and metres travelled during the instruction after a maneuver. */
const CUE_TAKES_SECONDS = 3
const AFTER_TAKES_METERS = 110
/** Metres after a maneuver at which the instruction about the way after it begins. */
const PAST_CROSSING_METERS = 10

/** A spoken text, and the remaining metres of the step at which it begins. */
export interface VoiceInstruction {
  readonly distanceAlongGeometry: number
  readonly announcement: string
  readonly ssmlAnnouncement: string
}

/** A maneuver and its spoken texts. */
interface Told {
  readonly maneuver: Maneuver
  readonly narration: Narration
}

/** Wording of lengths. */
export interface Speech {
  readonly phrases: Phrases
  readonly units: Units
}

/** Voice instructions of the step that begins with a maneuver and leads to the next. */
export function voiceInstructions(
  leg: GuidedLeg,
  { maneuver, narration }: Told,
  next: Told,
  { speech, isFirst }: { speech: Speech; isFirst: boolean },
): VoiceInstruction[] {
  const { meters, seconds } = maneuver
  const alertAt = metersBefore(leg, maneuver, ALERT_SECONDS)
  const cueAt = metersBefore(leg, maneuver, CUE_SECONDS)
  const told = Math.min(meters, Math.max(cueAt, LEAST_CUE_METERS))
  const isAnnounced = alertAt >= LEAST_CUE_METERS
  const said: VoiceInstruction[] = []
  if (isFirst && narration.cue !== '') said.push(instruction(narration.cue, meters))
  else if (isAnnounced && meters > alertAt + AFTER_TAKES_METERS && narration.after !== '') {
    said.push(instruction(narration.after, meters - PAST_CROSSING_METERS))
  }
  if (isAnnounced && next.narration.alert !== '' && seconds > ALERT_SECONDS + CUE_TAKES_SECONDS) {
    const at = isFirst && alertAt === meters ? meters / 2 : alertAt
    const length = wordLength(speech.phrases, speech.units, at)
    const alert = next.narration.alert
    said.push(
      instruction(
        speech.phrases.approach.replace('{length}', length).replace('{alert}', () => alert),
        at,
      ),
    )
  }
  if (next.narration.cue !== '') {
    said.push(instruction(next.narration.cue, isFirst && told >= meters / 2 ? meters / 4 : told))
  }
  return said
}

function instruction(text: string, meters: number): VoiceInstruction {
  return {
    // Rounded down, because an announcement before the beginning of the step would never be spoken.
    distanceAlongGeometry: Math.floor(meters * 10) / 10,
    announcement: text,
    ssmlAnnouncement: `<speak>${text.replaceAll(/[&<>]/g, (sign) => ENTITIES[sign]!)}</speak>`,
  }
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Distance from the end of a maneuver at a number of seconds before it, in metres; at most its whole length. */
function metersBefore({ steps }: GuidedLeg, { beginNode, endNode, meters }: Maneuver, seconds: number): number {
  let left = seconds
  let passed = 0
  for (let i = endNode - 1; i >= beginNode; i--) {
    const takes = steps[i]!.seconds - (steps[i - 1]?.seconds ?? 0)
    if (takes >= left) return Math.min(meters, passed + (takes === 0 ? 0 : (steps[i]!.meters * left) / takes))
    left -= takes
    passed += steps[i]!.meters
  }
  return meters
}
