import { Frames } from './frames.ts'

const letters = (text: string): ReadonlySet<number> => new Set(Buffer.from(text))
/** Messages of the client that the server answers with one report of readiness: a query, a sync, a function call. */
const ANSWERED = letters('QSF')
/** Messages of the client that wait for a sync: parse, bind, describe, execute, close, flush. Data of a COPY does not. */
const WAITING = letters('PBDECH')
const TERMINATE = 'X'.charCodeAt(0)
const READY = 'Z'.charCodeAt(0)
const IN_PEACE = 'I'.charCodeAt(0)

/** State of a session, by the heads of the messages between its client and the server. */
export class Exchange {
  readonly #said = new Frames()
  readonly #heard = new Frames()
  #unanswered = 0
  #isOpen = false
  #status = IN_PEACE

  /** True while a statement or a message is under way: the server has not reported since that it is ready. */
  get isUnderWay(): boolean {
    return this.#unanswered !== 0 || this.#isOpen || this.#said.isWithin || this.#heard.isWithin
  }

  /** True when the server's last report was from within a transaction. */
  get isInTransaction(): boolean {
    return this.#status !== IN_PEACE
  }

  /**
   * Reads bytes of the client. Returns the offset of its termination, null without one; negative where the session cannot
   * go on: at a termination that began in earlier bytes, and at a length that no message has.
   */
  say(chunk: Uint8Array): number | null {
    try {
      for (const { type, at } of this.#said.push(chunk)) {
        if (type === TERMINATE) return at
        if (ANSWERED.has(type)) this.#unanswered++
        this.#isOpen = WAITING.has(type) || (this.#isOpen && !ANSWERED.has(type))
      }
      return null
    } catch {
      return -1
    }
  }

  /** Reads bytes of the server. */
  hear(chunk: Uint8Array): void {
    for (const { type, first } of this.#heard.push(chunk)) {
      if (type !== READY) continue
      this.#unanswered--
      this.#status = first
    }
  }
}

/** True for bytes that begin with a client's termination. */
export function isTermination(chunk: Uint8Array): boolean {
  return chunk[0] === TERMINATE
}
