/** A dropped file, or its result: tables and rasters that a map can show. */
export interface Dropped {
  /** Id of the drop. Its tables and rasters replace its preview; empty ones remove it after a failure. */
  readonly id: string
  /**
   * Features that are shown until the tables exist, and the name `schema.table` that they will have. No features when the
   * page cannot read the file.
   */
  readonly preview?: { readonly features: readonly GeoJSON.Feature[]; readonly table: string }
  readonly tables: readonly string[]
  /** Sources of rasters in the notation of `/raster/v1`. */
  readonly rasters: readonly string[]
}

let taker: ((dropped: Dropped) => void) | null = null
let waiting: Dropped[] = []

/** Accepts dropped files as layers while a map is edited; returns a function that stops it. */
export function takeDropped(take: (dropped: Dropped) => void): () => void {
  taker = take
  for (const dropped of waiting) take(dropped)
  waiting = []
  return () => {
    if (taker === take) taker = null
  }
}

/**
 * Passes a dropped file to the edited map; false when no map is edited.
 *
 * @param isOpening true when a new map is about to open, which then takes the file
 */
export function giveDropped(dropped: Dropped, isOpening: boolean): boolean {
  // A waiting preview of the file is removed.
  if (!taker) waiting = waiting.filter(({ id }) => id !== dropped.id)
  if (!taker && !isOpening) return false
  if (taker) taker(dropped)
  else waiting.push(dropped)
  return true
}

/** Whether dropped files wait for the next map. */
export function isDropWaiting(): boolean {
  return waiting.length > 0
}

/** A name that no table has yet: `parks`, `parks_2`, … */
export function freeName(wanted: string, taken: readonly string[]): string {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted.slice(0, 58)}_${i}`
    if (!taken.includes(name)) return name
  }
}
