import { FLAG_M, FLAG_SRID, FLAG_Z, ISO_M, ISO_Z } from './wkb.ts'

/** Dimensions of a position. */
export type Dimensions = 'xy' | 'xyz' | 'xym' | 'xyzm'

/** The code of ISO WKB for a kind of geometry (1 point to 17 triangle) of these dimensions. */
export function isoCode(code: number, dimensions: Dimensions): number {
  return code + (dimensions.includes('z') ? ISO_Z : 0) + (dimensions.includes('m') ? ISO_M : 0)
}

/** Small geometries share a slab, because an array buffer for each costs more; it stays as long as one of them. */
const SLAB_BYTES = 1 << 18
/** Minimum free bytes of a slab for a new geometry: room for a point. */
const LEAST_BYTES = 64

class Slab {
  readonly buffer: ArrayBuffer
  readonly view: DataView
  used = 0

  constructor(size: number) {
    this.buffer = new ArrayBuffer(size)
    this.view = new DataView(this.buffer)
  }
}

/** The slab that no writer is writing into. */
let spare: Slab | null = null
const NO_SLAB = new Slab(0)

/** Writes little-endian WKB (OGC 06-103r4, section 8), one geometry after the other; EWKB with a reference system. */
export class WkbWriter {
  readonly #dimensions: Dimensions
  readonly #srid: number
  readonly #flags: number
  #slab = NO_SLAB
  #view = NO_SLAB.view
  #start = 0
  #at = 0
  #end = 0

  /** @param srid of EWKB; 0 for ISO WKB, which has none */
  constructor(dimensions: Dimensions, srid = 0) {
    this.#dimensions = dimensions
    this.#srid = srid
    const flags = (dimensions.includes('z') ? FLAG_Z : 0) + (dimensions.includes('m') ? FLAG_M : 0)
    this.#flags = srid === 0 ? isoCode(0, dimensions) : flags
  }

  /** Whether positions are of two dimensions. */
  get isFlat(): boolean {
    return this.#dimensions === 'xy'
  }

  /** Returns the written bytes and empties the writer. The array buffer may be shared with other geometries. */
  take(): Uint8Array<ArrayBuffer> {
    const slab = this.#slab
    const bytes = new Uint8Array(slab.buffer, this.#start, this.#at - this.#start)
    slab.used = this.#at
    if (slab !== NO_SLAB) spare = slab
    this.#slab = NO_SLAB
    this.#start = this.#at = this.#end = 0
    return bytes
  }

  /** Begins a geometry; the position of a point, or the count of other types, follows. */
  head(code: number): void {
    this.#reserve(9)
    const hasSrid = this.#srid !== 0 && this.#at === this.#start
    this.#view.setUint8(this.#at, 1)
    this.#view.setUint32(this.#at + 1, code + this.#flags + (hasSrid ? FLAG_SRID : 0), true)
    this.#at += 5
    if (hasSrid) this.count(this.#srid)
  }

  count(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  /** Reserves space for a count that is not known yet. Returns its offset for {@link setCount}. */
  openCount(): number {
    this.count(0)
    return this.#at - 4 - this.#start
  }

  setCount(at: number, value: number): void {
    this.#view.setUint32(this.#start + at, value, true)
  }

  /** Writes a position; missing dimensions are 0. An empty point has NaN in all dimensions. */
  position(numbers: ArrayLike<number>): void {
    const { length } = this.#dimensions
    this.#reserve(8 * length)
    for (let i = 0; i < length; i++) this.#view.setFloat64(this.#at + 8 * i, numbers[i] ?? 0, true)
    this.#at += 8 * length
  }

  /** A position of two dimensions. */
  xy(x: number, y: number): void {
    if (this.#at + 16 > this.#end) this.#grow(16)
    const view = this.#view
    const at = this.#at
    view.setFloat64(at, x, true)
    view.setFloat64(at + 8, y, true)
    this.#at = at + 16
  }

  /** Writes two-dimensional positions `from` to `to` (excluded) from columns of integers; `perUnit` are one unit. */
  columns(x: Int32Array, y: Int32Array, from: number, to: number, perUnit: number): void {
    this.#reserve(16 * (to - from))
    const view = this.#view
    let at = this.#at
    for (let i = from; i < to; i++, at += 16) {
      view.setFloat64(at, x[i]! / perUnit, true)
      view.setFloat64(at + 8, y[i]! / perUnit, true)
    }
    this.#at = at
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes > this.#end) this.#grow(bytes)
  }

  #grow(bytes: number): void {
    const written = this.#at - this.#start
    let slab = written === 0 ? spare : null
    if (slab !== null && slab.used + bytes + LEAST_BYTES <= slab.buffer.byteLength) spare = null
    else slab = new Slab(Math.max(SLAB_BYTES, 2 * (written + bytes)))
    const start = slab.used
    if (written > 0) new Uint8Array(slab.buffer).set(new Uint8Array(this.#slab.buffer, this.#start, written), start)
    this.#slab = slab
    this.#view = slab.view
    this.#start = start
    this.#at = start + written
    this.#end = slab.buffer.byteLength
  }
}
