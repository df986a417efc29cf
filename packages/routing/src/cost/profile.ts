import type { EdgeView } from './edge-view.ts'
import type { DependentDefaults, OptionTable } from './option-table.ts'
import type { TurnView } from './turn-view.ts'

/** Part of the network that modes share: they may travel the same kinds of edges. */
export type Family = 'motor' | 'bicycle' | 'foot'

/** Ways to move that guidance words differently. */
export type TravelMode = 'drive' | 'bicycle' | 'pedestrian'

/** A way to travel: its vehicle, the options of its requests, and what edges and turns cost it. */
export interface Profile {
  readonly family: Family
  /** Source of the figures. */
  readonly source: string
  /** Bit of the access masks, and the name of the vehicle; a record by option value if an option decides. */
  readonly access: number | Readonly<Record<string, number>>
  readonly travelMode: TravelMode
  readonly travelType: string | { readonly option: string }
  readonly options: OptionTable
  readonly defaults?: DependentDefaults
  /** The option with the size of the vehicle, by kind of limit; limits without an option are ignored. */
  readonly sizes: Readonly<Record<number, string>>
  /** Options by which requests exclude kinds of streets, besides the options of every mode. */
  readonly excludesUnpaved?: true
  /** Toll booths that take cash only can be excluded. */
  readonly paysTolls?: true
  /** Most seconds that a location costs for being put on a street that is not the nearest. */
  readonly farPenalty: number
  /** Maximum locations of a request, metres along them as the crow flies, and metres between any two of a matrix. */
  readonly most: { readonly locations: number; readonly meters: number; readonly matrixMeters: number }
  readonly costs: (options: OptionReader) => ModeCosts
}

/** Options of a request by name: numbers (0 where the mode has none such), or whether one is set, or its text. */
export interface OptionReader {
  readonly number: (name: string) => number
  readonly is: (name: string) => boolean
  readonly text: (name: string) => string
}

/**
 * Penalty in seconds for crossing a street for local traffic from end to end: more than any detour within a region, but
 * such a street is still crossed where there is no other way. Valhalla forbids it to motor vehicles and searches again
 * without the ban when there is no route.
 */
export const THROUGH_PENALTY = 43200

/** Costs and access of a mode under some options. */
export interface ModeCosts {
  readonly edge: EdgeCosts
  readonly turn: TurnCosts
  /** Whether an edge that the mode has access to may be passed, and whether a path may begin or end on it. */
  readonly mayPass: (edge: EdgeView) => boolean
  readonly mayEnd: (edge: EdgeView) => boolean
  /** Modes whose access is enough where the mode has none, at a price. */
  readonly tolerates?: number
  /** Seconds that searches pay for crossing streets for local traffic from end to end; none where absent. */
  readonly throughLocal?: number
}

/** Seconds, and cost (seconds with preferences), of a whole edge. */
export interface EdgeCosts {
  readonly seconds: (edge: EdgeView) => number
  readonly cost: (edge: EdgeView) => number
}

/** Seconds, and cost (seconds with preferences), of a turn and of entering the next edge. */
export interface TurnCosts {
  readonly seconds: (turn: TurnView) => number
  readonly cost: (turn: TurnView) => number
}
