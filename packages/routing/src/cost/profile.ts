import { Access } from '../graph/attributes.ts'
import type { EdgeView } from './edge-view.ts'
import type { DependentDefaults, OptionTable } from './option-table.ts'
import type { TurnView } from './turn-view.ts'

/** Group of modes that may travel the same kinds of edges. */
export type Family = 'motor' | 'bicycle' | 'foot'

/** Travel modes with different wording in guidance. */
export type TravelMode = 'drive' | 'bicycle' | 'pedestrian'

/** Access bit by which guidance judges the streets of a travel mode. */
export const TRAVEL_ACCESS: Readonly<Record<TravelMode, number>> = {
  drive: Access.car,
  bicycle: Access.bicycle,
  pedestrian: Access.foot,
}

/** A travel mode: its vehicle, the options of its requests, and its costs of edges and turns. */
export interface Profile {
  readonly family: Family
  readonly source: string
  /** Bit in the access masks, and name of the vehicle; a record by option value if an option decides. */
  readonly access: number | Readonly<Record<string, number>>
  readonly travelMode: TravelMode
  readonly travelType: string | { readonly option: string }
  readonly options: OptionTable
  readonly defaults?: DependentDefaults
  /** The option with the size of the vehicle, by kind of limit; limits without an option are ignored. */
  readonly sizes: Readonly<Record<number, string>>
  /** Options by which requests exclude kinds of streets, besides the options of every mode. */
  readonly excludesUnpaved?: true
  /** Whether toll booths for cash only can be excluded. */
  readonly paysTolls?: true
  /** Maximum penalty in seconds of a location for a street that is not the nearest. */
  readonly farPenalty: number
  /**
   * Maximum number of locations of a request, maximum straight-line metres along them, and between any two of a matrix.
   */
  readonly most: { readonly locations: number; readonly meters: number; readonly matrixMeters: number }
  readonly costs: (options: OptionReader) => ModeCosts
}

/** Options of a request by name: numbers (0 if the mode lacks the option), whether one is set, or its text. */
export interface OptionReader {
  readonly number: (name: string) => number
  readonly is: (name: string) => boolean
  readonly text: (name: string) => string
}

/**
 * Penalty in seconds for through traffic on a street for local traffic: more than any detour within a region, but such
 * a street is still used if there is no other way. Valhalla forbids it to motor vehicles and searches again without the
 * ban when there is no route.
 */
export const THROUGH_PENALTY = 43200

/** Costs and access of a mode under some options. */
export interface ModeCosts {
  readonly edge: EdgeCosts
  readonly turn: TurnCosts
  /** Whether the mode may travel an edge that it has access to, and whether a path may begin or end on it. */
  readonly mayPass: (edge: EdgeView) => boolean
  readonly mayEnd: (edge: EdgeView) => boolean
  /** Modes whose edges may also be used at a penalty. */
  readonly tolerates?: number
  /** Seconds that searches add for through traffic on streets for local traffic; none when absent. */
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
