/**
 * The words of one language. A phrase is a whole sentence with placeholders in braces; the English table shows which
 * ones a phrase may have. Variants with and without a placeholder are separate phrases, so that each language can word
 * them freely.
 */
export interface Phrases {
  /** BCP 47. */
  readonly tag: string
  readonly decimal: '.' | ','
  /** Clockwise from north. */
  readonly cardinals: readonly string[]
  /** Ordinal numbers from the first to the tenth. */
  readonly ordinals: readonly string[]
  /** Words for paths without a name. */
  readonly unnamed: { readonly walkway: string; readonly cycleway: string; readonly crosswalk: string }
  readonly lengths: LengthPhrases
  /** {length}, {alert}: spoken some way ahead of a maneuver; the alert is a sentence. */
  readonly approach: string

  /** {cardinal}, {street}, {begin} */
  readonly start: Readonly<Record<'drive' | 'bicycle' | 'pedestrian', { plain: string; on: string; onThen: string }>>
  /** {destination}, {side}; spoken on arrival and ahead of it */
  readonly destination: DestinationPhrases
  readonly destinationAhead: DestinationPhrases
  /** {street}, {sign} */
  readonly continue: { readonly plain: string; readonly on: string; readonly toward: string }
  readonly bear: TurnPhrases
  readonly turn: TurnPhrases
  readonly sharp: TurnPhrases
  /** {side}, {street}, {cross}, {sign} */
  readonly uturn: Readonly<Record<'plain' | 'onto' | 'stayOn' | 'at' | 'atOnto' | 'atStayOn' | 'toward', string>> &
    SideWords
  readonly rampStraight: RampPhrases
  /** A ramp that branches off to a side, a ramp after a turn, and a ramp on the usual side. */
  readonly rampSide: RampPhrases & SideWords
  readonly rampTurn: RampPhrases & SideWords
  readonly ramp: RampPhrases
  readonly exitSide: ExitPhrases & SideWords
  readonly exit: ExitPhrases
  /** {side}, {number}, {street}, {sign} */
  readonly keep: Readonly<Record<KeepPhrase, string>> & SideWords & { readonly straight: string }
  readonly keepToStay: Readonly<Record<'plain' | 'number' | 'toward' | 'numberToward', string>>
  /** {side}, {street}, {sign} */
  readonly merge: Readonly<Record<'plain' | 'side' | 'onto' | 'sideOnto' | 'toward' | 'sideToward', string>> & SideWords
  /** {ordinal}, {street}, {sign}; the named ones also have {circle} */
  readonly roundabout: RoundaboutPhrases
  readonly namedRoundabout: RoundaboutPhrases
  /** {street}, {begin}, {sign} */
  readonly leaveRoundabout: Readonly<Record<'plain' | 'onto' | 'ontoThen' | 'toward', string>>
  /** {street}, {sign}; `label` matches names that already contain the word for ferry */
  readonly ferry: Readonly<Record<'plain' | 'named' | 'labelled' | 'toward', string>> & { readonly label: RegExp }
  readonly elevator: string
  readonly stairs: string
  readonly escalator: string
  /** {street} */
  readonly enterBuilding: { readonly plain: string; readonly on: string }
  readonly leaveBuilding: { readonly plain: string; readonly on: string }
  /** {length}, {street}; spoken after a maneuver */
  readonly after: { readonly plain: string; readonly on: string }
  /** {cue}, {next}, {length}; two cues at once */
  readonly followed: { readonly soon: string; readonly later: string }
}

export interface SideWords {
  readonly left: string
  readonly right: string
}

/** {side}, {street}, {begin}, {sign} */
export type TurnPhrases = Readonly<Record<'plain' | 'onto' | 'ontoThen' | 'stayOn' | 'toward', string>> & SideWords

export type DestinationPhrases = Readonly<Record<'plain' | 'at' | 'side' | 'atSide', string>> & SideWords

/** {side}, {branch}, {sign}, {name} */
export type RampPhrases = Readonly<Record<'plain' | 'branch' | 'toward' | 'branchToward' | 'name', string>>

/** {side}, {number}, {branch}, {sign}, {name} */
export type ExitPhrases = Readonly<Record<ExitPhrase, string>>
export type ExitPhrase =
  | 'plain'
  | 'number'
  | 'branch'
  | 'numberBranch'
  | 'toward'
  | 'numberToward'
  | 'branchToward'
  | 'numberBranchToward'
  | 'name'
  | 'nameBranch'
  | 'nameToward'
  | 'nameBranchToward'

export type KeepPhrase =
  | 'plain'
  | 'number'
  | 'street'
  | 'numberStreet'
  | 'toward'
  | 'numberToward'
  | 'streetToward'
  | 'numberStreetToward'

export type RoundaboutPhrases = Readonly<
  Record<'plain' | 'exit' | 'exitOnto' | 'exitToward' | 'onto' | 'toward', string>
>

/** A phrase with {n}, or one for each plural category of the language. */
export type Counted = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string }>

/** Phrases of lengths: {n} is a number. */
export interface LengthPhrases {
  readonly kilometers: Counted
  readonly kilometer: string
  readonly meters: Counted
  readonly fewMeters: string
  readonly miles: Counted
  readonly mile: string
  readonly halfMile: string
  readonly quarterMile: string
  readonly feet: Counted
  readonly fewFeet: string
}
