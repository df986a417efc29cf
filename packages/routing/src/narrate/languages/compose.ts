import type { ExitPhrases, Phrases, RampPhrases, RoundaboutPhrases, SideWords, TurnPhrases } from '../phrases.ts'

/**
 * What a language adds to a sentence, always in the same words. Each begins with the space or comma that parts it from
 * what goes before; the full stop is added.
 */
export interface Tails {
  /** {street} */
  readonly onto: string
  /** {begin}, {street}; may be two sentences */
  readonly ontoThen: string
  /** {street} */
  readonly stayOn: string
  /** {sign} */
  readonly toward: string
  /** {branch} */
  readonly branch: string
}

/** The sentences of a turn, from the one that tells it plainly, with {side}. */
export function turnPhrases(lead: string, { onto, ontoThen, stayOn, toward }: Tails, sides: SideWords): TurnPhrases {
  return {
    left: sides.left,
    right: sides.right,
    plain: `${lead}.`,
    onto: `${lead}${onto}.`,
    ontoThen: `${lead}${ontoThen}.`,
    stayOn: `${lead}${stayOn}.`,
    toward: `${lead}${toward}.`,
  }
}

/** The sentences of a ramp, from the plain one and the one that calls it by {name}. */
export function rampPhrases({ plain, name }: { plain: string; name: string }, { branch, toward }: Tails): RampPhrases {
  return {
    plain: `${plain}.`,
    branch: `${plain}${branch}.`,
    toward: `${plain}${toward}.`,
    branchToward: `${plain}${branch}${toward}.`,
    name: `${name}.`,
  }
}

/** The sentences of an exit, from the plain one, the one with its {number} and the one with its {name}. */
export function exitPhrases(
  { plain, number, name }: { plain: string; number: string; name: string },
  { branch, toward }: Tails,
): ExitPhrases {
  return {
    plain: `${plain}.`,
    number: `${number}.`,
    branch: `${plain}${branch}.`,
    numberBranch: `${number}${branch}.`,
    toward: `${plain}${toward}.`,
    numberToward: `${number}${toward}.`,
    branchToward: `${plain}${branch}${toward}.`,
    numberBranchToward: `${number}${branch}${toward}.`,
    name: `${name}.`,
    nameBranch: `${name}${branch}.`,
    nameToward: `${name}${toward}.`,
    nameBranchToward: `${name}${branch}${toward}.`,
  }
}

/** The sentences of a merge, from the plain one and the one with {side}. */
export function mergePhrases(
  { plain, side }: { plain: string; side: string },
  { onto, toward }: Tails,
  sides: SideWords,
): Phrases['merge'] {
  return {
    left: sides.left,
    right: sides.right,
    plain: `${plain}.`,
    side: `${side}.`,
    onto: `${plain}${onto}.`,
    sideOnto: `${side}${onto}.`,
    toward: `${plain}${toward}.`,
    sideToward: `${side}${toward}.`,
  }
}

/** The sentences of a roundabout: how it is entered, then the exit with its {ordinal} or without. */
export function roundaboutPhrases(
  enter: string,
  { counted, any }: { counted: string; any: string },
  { onto, toward }: Tails,
): RoundaboutPhrases {
  return {
    plain: `${enter}.`,
    exit: `${enter}${counted}.`,
    exitOnto: `${enter}${counted}${onto}.`,
    exitToward: `${enter}${counted}${toward}.`,
    onto: `${enter}${any}${onto}.`,
    toward: `${enter}${any}${toward}.`,
  }
}
