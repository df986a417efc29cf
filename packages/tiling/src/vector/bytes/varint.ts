/** Writes `value` (0 ≤ value < 2^32) as a protobuf varint; returns the position after it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let v = value >>> 0
  while (v > 0x7f) {
    bytes[at++] = (v & 0x7f) | 0x80
    v >>>= 7
  }
  bytes[at++] = v
  return at
}

/** Writes a whole number 0 ≤ value < 2^53 as a varint of up to eight bytes; returns the position after it. */
export function writeVarint53(bytes: Uint8Array, at: number, value: number): number {
  let v = value
  while (v > 0x7fffffff) {
    bytes[at++] = (v % 128) | 0x80
    v = Math.floor(v / 128)
  }
  return writeVarint(bytes, at, v)
}

/** The number of bytes that `writeVarint` needs for `value`. */
export function varintSize(value: number): number {
  const v = value >>> 0
  return v < 0x80 ? 1 : v < 0x4000 ? 2 : v < 0x200000 ? 3 : v < 0x10000000 ? 4 : 5
}

/** Maps a signed 32-bit number to an unsigned one so that small magnitudes stay small. */
export function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0
}

/** The inverse of `zigzag`. */
export function unzigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1)
}

/**
 * Reads varints one after the other. Numbers above 2^53 lose precision; only ids can be that large, and they are copied
 * as bytes.
 */
export class VarintReader {
  bytes: Uint8Array = new Uint8Array(0)
  at = 0

  /** Points the reader at a place; returns itself. */
  open(bytes: Uint8Array, at: number): this {
    this.bytes = bytes
    this.at = at
    return this
  }

  next(): number {
    const bytes = this.bytes
    let byte = bytes[this.at++]!
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    byte = bytes[this.at++]!
    value |= (byte & 0x7f) << 7
    if (byte < 0x80) return value
    byte = bytes[this.at++]!
    value |= (byte & 0x7f) << 14
    if (byte < 0x80) return value
    byte = bytes[this.at++]!
    value |= (byte & 0x7f) << 21
    if (byte < 0x80) return value
    let scale = 0x10000000
    do {
      byte = bytes[this.at++]!
      value += (byte & 0x7f) * scale
      scale *= 128
    } while (byte >= 0x80)
    return value
  }
}
