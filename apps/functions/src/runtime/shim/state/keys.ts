/** A part of a key of Deno KV. */
export type KeyPart = Uint8Array | string | number | bigint | boolean
export type Key = readonly KeyPart[]

const MAX_BYTES = 2048
const BYTES = 0x01
const TEXT = 0x02
/**
 * Whole numbers of n bytes have the tag 0x14 + n, negative ones 0x14 - n. Numbers of more than 8 bytes have n = 9 and
 * state their size.
 */
const ZERO = 0x14
const DOUBLE = 0x21
const FALSE = 0x26
const TRUE = 0x27

/**
 * Bytes of a key, which sort as its parts do: byte arrays, texts, whole numbers (`bigint`), numbers, false, true. The layout is that
 * of FoundationDB's tuples, as in Deno's own database.
 *
 * @throws TypeError for parts of other types, and keys that are too long
 */
export function encodeKey(key: Key, mayBeEmpty = false): Uint8Array {
  if (!Array.isArray(key)) throw new TypeError('a key is an array')
  if (key.length === 0 && !mayBeEmpty) throw new TypeError('Key cannot be empty')
  const bytes: number[] = []
  for (const part of key as Key) writePart(part, bytes)
  if (bytes.length > MAX_BYTES) throw new TypeError(`Key too large (max ${MAX_BYTES} bytes)`)
  return Uint8Array.from(bytes)
}

function writePart(part: KeyPart, bytes: number[]): void {
  if (part instanceof Uint8Array) return writeEscaped(BYTES, part, bytes)
  switch (typeof part) {
    case 'string':
      return writeEscaped(TEXT, new TextEncoder().encode(part), bytes)
    case 'bigint':
      return writeInteger(part, bytes)
    case 'number':
      return writeDouble(part, bytes)
    case 'boolean':
      bytes.push(part ? TRUE : FALSE)
      return
    default:
      throw new TypeError('a part of a key is a Uint8Array, string, number, bigint or boolean')
  }
}

/** Zero bytes are followed by 0xff, and a zero byte ends the part. */
function writeEscaped(tag: number, part: Uint8Array, bytes: number[]): void {
  if (part.length > MAX_BYTES) throw new TypeError(`Key too large (max ${MAX_BYTES} bytes)`)
  bytes.push(tag)
  for (const byte of part) {
    bytes.push(byte)
    if (byte === 0) bytes.push(0xff)
  }
  bytes.push(0)
}

function writeInteger(part: bigint, bytes: number[]): void {
  const isNegative = part < 0n
  let rest = isNegative ? -part : part
  const digits: number[] = []
  for (; rest > 0n; rest >>= 8n) {
    digits.unshift(Number(rest & 0xffn))
    if (digits.length > 255) throw new TypeError('a whole number of a key has at most 255 bytes')
  }
  const size = digits.length
  const flip = (byte: number) => (isNegative ? byte ^ 0xff : byte)
  bytes.push(isNegative ? ZERO - Math.min(size, 9) : ZERO + Math.min(size, 9))
  if (size > 8) bytes.push(flip(size))
  for (const digit of digits) bytes.push(flip(digit))
}

/** Writes a double so that its bytes sort like numbers. */
function writeDouble(part: number, bytes: number[]): void {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, part)
  const isNegative = view.getUint8(0) >= 0x80
  bytes.push(DOUBLE)
  for (let at = 0; at < 8; at++) {
    const byte = view.getUint8(at)
    bytes.push(isNegative ? byte ^ 0xff : at === 0 ? byte | 0x80 : byte)
  }
}

/** The key in bytes of {@link encodeKey}. */
export function decodeKey(bytes: Uint8Array): KeyPart[] {
  const parts: KeyPart[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at++]!
    if (tag === BYTES || tag === TEXT) {
      const part: number[] = []
      for (; bytes[at] !== 0 || bytes[at + 1] === 0xff; at++) {
        part.push(bytes[at]!)
        if (bytes[at] === 0) at++
      }
      at++
      const read = Uint8Array.from(part)
      parts.push(tag === TEXT ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(read) : read)
    } else if (tag === DOUBLE) {
      parts.push(readDouble(bytes.subarray(at, at + 8)))
      at += 8
    } else if (tag === FALSE || tag === TRUE) parts.push(tag === TRUE)
    else {
      const isNegative = tag < ZERO
      const flip = isNegative ? 0xff : 0
      let size = Math.abs(tag - ZERO)
      if (size === 9) size = bytes[at++]! ^ flip
      let value = 0n
      for (const end = at + size; at < end; at++) value = (value << 8n) | BigInt(bytes[at]! ^ flip)
      parts.push(isNegative ? -value : value)
    }
  }
  return parts
}

function readDouble(bytes: Uint8Array): number {
  const isNegative = bytes[0]! < 0x80
  const view = new DataView(new ArrayBuffer(8))
  for (const [at, byte] of bytes.entries()) view.setUint8(at, isNegative ? byte ^ 0xff : at === 0 ? byte & 0x7f : byte)
  return view.getFloat64(0)
}
