import { WkbCursor } from '@terrane/core'

const POINT = 1
const LINES = new Set([2, 8])
const RINGED = new Set([3, 17])
/** Types of curves, which may extend beyond their positions. */
const FIRST_CURVE = 8
const LAST_CURVE = 14

/** Common properties of an export's geometries, gathered while they pass. */
export class ShapeFacts {
  readonly #types = new Set<number>()
  readonly #all: MutableBox = emptyBox()
  #box: MutableBox = emptyBox()
  #hasCurves = false
  #hasNulls = false
  #withEmptyParts = 0

  /** ISO types. */
  get types(): readonly number[] {
    return [...this.#types]
  }

  get hasNulls(): boolean {
    return this.#hasNulls
  }

  /** Number of geometries with an empty part beside other parts. */
  get withEmptyParts(): number {
    return this.#withEmptyParts
  }

  /** West, south, east, north; null without positions, or with curves, which may extend beyond their positions. */
  get bounds(): Box | null {
    return this.#hasCurves || this.#all[0] > this.#all[2] ? null : this.#all
  }

  /** Adds a geometry; returns its box, or null without positions. @param wkb ISO WKB or EWKB */
  add(wkb: Uint8Array | null): Box | null {
    if (wkb === null) {
      this.#hasNulls = true
      return null
    }
    const box = (this.#box = emptyBox())
    const { parts, empty } = this.#geometry(new WkbCursor(wkb), true)
    if (empty > 0 && empty < parts) this.#withEmptyParts++
    if (box[0] > box[2]) return null
    extend(this.#all, box[0], box[1])
    extend(this.#all, box[2], box[3])
    return box
  }

  /** Reads a geometry and counts its parts: points, lines and polygons, also within collections. */
  #geometry(cursor: WkbCursor, isWhole: boolean): Parts {
    const code = cursor.head()
    if (isWhole) this.#types.add(code + (cursor.hasZ ? 1000 : 0) + (cursor.hasM ? 2000 : 0))
    if (code >= FIRST_CURVE && code <= LAST_CURVE) this.#hasCurves = true
    if (code === POINT) return this.#positions(cursor, 1) ? WHOLE : EMPTY
    const count = cursor.count()
    if (LINES.has(code)) return this.#positions(cursor, count) ? WHOLE : EMPTY
    if (RINGED.has(code)) {
      for (let i = 0; i < count; i++) this.#positions(cursor, cursor.count())
      return count > 0 ? WHOLE : EMPTY
    }
    let [parts, empty] = [0, 0]
    for (let i = 0; i < count; i++) {
      const of = this.#geometry(cursor, false)
      parts += of.parts
      empty += of.empty
    }
    return count > 0 ? { parts, empty } : EMPTY
  }

  /** Reads positions; returns whether one is not empty. */
  #positions(cursor: WkbCursor, count: number): boolean {
    let at = cursor.positions(count)
    let found = false
    for (let i = 0; i < count; i++, at += cursor.stride) {
      const x = cursor.number(at)
      const y = cursor.number(at + 8)
      extend(this.#box, x, y)
      if (!Number.isNaN(x)) found = true
    }
    return found
  }
}

/** West, south, east, north. */
export type Box = readonly [number, number, number, number]
type MutableBox = [number, number, number, number]

function emptyBox(): MutableBox {
  return [Infinity, Infinity, -Infinity, -Infinity]
}

function extend(box: MutableBox, x: number, y: number): void {
  // An empty point has NaN coordinates, for which all comparisons are false.
  if (x < box[0]) box[0] = x
  if (y < box[1]) box[1] = y
  if (x > box[2]) box[2] = x
  if (y > box[3]) box[3] = y
}

interface Parts {
  readonly parts: number
  readonly empty: number
}

const WHOLE: Parts = { parts: 1, empty: 0 }
const EMPTY: Parts = { parts: 1, empty: 1 }
