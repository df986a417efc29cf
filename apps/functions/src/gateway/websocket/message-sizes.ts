const LENGTH_BITS = 0x7f
const MASKED = 0x80
const FIN = 0x80
/** Opcodes from here on are control frames, which may come between the frames of a message (RFC 6455, 5.4). */
const CONTROL = 8

/**
 * Follows the frames of one direction of a WebSocket (RFC 6455, section 5.2) and adds up the sizes of its messages. It
 * keeps no content and checks only sizes; the receiver notices other errors in frames.
 */
export class MessageSizes {
  readonly #mostBytes: number
  readonly #head = Buffer.alloc(14)
  #headBytes = 0
  /** Bytes of the current frame that are still to come. */
  #left = 0
  /** Size of the current message, as far as its frames have announced it. */
  #message = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Reads the next bytes; false when their message exceeds the limit. */
  accept(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at)
        this.#left -= passed
        at += passed
        continue
      }
      this.#head[this.#headBytes++] = chunk[at++]!
      if (this.#headBytes >= 2 && this.#headBytes === headLength(this.#head[1]!) && !this.#enterFrame()) return false
    }
    return true
  }

  #enterFrame(): boolean {
    const [first = 0, second = 0] = this.#head
    const short = second & LENGTH_BITS
    const bytes =
      short < 126 ? short : short === 126 ? this.#head.readUInt16BE(2) : Number(this.#head.readBigUInt64BE(2))
    this.#headBytes = 0
    this.#left = bytes
    if ((first & 0x0f) >= CONTROL) return bytes <= this.#mostBytes
    this.#message += bytes
    if (this.#message > this.#mostBytes) return false
    if ((first & FIN) !== 0) this.#message = 0
    return true
  }
}

/** Bytes of a frame's head, by its second byte. */
function headLength(second: number): number {
  const short = second & LENGTH_BITS
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + ((second & MASKED) === 0 ? 0 : 4)
}
