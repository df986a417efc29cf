/** Side of the street a location lies on, seen in the direction of an edge. */
export type Side = 'left' | 'right' | null

/** A possible place of a location: an edge and the position along it. */
export interface Candidate {
  readonly edge: number
  /** Share of the edge before the location, 0 … 1. */
  readonly along: number
  readonly lon: number
  readonly lat: number
  /** Metres from the location. */
  readonly meters: number
  readonly side: Side
  /** Degrees of the edge where the location is put. */
  readonly heading: number
  /** Seconds of cost for being farther away than the nearest candidate. */
  readonly penalty: number
}

/** The candidates of a location; the second list counts only when the first leads nowhere. */
export interface Snapped {
  readonly candidates: readonly Candidate[]
  readonly filtered: readonly Candidate[]
}

/** A candidate before the penalties are known. */
export type Found = Omit<Candidate, 'penalty'>
