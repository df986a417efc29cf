/** One message of PostgreSQL's protocol, as described by its first six bytes. */
export interface Seen {
  readonly type: number
  /** First byte of its payload; -1 when it has none. */
  readonly first: number
  /** Its offset in the chunk; negative when it began in an earlier one. */
  readonly at: number
}

/** Bytes of the type and the length of a message. */
export const HEAD_BYTES = 5

/** Splits one direction of a session into messages. Chunks do not align with messages. */
export class Frames {
  /** Type, length and first byte of the message that is being read. */
  readonly #head = Buffer.alloc(HEAD_BYTES + 1)
  #have = 0
  /** Bytes of the current message that are still to come. */
  #left = 0

  /** True in the middle of a message. */
  get isWithin(): boolean {
    return this.#left > 0 || this.#have > 0
  }

  /** The messages that this chunk identifies, in order. @throws RangeError for a length that no message has */
  push(chunk: Uint8Array): Seen[] {
    const seen: Seen[] = []
    let at = 0
    while (at < chunk.length) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at)
        this.#left -= passed
        at += passed
        continue
      }
      this.#head[this.#have++] = chunk[at++]!
      if (this.#have < HEAD_BYTES) continue
      const carried = this.#head.readInt32BE(1) - 4
      if (carried < 0) throw new RangeError('a message of less than no length')
      if (carried > 0 && this.#have === HEAD_BYTES) continue
      seen.push({ type: this.#head[0]!, first: carried > 0 ? this.#head[HEAD_BYTES]! : -1, at: at - this.#have })
      this.#left = Math.max(0, carried - 1)
      this.#have = 0
    }
    return seen
  }
}

/** A message of its type, e.g. 'Q', and its payload. */
export function message(type: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.write(type)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
