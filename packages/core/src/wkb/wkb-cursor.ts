import { wkbHead } from './wkb.ts'

const FLAG_SRID = 0x20000000

/**
 * Goes through a geometry in WKB or EWKB part by part: `head()` begins a geometry, `count()` reads a number of parts or
 * positions, positions are `stride` bytes each. Nothing is copied.
 *
 * All methods throw a `RangeError` where the bytes are no geometry or end too early.
 */
export class WkbCursor {
  readonly bytes: Uint8Array
  readonly #view: DataView
  /** Where the next byte is read. */
  at = 0
  /** Of the geometry that was begun last: 1 point to 7 collection, above, up to 17, curves and surfaces. */
  code = 0
  hasZ = false
  hasM = false
  /** Bytes of a position. */
  stride = 16
  #little = true

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Begins a geometry; a point is followed by its position, all others by a count. Returns its code. */
  head(): number {
    const head = wkbHead(this.bytes.subarray(this.at))
    if (head === null) throw new RangeError('no geometry')
    this.#little = this.bytes[this.at] === 1
    const hasSrid = (this.#view.getUint32(this.at + 1, this.#little) & FLAG_SRID) !== 0
    this.at += hasSrid ? 9 : 5
    this.code = head.code
    this.hasZ = head.hasZ
    this.hasM = head.hasM
    this.stride = 8 * (2 + Number(head.hasZ) + Number(head.hasM))
    return head.code
  }

  count(): number {
    this.at += 4
    return this.#view.getUint32(this.at - 4, this.#little)
  }

  /** Passes over positions; returns where the first of them is. */
  positions(count: number): number {
    const start = this.at
    this.at += count * this.stride
    if (this.at > this.bytes.length) throw new RangeError('the geometry ends too early')
    return start
  }

  /** The number at a place: `x` of a position at its place, `y` eight bytes later. */
  number(place: number): number {
    return this.#view.getFloat64(place, this.#little)
  }
}
