import { answerTooLarge, answerUnreadable } from '../errors.ts'

/** Bytes of the code and length of a message (PostgreSQL manual, message flow). */
const HEADER = 5
const LENGTH_SIZE = 4
const NONE = Buffer.alloc(0)
const READY_FOR_QUERY = 'Z'.charCodeAt(0)
const NOTIFICATION = 'A'.charCodeAt(0)
const ERROR = 'E'.charCodeAt(0)
const NOTICE = 'N'.charCodeAt(0)

/** Counts the bytes of an answer, all between two ReadyForQuery, by the headers of its messages; copies nothing. */
export class AnswerBound {
  /** Maximum bytes of an answer. */
  limit: number
  #answered = 0
  /** Bytes of the current message that are still to come. */
  #left = 0
  /** The beginning of a header that was cut by the end of a chunk. */
  #head: Buffer = NONE
  /** The current message is an error or a notice, which end with two zeros. */
  #endsWithZeros = false
  #last = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /**
   * Counts the next bytes of the connection, before they are buffered.
   *
   * @throws ANSWER_TOO_LARGE as soon as the announced lengths exceed the limit
   * @throws DATABASE_ANSWER_UNREADABLE for an invalid length, and for an error message without its end mark
   */
  count(chunk: Buffer): void {
    const { length } = chunk
    let at = this.#left
    if (this.#head.length > 0) {
      const missing = HEADER - this.#head.length
      const head = Buffer.concat([this.#head, chunk.subarray(0, missing)])
      this.#head = head.length < HEADER ? head : NONE
      if (head.length < HEADER) return
      at = missing + this.#announced(head, 0)
    }
    while (at <= length) {
      if (this.#endsWithZeros) this.#checkEnd(chunk, at)
      if (at + HEADER > length) {
        this.#head = at === length ? NONE : Buffer.from(chunk.subarray(at))
        break
      }
      at += HEADER + this.#announced(chunk, at)
    }
    this.#left = Math.max(0, at - length)
    if (length > 0) this.#last = chunk[length - 1] as number
  }

  /** Reads a header; returns the number of bytes that follow it. */
  #announced(bytes: Buffer, at: number): number {
    const code = bytes[at]
    const length = bytes.readUInt32BE(at + 1)
    if (length < LENGTH_SIZE) throw answerUnreadable({ reason: `a message announces a length of ${length}` })
    const answered = length + 1 + (code === NOTIFICATION ? 0 : this.#answered)
    if (answered > this.limit) throw answerTooLarge({ limit: this.limit })
    if (code === READY_FOR_QUERY) this.#answered = 0
    else if (code !== NOTIFICATION) this.#answered = answered
    this.#endsWithZeros = code === ERROR || code === NOTICE
    return length - LENGTH_SIZE
  }

  /** Checks the end mark of an error message, because the driver searches for a missing one in an endless loop. */
  #checkEnd(chunk: Buffer, end: number): void {
    const beforeLast = end >= 2 ? chunk[end - 2] : this.#last
    const last = end >= 1 ? chunk[end - 1] : this.#last
    if (last !== 0 || beforeLast !== 0) throw answerUnreadable({ reason: 'an error message has no end' })
    this.#endsWithZeros = false
  }
}
