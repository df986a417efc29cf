/** A dropped file, or what has become of it: tables and rasters that a map can draw. */
export interface Dropped {
  /** Of the drop. Tables and rasters take the place of its preview; so does nothing, when it failed. */
  readonly id: string
  /** Features that are shown until the tables are there. */
  readonly preview?: readonly GeoJSON.Feature[]
  readonly tables: readonly string[]
  /** As `/raster/v1` names them. */
  readonly rasters: readonly string[]
}

let taker: ((dropped: Dropped) => void) | null = null
let waiting: Dropped[] = []

/** Takes dropped files as layers while a map is edited; returns how to stop. */
export function takeDropped(take: (dropped: Dropped) => void): () => void {
  taker = take
  for (const dropped of waiting) take(dropped)
  waiting = []
  return () => {
    if (taker === take) taker = null
  }
}

/**
 * Gives what was dropped to the map that is edited; false where there is none.
 *
 * @param isOpening a new map is about to be edited, and takes it then
 */
export function giveDropped(dropped: Dropped, isOpening: boolean): boolean {
  // Its preview waits no longer.
  if (!taker) waiting = waiting.filter(({ id }) => id !== dropped.id)
  if (!taker && !isOpening) return false
  if (taker) taker(dropped)
  else waiting.push(dropped)
  return true
}

/** Whether dropped files wait for the map that is being opened. */
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
