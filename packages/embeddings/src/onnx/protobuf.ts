/**
 * Writes the wire format of Protocol Buffers: varints, length-delimited fields and fixed 32-bit floats, in the order of
 * the calls, so that the same calls give the same bytes.
 *
 * Source: Protocol Buffers encoding guide; only the wire types that ONNX uses.
 */
export class ProtobufWriter {
  #bytes = new Uint8Array(1024)
  #length = 0

  /** A non-negative integer below 2^53. */
  int(field: number, value: number): this {
    if (!Number.isSafeInteger(value)) throw new RangeError(`Field ${field} needs a safe integer, got ${value}.`)
    this.#varint(field * 8)
    if (value >= 0) this.#varint(value)
    else this.#negativeVarint(value)
    return this
  }

  /** One 32-bit float, little-endian. */
  float(field: number, value: number): this {
    this.#varint(field * 8 + 5)
    this.#reserve(4)
    new DataView(this.#bytes.buffer).setFloat32(this.#length, value, true)
    this.#length += 4
    return this
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value))
  }

  bytes(field: number, value: Uint8Array): this {
    this.#varint(field * 8 + 2)
    this.#varint(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#length)
    this.#length += value.length
    return this
  }

  /** A nested message. */
  message(field: number, write: (message: ProtobufWriter) => void): this {
    const message = new ProtobufWriter()
    write(message)
    return this.bytes(field, message.finish())
  }

  /** The bytes written so far; a view that the next write may move. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #varint(value: number): void {
    this.#reserve(10)
    let rest = value
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest % 128) + 128
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#length++] = rest
  }

  /** Two's complement in 64 bits: always ten bytes. */
  #negativeVarint(value: number): void {
    this.#reserve(10)
    let rest = BigInt.asUintN(64, BigInt(value))
    for (let i = 0; i < 9; i++) {
      this.#bytes[this.#length++] = Number(rest & 127n) + 128
      rest >>= 7n
    }
    this.#bytes[this.#length++] = Number(rest)
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}
