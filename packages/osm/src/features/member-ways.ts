import { growInt32 } from '../grow.ts'
import { NODES_SHARE } from './spill.ts'
import type { ScratchFile, Spill } from './spill.ts'

/** The lines of the ways that relations need: in memory as long as they fit, then in a temporary file. */
export class MemberWays {
  readonly #ids: Float64Array
  readonly #start: Uint32Array
  readonly #count: Uint32Array
  /** The line that was loaded last. */
  lon = new Int32Array(0)
  lat = new Int32Array(0)
  /** Longitudes, then latitudes of each way, from point `#written` on. */
  #numbers = new Int32Array(2048)
  #points = 0
  readonly #spill: Spill | undefined
  readonly #mostPoints: number
  #file: ScratchFile | null = null
  /** Number of points in the file. */
  #written = 0
  #read = new Int32Array(1024)
  /** Row of the last look-up, because ways usually come in ascending order. */
  #hint = 0

  /**
   * @param ids the ways wanted, in any order and number
   * @param takenBytes other memory in use
   */
  constructor(ids: Float64Array, spill?: Spill, takenBytes = 0) {
    const sorted = ids.toSorted()
    let kept = 0
    for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[kept - 1]) sorted[kept++] = sorted[i]!
    this.#ids = sorted.subarray(0, kept)
    this.#start = new Uint32Array(kept)
    this.#count = new Uint32Array(kept)
    this.#spill = spill
    this.#mostPoints = spill
      ? Math.max(0, Math.floor((spill.memoryBytes * (1 - NODES_SHARE) - takenBytes) / 8))
      : Infinity
  }

  /** The row of a way, or -1 when it is not wanted; for {@link start} and {@link end}. */
  find(id: number): number {
    const ids = this.#ids
    let from = 0
    let to = ids.length
    const hint = this.#hint
    if (hint < to && ids[hint]! <= id) {
      from = hint
      // No row lies between the hint and its successor.
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

  /** Keeps the line of a wanted way; a second one is ignored. @throws what the temporary file throws */
  set(row: number, lon: Int32Array, lat: Int32Array, count: number): void {
    if (this.#count[row] !== 0) return
    if (this.#points - this.#written + count > this.#mostPoints) this.#write()
    const at = 2 * (this.#points - this.#written)
    this.#numbers = growInt32(this.#numbers, at + 2 * count)
    this.#numbers.set(lon.subarray(0, count), at)
    this.#numbers.set(lat.subarray(0, count), at + count)
    this.#start[row] = this.#points
    this.#count[row] = count
    this.#points += count
  }

  /** Sets `lon` and `lat` to the line of a way; returns its number of points, 0 when the file lacks the way. */
  load(row: number): number {
    const count = this.#count[row]!
    const start = this.#start[row]!
    let numbers = this.#numbers
    let at = 2 * (start - this.#written)
    if (at < 0) {
      numbers = this.#read = growInt32(this.#read, 2 * count)
      this.#file!.read(new Uint8Array(numbers.buffer, 0, 8 * count), 8 * start)
      at = 0
    }
    this.lon = numbers.subarray(at, at + count)
    this.lat = numbers.subarray(at + count, at + 2 * count)
    return count
  }

  [Symbol.dispose](): void {
    this.#file?.close()
  }

  #write(): void {
    this.#file ??= this.#spill!.openScratch()
    this.#file.write(new Uint8Array(this.#numbers.buffer, 0, 8 * (this.#points - this.#written)), 8 * this.#written)
    this.#written = this.#points
  }
}
