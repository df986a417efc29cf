const ISO_Z = 1000
const ISO_M = 2000

/** What a position consists of. */
export type Dimensions = 'xy' | 'xyz' | 'xym' | 'xyzm'

/** The code of ISO WKB for a kind of geometry (1 point to 17 triangle) of these dimensions. */
export function isoCode(code: number, dimensions: Dimensions): number {
  return code + (dimensions.includes('z') ? ISO_Z : 0) + (dimensions.includes('m') ? ISO_M : 0)
}

/** Writes ISO WKB (OGC 06-103r4, section 8), little-endian, part by part into a buffer that grows. */
export class WkbWriter {
  readonly #dimensions: Dimensions
  #bytes = new Uint8Array(512)
  #view = new DataView(this.#bytes.buffer)
  #at = 0

  constructor(dimensions: Dimensions) {
    this.#dimensions = dimensions
  }

  /** What was written, as bytes of their own; the writer is empty then. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes.slice(0, this.#at)
    this.#at = 0
    return bytes
  }

  /** Begins a geometry; a point is followed by its position, all others by a count. */
  head(code: number): void {
    this.#reserve(5)
    this.#bytes[this.#at] = 1
    this.#view.setUint32(this.#at + 1, isoCode(code, this.#dimensions), true)
    this.#at += 5
  }

  count(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  /** Leaves room for a count that is not known yet. Returns where, for {@link setCount}. */
  openCount(): number {
    this.count(0)
    return this.#at - 4
  }

  setCount(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
  }

  /** A position; numbers that it lacks are 0. That of an empty point is NaN throughout. */
  position(numbers: ArrayLike<number>): void {
    const { length } = this.#dimensions
    this.#reserve(8 * length)
    for (let i = 0; i < length; i++) this.#view.setFloat64(this.#at + 8 * i, numbers[i] ?? 0, true)
    this.#at += 8 * length
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = new Uint8Array(this.#bytes.length * 2 + bytes)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}
