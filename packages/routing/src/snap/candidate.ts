/** Side of the street on which a location lies, in the direction of an edge. */
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
  /** Heading of the edge at the candidate, in degrees. */
  readonly heading: number
  /** Penalty in seconds for a greater distance than the nearest candidate. */
  readonly penalty: number
}

/** The candidates of a location; the second list is used only when no path leads from the first. */
export interface Snapped {
  readonly candidates: readonly Candidate[]
  readonly filtered: readonly Candidate[]
}

/** A candidate before the penalties are known. */
export type Found = Omit<Candidate, 'penalty'>
