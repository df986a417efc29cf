import { isoCode, WkbWriter, type Dimensions } from '@terrane/core/wkb'
import type { Table } from './table.ts'

// Slots of a geometry.
const ENDS = 0
const XY = 1
const Z = 2
const M = 3
const TYPE = 6
const PARTS = 7

const POINT = 1
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE = 5
const MULTI_POLYGON = 6
const TRIANGLE = 17
/** Types that are a list of positions: line and arc. */
const LINES = new Set([2, 8])
const RINGS = new Set([POLYGON, TRIANGLE])
/** Default type of the parts of a geometry. */
const PART_OF: Readonly<Record<number, number>> = { [MULTI_POLYGON]: POLYGON, 15: POLYGON, 16: TRIANGLE }
const MOST_DEPTH = 32

/** Makes ISO WKB of geometries of FlatGeobuf, which has positions, heights and measures in separate vectors. */
export class GeometryWriter {
  readonly #dimensions: Dimensions
  readonly #writer: WkbWriter
  readonly #position: number[]
  /**
   * Positions that may still be written; it limits the output for damaged files whose offsets repeat the same bytes.
   */
  #left = 0

  constructor(dimensions: Dimensions) {
    this.#dimensions = dimensions
    this.#writer = new WkbWriter(dimensions)
    this.#position = Array.from({ length: dimensions.length }, () => 0)
  }

  /** ISO WKB code of a geometry; `type` is the common type of its layer, or 0. */
  codeOf(geometry: Table, type: number): number {
    const code = type || geometry.byte(TYPE)
    if (code === 0 || code > TRIANGLE) throw new RangeError(`a geometry is of type ${code}`)
    return isoCode(code, this.#dimensions)
  }

  /**
   * @param type common type of its layer, or 0
   * @param bytes size of the feature, which limits the size of the result
   * @throws RangeError for invalid bytes
   */
  write(geometry: Table, type: number, bytes: number): Uint8Array {
    this.#left = bytes / 8
    this.#write(geometry, type || geometry.byte(TYPE), 0)
    return this.#writer.take()
  }

  #write(geometry: Table, code: number, depth: number): void {
    if (code === 0 || code > TRIANGLE || depth > MOST_DEPTH) throw new RangeError(`a geometry is of type ${code}`)
    const { length } = geometry.vector(XY, 8)
    const positions = length >> 1
    this.#spend(1)
    this.#writer.head(code)
    if (code === POINT) this.#positions(geometry, 0, 1, positions === 0)
    else if (code === MULTI_POINT) {
      this.#writer.count(positions)
      for (let i = 0; i < positions; i++) {
        this.#writer.head(POINT)
        this.#positions(geometry, i, i + 1, false)
      }
    } else if (LINES.has(code)) {
      this.#writer.count(positions)
      this.#positions(geometry, 0, positions, false)
    } else if (RINGS.has(code) || code === MULTI_LINE) this.#sequences(geometry, code === MULTI_LINE, positions)
    else this.#parts(geometry, code, depth)
  }

  /** Rings of a polygon, or lines; without ends all positions are one sequence. */
  #sequences(geometry: Table, areLines: boolean, positions: number): void {
    const { at, length } = geometry.vector(ENDS, 4)
    const ends = length > 0 ? length : positions > 0 ? 1 : 0
    this.#writer.count(ends)
    let from = 0
    for (let i = 0; i < ends; i++) {
      const to = length > 0 ? geometry.view.getUint32(at + 4 * i, true) : positions
      if (to < from || to > positions) throw new RangeError('a part ends where there is no position')
      if (areLines) this.#writer.head(2)
      this.#writer.count(to - from)
      this.#positions(geometry, from, to, false)
      from = to
    }
  }

  #parts(geometry: Table, code: number, depth: number): void {
    const { length } = geometry.vector(PARTS, 4)
    this.#writer.count(length)
    for (const part of geometry.tables(PARTS)) this.#write(part, part.byte(TYPE) || (PART_OF[code] ?? 0), depth + 1)
  }

  #positions(geometry: Table, from: number, to: number, isEmpty: boolean): void {
    this.#spend(to - from)
    const { view } = geometry
    const xy = geometry.vector(XY, 8).at
    if (this.#dimensions === 'xy' && !isEmpty) {
      for (let i = from; i < to; i++) {
        this.#writer.xy(view.getFloat64(xy + 16 * i, true), view.getFloat64(xy + 16 * i + 8, true))
      }
      return
    }
    const others = Array.from(this.#dimensions.slice(2), (letter) => geometry.vector(letter === 'z' ? Z : M, 8))
    const position = this.#position
    for (let i = from; i < to; i++) {
      position[0] = isEmpty ? Number.NaN : view.getFloat64(xy + 16 * i, true)
      position[1] = isEmpty ? Number.NaN : view.getFloat64(xy + 16 * i + 8, true)
      for (const [d, { at, length }] of others.entries()) {
        position[2 + d] = isEmpty ? Number.NaN : i < length ? view.getFloat64(at + 8 * i, true) : 0
      }
      this.#writer.position(position)
    }
  }

  #spend(positions: number): void {
    this.#left -= positions
    if (this.#left < 0) throw new RangeError('a geometry is larger than its feature')
  }
}
