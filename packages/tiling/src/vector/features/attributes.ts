import type { GrowingBytes } from '../bytes/growing-bytes.ts'
import { VarintReader, writeVarint, writeVarint53 } from '../bytes/varint.ts'
import type { AttributeValue } from './feature-batch.ts'

/**
 * Maximum number of distinct values that an attribute's statistics count, and that they list (tilestats of TileJSON
 * viewers).
 */
const MAX_COUNTED = 1000
const MAX_LISTED = 100
const MAX_LISTED_LENGTH = 256

/** Facts about one attribute over all features. */
export interface AttributeStats {
  readonly attribute: string
  readonly type: 'string' | 'number' | 'boolean' | 'mixed' | 'null'
  /** Distinct values, counted up to 1000. */
  readonly count: number
  readonly values: readonly (string | number | boolean)[]
  readonly min?: number
  readonly max?: number
}

/**
 * Encodes attribute values as Vector Tile `Value` messages and keeps statistics. An entry of the output is: attribute
 * index (varint), hash of the message (4 bytes), its length (varint), the message.
 */
export class AttributeEncoder {
  readonly #columns: Column[]
  readonly #text = new TextEncoder()
  #message = new Uint8Array(1 << 10)

  constructor(names: readonly string[]) {
    this.#columns = names.map((name) => new Column(name))
  }

  /** Appends the entry of one value to `out`; null and numbers that are not finite are left out. */
  write(out: GrowingBytes, attribute: number, value: AttributeValue): void {
    const kept = typeof value === 'bigint' ? fromBigint(value) : value
    if (kept === null || kept === undefined || (typeof kept === 'number' && !Number.isFinite(kept))) return
    this.#columns[attribute]!.add(kept)
    const size = this.#encode(kept)
    out.ensure(size + 14)
    let at = writeVarint(out.bytes, out.at, attribute)
    const hash = hashOf(this.#message, size)
    out.bytes[at++] = hash
    out.bytes[at++] = hash >>> 8
    out.bytes[at++] = hash >>> 16
    out.bytes[at++] = hash >>> 24
    out.at = writeVarint(out.bytes, at, size)
    out.append(this.#message, 0, size)
  }

  /** Statistics of all values written. */
  stats(): AttributeStats[] {
    return this.#columns.map((column) => column.stats())
  }

  #encode(value: string | number | boolean): number {
    const message = this.#message
    if (typeof value === 'boolean') {
      message[0] = 0x38
      message[1] = value ? 1 : 0
      return 2
    }
    if (typeof value === 'number') return encodeNumber(message, value)
    return this.#encodeString(value)
  }

  #encodeString(value: string): number {
    if (this.#message.length < value.length * 3 + 8) this.#message = new Uint8Array(value.length * 6 + 16)
    const message = this.#message
    message[0] = 0x0a
    // Most strings are short and ASCII: their length takes one byte and their code units are their bytes.
    const length = value.length
    if (length < 0x80) {
      let i = 0
      for (; i < length; i++) {
        const unit = value.charCodeAt(i)
        if (unit >= 0x80) break
        message[2 + i] = unit
      }
      if (i === length) {
        message[1] = length
        return length + 2
      }
    }
    const { written } = this.#text.encodeInto(value, message.subarray(6))
    const at = writeVarint(message, 1, written)
    message.copyWithin(at, 6, 6 + written)
    return at + written
  }
}

/** The smallest message that holds the number exactly: an integer, a float, or a double. */
function encodeNumber(message: Uint8Array, value: number): number {
  if (Number.isSafeInteger(value)) {
    if (value >= 0) {
      message[0] = 0x28
      return writeVarint53(message, 1, value)
    }
    message[0] = 0x30
    return value >= -(2 ** 51) ? writeVarint53(message, 1, -2 * value - 1) : encodeDouble(message, value)
  }
  if (Math.fround(value) === value) {
    message[0] = 0x15
    new DataView(message.buffer).setFloat32(1, value, true)
    return 5
  }
  return encodeDouble(message, value)
}

/** The number that a message of `encodeNumber` holds; NaN for one of another type. */
export function readNumber(bytes: Uint8Array, start: number, size: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, size)
  switch (bytes[start]) {
    case 0x28:
      return new VarintReader().open(bytes, start + 1).next()
    case 0x30: {
      const coded = new VarintReader().open(bytes, start + 1).next()
      return coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2
    }
    case 0x15:
      return view.getFloat32(1, true)
    case 0x19:
      return view.getFloat64(1, true)
    default:
      return Number.NaN
  }
}

function encodeDouble(message: Uint8Array, value: number): number {
  message[0] = 0x19
  new DataView(message.buffer).setFloat64(1, value, true)
  return 9
}

/** A number if JavaScript represents it exactly, else its digits, because tiles are read by JavaScript. */
function fromBigint(value: bigint): number | string {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value.toString()
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, size: number): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < size; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash >>> 0
}

class Column {
  readonly #name: string
  readonly #values = new Set<string | number | boolean>()
  readonly #types = new Set<'string' | 'number' | 'boolean'>()
  #last: string | number | boolean | null = null
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY

  constructor(name: string) {
    this.#name = name
  }

  add(value: string | number | boolean): void {
    if (typeof value === 'number') {
      if (value < this.#min) this.#min = value
      if (value > this.#max) this.#max = value
    }
    if (value === this.#last) return
    this.#last = value
    if (this.#types.size < 3) this.#types.add(typeof value as 'string' | 'number' | 'boolean')
    if (this.#values.size < MAX_COUNTED) this.#values.add(value)
  }

  stats(): AttributeStats {
    const [type = 'null'] = this.#types
    const values = [...this.#values].filter((v) => typeof v !== 'string' || v.length <= MAX_LISTED_LENGTH)
    return {
      attribute: this.#name,
      type: this.#types.size > 1 ? 'mixed' : type,
      count: this.#values.size,
      values: values.slice(0, MAX_LISTED),
      ...(this.#min <= this.#max ? { min: this.#min, max: this.#max } : {}),
    }
  }
}

/** Writes a feature id as a varint; returns the position after it. */
export function writeId(bytes: Uint8Array, at: number, id: number | bigint): number {
  if (typeof id === 'number') return writeVarint53(bytes, at, id)
  let rest = id
  while (rest > 0x7fn) {
    bytes[at++] = Number(rest & 0x7fn) | 0x80
    rest >>= 7n
  }
  bytes[at++] = Number(rest)
  return at
}

/** The id if tiles can store it, else null: unsigned 64-bit integers. */
export function tileIdentifier(id: number | bigint | null | undefined): number | bigint | null {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id >= 0 ? id : null
  if (typeof id === 'bigint') return id >= 0n && id < 2n ** 64n ? id : null
  return null
}
