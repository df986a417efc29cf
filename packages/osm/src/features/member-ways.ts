import { growInt32 } from '../grow.ts'

/** The lines of the ways that relations need. */
export class MemberWays {
  readonly #ids: Float64Array
  readonly #start: Uint32Array
  readonly #end: Uint32Array
  lon = new Int32Array(1024)
  lat = new Int32Array(1024)
  #points = 0
  /** Where the last look-up ended: ways come in ascending order, as a rule. */
  #hint = 0

  /** @param ids the ways wanted, in any order and number */
  constructor(ids: Float64Array) {
    const sorted = ids.toSorted()
    let kept = 0
    for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[kept - 1]) sorted[kept++] = sorted[i]!
    this.#ids = sorted.subarray(0, kept)
    this.#start = new Uint32Array(kept)
    this.#end = new Uint32Array(kept)
  }

  /** The row of a way, -1 when it is not wanted; for {@link start} and {@link end}. */
  find(id: number): number {
    const ids = this.#ids
    let from = 0
    let to = ids.length
    const hint = this.#hint
    if (hint < to && ids[hint]! <= id) {
      from = hint
      // Between the hint and its successor there is nothing.
      if (hint + 1 < to && id < ids[hint + 1]!) to = hint + 1
    } else if (hint < to) to = hint
    while (from < to) {
      const middle = (from + to) >>> 1
      if (ids[middle]! < id) from = middle + 1
      else to = middle
    }
    this.#hint = Math.max(0, ids[from] === id ? from : from - 1)
    return ids[from] === id ? from : -1
  }

  /** Keeps the line of a wanted way; a second one for the same way is passed over. */
  set(row: number, lon: Int32Array, lat: Int32Array, count: number): void {
    if (this.#end[row] !== 0) return
    this.lon = growInt32(this.lon, this.#points + count)
    this.lat = growInt32(this.lat, this.#points + count)
    this.lon.set(lon.subarray(0, count), this.#points)
    this.lat.set(lat.subarray(0, count), this.#points)
    this.#start[row] = this.#points
    this.#points += count
    this.#end[row] = this.#points
  }

  /** The points of a way are `start .. end` of `lon` and `lat`: none when the file lacks it. */
  start(row: number): number {
    return this.#start[row]!
  }

  end(row: number): number {
    return this.#end[row]!
  }
}
