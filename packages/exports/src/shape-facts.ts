import { WkbCursor } from '@terrane/core'

const POINT = 1
const LINES = new Set([2, 8])
const RINGED = new Set([3, 17])
/** Curves reach beyond the positions that they are given by. */
const FIRST_CURVE = 8
const LAST_CURVE = 14

/** What the geometries of an export have in common, gathered while they pass. */
export class ShapeFacts {
  readonly #types = new Set<number>()
  #west = Infinity
  #south = Infinity
  #east = -Infinity
  #north = -Infinity
  #hasCurves = false
  #hasNulls = false

  /** ISO types. */
  get types(): readonly number[] {
    return [...this.#types]
  }

  get hasNulls(): boolean {
    return this.#hasNulls
  }

  /** West, south, east, north; null where there is no position, or where curves may reach beyond theirs. */
  get bounds(): readonly [number, number, number, number] | null {
    if (this.#hasCurves || this.#west > this.#east) return null
    return [this.#west, this.#south, this.#east, this.#north]
  }

  /** @param wkb ISO WKB or EWKB */
  add(wkb: Uint8Array | null): void {
    if (wkb === null) {
      this.#hasNulls = true
      return
    }
    this.#geometry(new WkbCursor(wkb), true)
  }

  #geometry(cursor: WkbCursor, isWhole: boolean): void {
    const code = cursor.head()
    if (isWhole) this.#types.add(code + (cursor.hasZ ? 1000 : 0) + (cursor.hasM ? 2000 : 0))
    if (code >= FIRST_CURVE && code <= LAST_CURVE) this.#hasCurves = true
    if (code === POINT) this.#positions(cursor, 1)
    else if (LINES.has(code)) this.#positions(cursor, cursor.count())
    else {
      const count = cursor.count()
      for (let i = 0; i < count; i++) {
        if (RINGED.has(code)) this.#positions(cursor, cursor.count())
        else this.#geometry(cursor, false)
      }
    }
  }

  #positions(cursor: WkbCursor, count: number): void {
    let at = cursor.positions(count)
    for (let i = 0; i < count; i++, at += cursor.stride) {
      const x = cursor.number(at)
      const y = cursor.number(at + 8)
      // The position of an empty point is no number, and smaller than nothing.
      if (x < this.#west) this.#west = x
      if (x > this.#east) this.#east = x
      if (y < this.#south) this.#south = y
      if (y > this.#north) this.#north = y
    }
  }
}
