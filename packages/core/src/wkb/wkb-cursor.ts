import { FLAG_M, FLAG_SRID, FLAG_Z, ISO_M, ISO_Z, LAST_CODE, TYPE_BITS } from './wkb.ts'

/** Bytes that are no geometry. */
export class WkbError extends RangeError {
  /** Predicate of the geometry, such as `it ends too early`. */
  readonly problem: string

  constructor(problem: string) {
    super(`The geometry cannot be read: ${problem}`)
    this.name = 'WkbError'
    this.problem = problem
  }
}

/**
 * Goes through geometries in WKB or EWKB part by part: `head()` begins a geometry, `count()` reads a number of parts or
 * positions, positions are `stride` bytes each. Nothing is copied, and one cursor can be opened for many geometries.
 *
 * All methods throw a {@link WkbError} when the bytes are no geometry or end too early.
 */
export class WkbCursor {
  /** Offset of the next byte. */
  at = 0
  /** Type of the geometry that was begun last: 1 point to 7 collection, 8 to 17 curves and surfaces. */
  code = 0
  hasZ = false
  hasM = false
  /** Bytes of a position. */
  stride = 16
  /** The last SRID read; 0 for none. */
  srid = 0
  /** The following numbers are little-endian. */
  little = true
  view: DataView
  #end = 0

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#end = bytes.length
  }

  /** Goes to the geometry in `bytes[start, end)`; offsets count from the beginning of the bytes. */
  open(bytes: Uint8Array, start: number, end: number): void {
    const { view } = this
    if (view.buffer !== bytes.buffer || view.byteOffset !== bytes.byteOffset || view.byteLength !== bytes.byteLength)
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = start
    this.#end = end
    this.srid = 0
  }

  get isAtEnd(): boolean {
    return this.at === this.#end
  }

  /** Reads a header and returns the type; the position of a point, or the count of other types, follows. */
  head(): number {
    this.#need(5)
    const order = this.view.getUint8(this.at)
    if (order > 1) throw new WkbError(`its byte order is ${order}, not 0 or 1`)
    this.little = order === 1
    const type = this.view.getUint32(this.at + 1, this.little)
    this.at += 5
    if (type & FLAG_SRID) this.srid = this.count()
    const iso = type & TYPE_BITS
    const code = iso % ISO_Z
    if (code < 1 || code > LAST_CODE || iso >= ISO_Z + ISO_M + ISO_Z) throw new WkbError(`its type is ${iso}`)
    this.code = code
    this.hasZ = (type & FLAG_Z) !== 0 || (iso >= ISO_Z && iso < ISO_M) || iso >= ISO_Z + ISO_M
    this.hasM = (type & FLAG_M) !== 0 || iso >= ISO_M
    this.stride = 16 + (this.hasZ ? 8 : 0) + (this.hasM ? 8 : 0)
    return code
  }

  /** A number of items of at least `size` bytes; a count beyond the remaining bytes throws before any allocation. */
  count(size = 0): number {
    this.#need(4)
    const count = this.view.getUint32(this.at, this.little)
    this.at += 4
    this.#need(count * size)
    return count
  }

  /** Skips positions; returns the offset of the first one. */
  positions(count: number): number {
    this.#need(count * this.stride)
    const start = this.at
    this.at += count * this.stride
    return start
  }

  /** The number at an offset: `x` of a position is at its offset, `y` eight bytes later. */
  number(place: number): number {
    return this.view.getFloat64(place, this.little)
  }

  #need(bytes: number): void {
    if (this.at + bytes > this.#end) throw new WkbError('it ends too early')
  }
}
