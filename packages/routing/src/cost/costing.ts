import type { Exclusions } from './exclusions.ts'
import type { CostOptions, Mode } from './options.ts'
import type { Family, TravelMode } from './profile.ts'
import type { Rights } from './rights.ts'

/**
 * Costs of travelling the network in one mode. Costs are seconds with preferences, seconds are plain time; a path's
 * cost is the sum over its edges and the turns between them. A costing is independent of searches.
 */
export interface Costing {
  readonly mode: Mode
  readonly family: Family
  readonly options: CostOptions
  /** Bit of the mode in the access masks. */
  readonly access: number
  readonly rights: Rights
  /** Names that guidance uses for the mode. */
  readonly travelMode: TravelMode
  readonly travelType: string
  readonly exclusions: Exclusions
  /**
   * Penalty in seconds of a search for leaving a street for local traffic, which a route must not use for through
   * traffic.
   */
  readonly throughLocal: number

  /** Whether an edge is for local traffic only. */
  isLocal(edge: number): boolean
  /** Whether an edge may be used at all. */
  edgeOpen(edge: number): boolean
  /** Whether a location may be snapped to an edge, and its reach may use the edge. */
  snapOpen(edge: number): boolean
  /** Whether the vehicle is larger than a limit, of a type as in `Limit`. */
  exceeds(type: number, limit: number): boolean
  /** Whether a node may be passed. */
  nodeOpen(node: number): boolean
  /** Cost and seconds of a whole open edge at the given current speed; by default at the usual speed. */
  edgeCost(edge: number, kmh?: number): number
  edgeSeconds(edge: number, kmh?: number): number
  /**
   * Cost of the turn from one edge onto another; infinite when a rule or a limit forbids it. `StateWeights` decides
   * whether a U-turn is allowed at all.
   *
   * @param turn the facts of the turn
   * @param internal whether the first edge is a short one inside a crossing, entered by a turn to the same side
   */
  turnCost(from: number, to: number, turn: number, internal: boolean): number
  /** Cost of a turn of a finished path, without penalties that only guide searches. */
  pathTurnCost(from: number, to: number, turn: number): number
  turnSeconds(from: number, to: number, turn: number): number
}
