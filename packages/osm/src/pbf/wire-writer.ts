import { BYTES, VARINT } from './wire.ts'

/** Builds one protobuf message, or the content of a packed field. */
export class WireWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  /** A field of a 64-bit integer in two's complement. */
  varint(field: number, value: number): this {
    this.raw((field << 3) | VARINT)
    this.raw(value)
    return this
  }

  /** A field of a zig-zag integer. */
  zigzag(field: number, value: number): this {
    this.raw((field << 3) | VARINT)
    this.rawZigzag(value)
    return this
  }

  /** A length-delimited field. */
  bytes(field: number, content: Uint8Array): this {
    this.raw((field << 3) | BYTES)
    this.raw(content.length)
    this.#reserve(content.length)
    this.#bytes.set(content, this.#length)
    this.#length += content.length
    return this
  }

  text(field: number, text: string): this {
    return this.bytes(field, Buffer.from(text))
  }

  rawZigzag(value: number): void {
    if (value >= -0x40000000 && value < 0x40000000) this.raw(((value << 1) ^ (value >> 31)) >>> 0)
    else this.#write64(value < 0 ? -BigInt(value) * 2n - 1n : BigInt(value) * 2n)
  }

  raw(value: number): void {
    if (value >= 0 && value < 0x80000000) {
      this.#reserve(5)
      let rest = value
      while (rest >= 128) {
        this.#bytes[this.#length++] = (rest & 127) | 128
        rest >>>= 7
      }
      this.#bytes[this.#length++] = rest
    } else this.#write64(BigInt.asUintN(64, BigInt(value)))
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #write64(bits: bigint): void {
    this.#reserve(10)
    let rest = bits
    while (rest >= 128n) {
      this.#bytes[this.#length++] = Number(rest & 127n) | 128
      rest >>= 7n
    }
    this.#bytes[this.#length++] = Number(rest)
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}
