/** What a dropped file has become: tables and rasters that a map can draw. */
export interface Dropped {
  readonly tables: readonly string[]
  /** As `/raster/v1` names them. */
  readonly rasters: readonly string[]
}

let taker: ((dropped: Dropped) => void) | null = null

/** Takes dropped files as layers while a map is edited; returns how to stop. */
export function takeDropped(take: (dropped: Dropped) => void): () => void {
  taker = take
  return () => {
    if (taker === take) taker = null
  }
}

/** Gives what was dropped to the map that is edited; false where there is none. */
export function giveDropped(dropped: Dropped): boolean {
  taker?.(dropped)
  return taker !== null
}

/** A name that no table has yet: `parks`, `parks_2`, … */
export function freeName(wanted: string, taken: readonly string[]): string {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted.slice(0, 58)}_${i}`
    if (!taken.includes(name)) return name
  }
}
