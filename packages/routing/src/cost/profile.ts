import type { Family } from './costing.ts'
import type { Expression } from './expression.ts'
import type { EdgeFact, TurnFact } from './facts.ts'
import type { DependentDefaults, OptionTable } from './option-table.ts'

/** A way to travel, as data: who it is, what its requests can say, and the terms that its costs are made of. */
export interface Profile {
  readonly family: Family
  /** Where the figures come from. */
  readonly source: string
  /** Bit of the access masks, and the name of the vehicle; by the value of an option where they depend on one. */
  readonly access: number | Readonly<Record<string, number>>
  readonly travelMode: 'drive' | 'bicycle' | 'pedestrian'
  readonly travelType: string | { readonly option: string }
  readonly options: OptionTable
  readonly defaults?: DependentDefaults
  /** The option that says each size of the vehicle, by kind of limit; without one it is not held to the limit. */
  readonly sizes: Readonly<Record<number, string>>
  /** It may be let onto streets that are closed to it. */
  readonly isLorry?: true
  /** Options by which requests exclude kinds of streets, besides those that every mode has. */
  readonly excludesUnpaved?: true
  /** Toll booths that take cash only can be excluded. */
  readonly paysTolls?: true
  /** Most seconds that a location costs for being put on a street that is not the nearest. */
  readonly farPenalty: number
  /** How much one request may ask for: locations, metres along them as the crow flies, and between any two of a matrix. */
  readonly most: { readonly locations: number; readonly meters: number; readonly matrixMeters: number }
  readonly terms: (options: OptionReader) => Terms
}

/** Options of a request by name: numbers (0 where the mode has none such), or whether one is set, or its text. */
export interface OptionReader {
  readonly number: (name: string) => number
  readonly is: (name: string) => boolean
  readonly text: (name: string) => string
}

/** Most that facts of an edge may be for the mode to use it. */
export type Bounds = Readonly<Partial<Record<EdgeFact, number>>>

/** What costs, time and rules of a mode are made of under some options. */
export interface Terms {
  readonly edge: EdgeTerms
  readonly turn: TurnTerms
  /** For passing an edge, and for beginning or ending on it. */
  readonly bounds: Bounds
  readonly endBounds: Bounds
  /** Modes whose access is enough where the mode has none, at a price. */
  readonly tolerates: number
  /** Seconds that searches pay for crossing streets for local traffic from end to end; none where absent. */
  readonly throughLocal?: number
}

export interface EdgeTerms {
  readonly seconds: Expression<EdgeFact>
  readonly cost: Expression<EdgeFact>
}

export interface TurnTerms {
  readonly seconds: Expression<TurnFact>
  readonly cost: Expression<TurnFact>
  /** The cost in searches, which know of turns inside a crossing, and what keeps searches away besides. */
  readonly searchCost: Expression<TurnFact>
}
