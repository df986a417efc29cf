import { isDestination, isMerge, isStart, Kind, type Maneuver } from '../guide/maneuver.ts'
import { type Units, wordLength } from './lengths.ts'
import type { Phrases } from './phrases.ts'
import {
  continueSentence,
  type Destination,
  destinationSentence,
  exitSentence,
  ferrySentence,
  fill,
  keepSentence,
  keepToStaySentence,
  leaveRoundaboutSentence,
  mergeSentence,
  plainStart,
  plainTurn,
  plainUturn,
  rampSentence,
  roundaboutSentence,
  startSentence,
  streetOf,
  type Style,
  turnSentence,
  uturnSentence,
} from './sentences.ts'

/** Texts of a maneuver; empty where it has none. */
export interface Narration {
  /** Written text. */
  readonly instruction: string
  /** Spoken ahead of the maneuver. */
  readonly alert: string
  /** Spoken at the maneuver: short, and with names. */
  readonly succinct: string
  readonly cue: string
  /** Spoken after the maneuver. */
  readonly after: string
  /** Whether the cues include the next maneuver. */
  readonly both: boolean
}

const WRITTEN: Style = { names: 0, signs: 4, delimiter: '/', spoken: false, ahead: false }
const SPOKEN: Style = { names: 2, signs: 2, delimiter: ', ', spoken: true, ahead: false }
const AHEAD: Style = { names: 1, signs: 1, delimiter: ', ', spoken: true, ahead: true }

/** Minimum length in metres of a ramp, or of the way before a merge, for more detailed instructions. */
const LONG_METERS = 2000
/** Seconds of a maneuver below which it is announced together with the next; three times as long for departures. */
const CLOSE_SECONDS = 13

/** Generates the texts for the maneuvers of a leg. */
export function narrate(
  maneuvers: readonly Maneuver[],
  { phrases, units, destination }: { phrases: Phrases; units: Units; destination: Destination },
): Narration[] {
  const narrator = new Narrator(phrases, units, destination)
  const single = maneuvers.map((maneuver, i) => narrator.word(maneuver, maneuvers[i - 1] ?? null))
  return single.map((narration, i) => {
    const maneuver = maneuvers[i]!
    const next = maneuvers[i + 1]
    return next === undefined
      ? narration
      : narrator.together({ maneuver, narration }, { maneuver: next, narration: single[i + 1]! })
  })
}

/** A sentence in some style. */
type Sentence = (style: Style) => string

const NOTHING: Narration = { instruction: '', alert: '', succinct: '', cue: '', after: '', both: false }

class Narrator {
  readonly #phrases: Phrases
  readonly #units: Units
  readonly #destination: Destination

  constructor(phrases: Phrases, units: Units, destination: Destination) {
    this.#phrases = phrases
    this.#units = units
    this.#destination = destination
  }

  word(maneuver: Maneuver, before: Maneuver | null): Narration {
    const phrases = this.#phrases
    const all = (sentence: Sentence): Narration => ({ ...this.#unannounced(sentence), alert: sentence(AHEAD) })
    const after = (named = false): { after: string } => ({ after: this.#after(maneuver, named) })
    const begun = maneuver.beginNames.length > 0
    const { joinedExit } = maneuver
    switch (maneuver.kind) {
      case Kind.start:
      case Kind.startLeft:
      case Kind.startRight:
      case Kind.ferryExit:
        return {
          ...this.#unannounced((style) => startSentence(phrases, style, maneuver)),
          ...succinct(() => plainStart(phrases, maneuver)),
          ...after(begun),
        }
      case Kind.destination:
      case Kind.destinationLeft:
      case Kind.destinationRight:
        return all((style) => destinationSentence(phrases, style, maneuver, this.#destination))
      case Kind.slightLeft:
      case Kind.slightRight:
      case Kind.left:
      case Kind.right:
      case Kind.sharpLeft:
      case Kind.sharpRight:
        return {
          ...all((style) => turnSentence(phrases, style, maneuver)),
          ...succinct((style) => plainTurn(phrases, style, maneuver)),
          ...after(begun),
        }
      case Kind.uturnLeft:
      case Kind.uturnRight:
        return {
          ...all((style) => uturnSentence(phrases, style, maneuver)),
          ...succinct((style) => plainUturn(phrases, style, maneuver)),
          ...after(),
        }
      case Kind.roundaboutEnter:
        return {
          ...all((style) => roundaboutSentence(phrases, style, maneuver, true)),
          ...succinct((style) => roundaboutSentence(phrases, style, maneuver, false)),
          ...(joinedExit !== null && { after: this.#after(joinedExit, joinedExit.beginNames.length > 0) }),
        }
      case Kind.roundaboutExit:
        return {
          ...this.#unannounced((style) => leaveRoundaboutSentence(phrases, style, maneuver, true)),
          ...succinct((style) => leaveRoundaboutSentence(phrases, style, maneuver, false)),
          ...after(begun),
        }
      default:
        return this.#wordRamp(maneuver, before) ?? this.#wordPlace(maneuver)
    }
  }

  /** Ramps, exits, forks and merges. */
  #wordRamp(maneuver: Maneuver, before: Maneuver | null): Narration | null {
    const phrases = this.#phrases
    const { kind, ramp, meters, includesMerge, includesObvious, toStayOn } = maneuver
    const long = meters > LONG_METERS
    const all = (sentence: Sentence, after: boolean): Narration => ({
      ...this.#unannounced(sentence),
      alert: sentence(AHEAD),
      after: after ? this.#after(maneuver, false) : '',
    })
    switch (kind) {
      case Kind.rampStraight:
      case Kind.rampLeft:
      case Kind.rampRight:
        return all((style) => rampSentence(phrases, style, maneuver), long || includesObvious || includesMerge)
      case Kind.exitLeft:
      case Kind.exitRight:
        return all((style) => exitSentence(phrases, style, maneuver), long || includesObvious || includesMerge)
      case Kind.stayStraight:
      case Kind.stayLeft:
      case Kind.stayRight: {
        const sentence = toStayOn ? keepToStaySentence : keepSentence
        return all((style) => sentence(phrases, style, maneuver), long || !ramp || includesMerge)
      }
      case Kind.merge:
      case Kind.mergeLeft:
      case Kind.mergeRight: {
        const narration = all((style) => mergeSentence(phrases, style, maneuver, true), true)
        const alert = before !== null && before.meters > LONG_METERS ? narration.alert : ''
        return { ...narration, alert, succinct: mergeSentence(phrases, SPOKEN, maneuver, false) }
      }
      default:
        return null
    }
  }

  /** Ferries, stairs, buildings, and going on. */
  #wordPlace(maneuver: Maneuver): Narration {
    const phrases = this.#phrases
    const after = this.#after(maneuver, false)
    const same = (instruction: string): Narration => ({
      ...NOTHING,
      instruction,
      alert: instruction,
      cue: instruction,
      after,
    })
    const inside = ({ plain, on }: { plain: string; on: string }): Narration => {
      const street = streetOf(phrases, WRITTEN, maneuver)
      return { ...NOTHING, instruction: street === '' ? plain : fill(on, { street }) }
    }
    switch (maneuver.kind) {
      case Kind.ferryEnter: {
        const sentence: Sentence = (style) => ferrySentence(phrases, style, maneuver)
        return { ...this.#unannounced(sentence), alert: sentence(AHEAD), after }
      }
      case Kind.elevatorEnter:
        return maneuver.passesElevator ? same(phrases.elevator) : { ...NOTHING, instruction: phrases.elevator }
      case Kind.stepsEnter:
        return same(phrases.stairs)
      case Kind.escalatorEnter:
        return { ...NOTHING, instruction: phrases.escalator }
      case Kind.buildingEnter:
        return inside(phrases.enterBuilding)
      case Kind.buildingExit:
        return inside(phrases.leaveBuilding)
      default: {
        const sentence: Sentence = (style) => continueSentence(phrases, style, maneuver)
        return { ...this.#unannounced(sentence), alert: sentence(AHEAD), after }
      }
    }
  }

  #unannounced(sentence: Sentence): Narration {
    return { ...NOTHING, instruction: sentence(WRITTEN), cue: sentence(SPOKEN) }
  }

  #after(maneuver: Maneuver, named: boolean): string {
    const { after } = this.#phrases
    const length = wordLength(this.#phrases, this.#units, maneuver.meters)
    const street =
      named && !maneuver.includesObvious && !maneuver.longName ? streetOf(this.#phrases, SPOKEN, maneuver) : ''
    return street === '' ? fill(after.plain, { length }) : fill(after.on, { street, length })
  }

  /** Adds the next maneuver to the cue of a short one. */
  together(current: Worded, next: Worded): Narration {
    const { maneuver, narration } = current
    const announced = next.narration.alert || next.narration.cue
    if (!areClose(current, next) || announced === '') return narration
    const { soon, later } = this.#phrases.followed
    const phrase = branchesBefore(maneuver, next.maneuver) ? later : soon
    const length = wordLength(this.#phrases, this.#units, maneuver.meters)
    const both = (cue: string): string => (cue === '' ? '' : fill(phrase, { cue, next: announced, length }))
    return { ...narration, succinct: both(narration.succinct), cue: both(narration.cue), both: true }
  }
}

interface Worded {
  readonly maneuver: Maneuver
  readonly narration: Narration
}

function areClose({ maneuver, narration }: Worded, { maneuver: next }: Worded): boolean {
  const seconds = isStart(maneuver) ? CLOSE_SECONDS * 3 : CLOSE_SECONDS
  if (narration.cue === '' || maneuver.basicSeconds >= seconds || isMerge(next)) return false
  if (maneuver.roundabout && maneuver.joinedExit === null) return false
  return !((maneuver.kind === Kind.roundaboutExit || maneuver.roundabout) && next.roundabout)
}

const RIGHTS = new Set<number>([
  Kind.slightRight,
  Kind.right,
  Kind.sharpRight,
  Kind.uturnRight,
  Kind.rampRight,
  Kind.exitRight,
  Kind.stayRight,
])
const LEFTS = new Set<number>([
  Kind.slightLeft,
  Kind.left,
  Kind.sharpLeft,
  Kind.uturnLeft,
  Kind.rampLeft,
  Kind.exitLeft,
  Kind.stayLeft,
])

/** Whether another street branches off earlier to the side of the next maneuver and could be mistaken for it. */
function branchesBefore({ branchesRight, branchesLeft }: Maneuver, next: Maneuver): boolean {
  if (RIGHTS.has(next.kind)) return branchesRight
  if (LEFTS.has(next.kind)) return branchesLeft
  return isDestination(next) && (branchesRight || branchesLeft)
}

function succinct(text: (style: Style) => string): { succinct: string } {
  return { succinct: text(SPOKEN) }
}
