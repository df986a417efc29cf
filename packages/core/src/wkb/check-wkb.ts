import { wkbHead } from './wkb.ts'

/** What keeps a geometry out of PostGIS. */
export type WkbProblem = 'damaged' | 'short line' | 'open ring' | 'short ring' | 'odd part'

const POINT = 1
const LINES = new Set([2, 8])
const RINGED = new Set([3, 17])
/** Collections of one kind. */
const MULTIS = new Set([4, 5, 6])
const TO_SINGLE = 3
const LEAST_ON_LINE = 2
const LEAST_ON_RING = 4
const DEEPEST = 32

/**
 * Goes through a geometry in WKB or EWKB and says what PostGIS would refuse it for: a line of one position, a ring that is
 * not closed or has fewer than four, bytes that are missing. Null when there is nothing.
 */
export function wkbProblem(wkb: Uint8Array): WkbProblem | null {
  const walk = new Walk(wkb)
  try {
    return walk.geometry(0)
  } catch (error) {
    if (error instanceof RangeError) return 'damaged'
    throw error
  }
}

class Walk {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  geometry(depth: number): WkbProblem | null {
    const head = wkbHead(this.#bytes.subarray(this.#at))
    if (head === null || depth > DEEPEST) return 'damaged'
    const little = this.#view.getUint8(this.#at) === 1
    const hasSrid = (this.#view.getUint32(this.#at + 1, little) & 0x20000000) !== 0
    this.#at += hasSrid ? 9 : 5
    const stride = 8 * (2 + Number(head.hasZ) + Number(head.hasM))
    const { code } = head
    if (code === POINT) return this.#skip(stride)
    const count = this.#count(little)
    if (LINES.has(code)) return this.#skip(count * stride) ?? (count > 0 && count < LEAST_ON_LINE ? 'short line' : null)
    for (let i = 0; i < count; i++) {
      if (MULTIS.has(code) && wkbHead(this.#bytes.subarray(this.#at))?.code !== code - TO_SINGLE) return 'odd part'
      const problem = RINGED.has(code) ? this.#ring(little, stride) : this.geometry(depth + 1)
      if (problem !== null) return problem
    }
    return null
  }

  #ring(little: boolean, stride: number): WkbProblem | null {
    const count = this.#count(little)
    const start = this.#at
    const problem = this.#skip(count * stride)
    if (problem !== null) return problem
    if (count === 0) return 'short ring'
    const last = start + (count - 1) * stride
    for (let i = 0; i < 16; i++) if (this.#bytes[start + i] !== this.#bytes[last + i]) return 'open ring'
    return count < LEAST_ON_RING ? 'short ring' : null
  }

  #count(little: boolean): number {
    this.#at += 4
    return this.#view.getUint32(this.#at - 4, little)
  }

  #skip(bytes: number): WkbProblem | null {
    this.#at += bytes
    return this.#at > this.#bytes.length ? 'damaged' : null
  }
}
