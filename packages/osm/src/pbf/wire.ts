import { osmMalformed } from '../errors.ts'

/** Protocol Buffers wire types. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const FIXED32 = 5

const TWO_28 = 2 ** 28

/** Walks the fields of one protobuf message between two offsets; never reads past its end. */
export class Wire {
  readonly bytes: Uint8Array
  pos: number
  readonly end: number
  /** Number and wire type of the field that {@link next} found. */
  field = 0
  type = 0

  constructor(bytes: Uint8Array, pos = 0, end = bytes.length) {
    this.bytes = bytes
    this.pos = pos
    this.end = end
  }

  /** Reads the key of the next field; false at the end of the message. */
  next(): boolean {
    if (this.pos >= this.end) {
      if (this.pos > this.end) throw osmMalformed({ what: 'a protobuf field runs past its message' })
      return false
    }
    const first = this.bytes[this.pos]!
    const key = first < 128 ? first : this.uint32()
    if (first < 128) this.pos++
    this.field = key >>> 3
    this.type = key & 7
    return true
  }

  /** True when the current field is `field` of wire type `type`; a known field of another type is an error. */
  is(field: number, type: number): boolean {
    if (this.field !== field) return false
    if (this.type !== type)
      throw osmMalformed({ what: `protobuf field ${field} has wire type ${this.type}, not ${type}` })
    return true
  }

  uint32(): number {
    const value = this.int64()
    if (value < 0 || value > 0xffffffff) throw osmMalformed({ what: 'a protobuf length is beyond 32 bits' })
    return value
  }

  /** A two's complement 64-bit varint, as int32, int64 and enums are written. */
  int64(): number {
    const start = this.pos
    let pos = start
    while (pos < this.end && this.bytes[pos]! >= 128) pos++
    this.pos = pos + 1
    return readSignedVarint(this.bytes, start, Math.min(pos + 1, this.end))
  }

  /** The end offset of a length-delimited field; `pos` then is its start. */
  lengthDelimitedEnd(): number {
    const first = this.bytes[this.pos]!
    const length = first < 128 ? first : this.uint32()
    if (first < 128) this.pos++
    const end = this.pos + length
    if (end > this.end) throw osmMalformed({ what: 'a protobuf field runs past its message' })
    return end
  }

  /** Returns a nested message, and skips it. */
  message(): Wire {
    const end = this.lengthDelimitedEnd()
    const inner = new Wire(this.bytes, this.pos, end)
    this.pos = end
    return inner
  }

  text(): string {
    const end = this.lengthDelimitedEnd()
    const { buffer, byteOffset } = this.bytes
    const text = Buffer.from(buffer, byteOffset + this.pos, end - this.pos).toString('utf8')
    this.pos = end
    return text
  }

  /** Steps over the value of the current field. */
  skip(): void {
    if (this.type === VARINT) this.int64()
    else if (this.type === BYTES) this.pos = this.lengthDelimitedEnd()
    else if (this.type === FIXED64) this.pos += 8
    else if (this.type === FIXED32) this.pos += 4
    else throw osmMalformed({ what: `protobuf wire type ${this.type} is unknown` })
  }
}

/** The two's complement varint that stands between two offsets, exact up to 2^53. */
export function readSignedVarint(bytes: Uint8Array, pos: number, end: number): number {
  if (end - pos > 10 || end === pos || bytes[end - 1]! >= 128) throw endless()
  let low = 0
  let middle = 0
  let high = 0
  for (let i = 0; i < end - pos; i++) {
    const bits = bytes[pos + i]! & 127
    if (i < 4) low |= bits << (7 * i)
    else if (i < 8) middle |= bits << (7 * i - 28)
    else high |= bits << (7 * i - 56)
  }
  // Minus (not x) minus 1 keeps small negative numbers exact.
  if (high & 0x80) return -(((~high & 0xff) * TWO_28 + (~middle & 0xfffffff)) * TWO_28 + (~low & 0xfffffff)) - 1
  return ((high & 0xff) * TWO_28 + middle) * TWO_28 + low
}

/** Counts the varints in a packed field: one per byte without the continuation bit. */
export function countVarints(bytes: Uint8Array, pos: number, end: number): number {
  let count = 0
  for (let i = pos; i < end; i++) count += (bytes[i]! >>> 7) ^ 1
  return count
}

/**
 * Decodes a packed field of zig-zag deltas into running sums, from row `at` of `out` on; returns the row after the last.
 * @throws OSM_MALFORMED on a varint that does not end and on a sum beyond 2^53
 */
export function readDeltas(bytes: Uint8Array, pos: number, end: number, out: Float64Array, at: number): number {
  let sum = 0
  while (pos < end) {
    let byte = bytes[pos++]!
    let low = byte & 127
    if (byte >= 128) {
      byte = bytes[pos++]!
      low |= (byte & 127) << 7
      if (byte >= 128) {
        byte = bytes[pos++]!
        low |= (byte & 127) << 14
        if (byte >= 128) {
          byte = bytes[pos++]!
          low |= (byte & 127) << 21
          if (byte >= 128) {
            let middle = 0
            let high = 0
            let shift = 0
            do {
              if (pos >= end || shift > 35) throw endless()
              byte = bytes[pos++]!
              if (shift < 28) middle |= (byte & 127) << shift
              else high |= (byte & 127) << (shift - 28)
              shift += 7
            } while (byte >= 128)
            const half = (low >>> 1) + ((high & 0xff) * TWO_28 + middle) * 2 ** 27
            sum += low & 1 ? -half - 1 : half
            if (!Number.isSafeInteger(sum)) throw osmMalformed({ what: 'an id or coordinate is beyond 2^53' })
            out[at++] = sum
            continue
          }
        }
      }
    }
    sum += (low >>> 1) ^ -(low & 1)
    out[at++] = sum
  }
  if (pos !== end) throw endless()
  return at
}

/**
 * Like {@link readDeltas} for the common case: deltas of at most 35 bits whose sums stay within `limit`. Returns the row
 * after the last, or -1 at the first number that is not so.
 */
export function readSmallDeltas(
  bytes: Uint8Array,
  pos: number,
  end: number,
  out: Int32Array,
  at: number,
  limit: number,
): number {
  let sum = 0
  while (pos < end) {
    let byte = bytes[pos++]!
    let bits = byte & 127
    if (byte >= 128) {
      byte = bytes[pos++]!
      bits |= (byte & 127) << 7
      if (byte >= 128) {
        byte = bytes[pos++]!
        bits |= (byte & 127) << 14
        if (byte >= 128) {
          byte = bytes[pos++]!
          bits |= (byte & 127) << 21
          if (byte >= 128) {
            byte = bytes[pos++]!
            if (byte >= 128) return -1
            const half = (bits >>> 1) + byte * 2 ** 27
            sum += bits & 1 ? -half - 1 : half
            if (sum > limit || sum < -limit) return -1
            out[at++] = sum
            continue
          }
        }
      }
    }
    sum += (bits >>> 1) ^ -(bits & 1)
    if (sum > limit || sum < -limit) return -1
    out[at++] = sum
  }
  return pos === end ? at : -1
}

/** Decodes packed unsigned varints into `out` from row `at`, their low 32 bits; returns the row after the last. */
export function readUnsigned(bytes: Uint8Array, pos: number, end: number, out: Uint32Array, at: number): number {
  while (pos < end) {
    let byte = bytes[pos++]!
    let value = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      if (pos >= end || shift > 63) throw endless()
      byte = bytes[pos++]!
      if (shift < 32) value |= (byte & 127) << shift
    }
    out[at++] = value
  }
  return at
}

function endless(): Error {
  return osmMalformed({ what: 'a protobuf number does not end' })
}
