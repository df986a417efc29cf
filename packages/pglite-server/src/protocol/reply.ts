import { errorResponse, fieldsOf, READY, READY_FAILED } from './messages.ts'

/** Why a statement is stopped, in the words of a server. */
export type StopReason = 'user request' | 'statement timeout'

/** Target of a reply. */
export interface ReplyOptions {
  /** Sends bytes to the client, and calls `taken` when they are sent. */
  readonly write: (bytes: Buffer, taken: () => void) => void
  /** The client has already received the messages up to CopyInResponse. */
  readonly copying?: boolean | undefined
}

/** Messages that are read, by type: ReadyForQuery, ParseComplete, CommandComplete, ErrorResponse, NoticeResponse, CopyInResponse. */
const READ: ReadonlySet<number> = new Set('Z1CENG'.split('').map((type) => type.charCodeAt(0)))

/** Passes an answer on. ReadyForQuery, which drivers count and PGlite repeats after an error, is sent once, last. */
export class Reply {
  readonly #options: ReplyOptions
  #rest: Buffer = Buffer.alloc(0)
  /** Bytes of the current message that are passed on unread. */
  #passing = 0
  #lastReady: Buffer = READY
  #copying: boolean
  /** Why the unit was stopped; null when it was not. */
  stopped: StopReason | null = null
  /** The client has received an error that did not occur in the session. */
  isCutShort = false
  /** Number of statements that were parsed. */
  parses = 0
  /** Number of statements that have ended. */
  completed = 0

  constructor(options: ReplyOptions) {
    this.#options = options
    this.#copying = options.copying ?? false
  }

  receive(data: Buffer, taken: () => void): void {
    const bytes = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    const out: Buffer[] = []
    let from = 0
    let at = 0
    while (at < bytes.length) {
      if (this.#passing > 0) {
        const step = Math.min(this.#passing, bytes.length - at)
        this.#passing -= step
        at += step
        continue
      }
      if (at + 5 > bytes.length) break
      const end = at + 1 + bytes.readInt32BE(at + 1)
      const type = bytes[at] as number
      if (!READ.has(type) && !this.#copying) {
        this.#passing = end - at
        continue
      }
      if (end > bytes.length) break
      const message = bytes.subarray(at, end)
      const said = this.#read(String.fromCharCode(type), message)
      if (said !== message) {
        out.push(bytes.subarray(from, at), said)
        from = end
      }
      at = end
    }
    out.push(bytes.subarray(from, at))
    this.#rest = bytes.subarray(at)
    const whole = out.filter(({ length }) => length > 0)
    if (whole.length === 0) taken()
    else this.#options.write(whole.length === 1 ? (whole[0] as Buffer) : Buffer.concat(whole), taken)
  }

  /** The client has received a part of a message. */
  get isWithinMessage(): boolean {
    return this.#passing > 0
  }

  /** Marks the transaction as failed. */
  failed(): void {
    this.#lastReady = READY_FAILED
  }

  ready(): void {
    this.#options.write(this.#lastReady, ignore)
  }

  /** The bytes that the client gets in place of a message. */
  #read(type: string, message: Buffer): Buffer {
    switch (type) {
      case 'Z':
        this.#lastReady = Buffer.from(message)
        return NOTHING
      case 'G':
        if (!this.#copying) return message
        this.#copying = false
        return NOTHING
      case 'E':
        this.#copying = false
        return this.#stoppedError(message)
      case 'N':
        // Drops a warning about a snapshot that a lost error has left behind.
        return this.stopped && message.includes('still active') ? NOTHING : message
      case 'C':
        this.completed++
        // A query that is interrupted within GEOS ends as if it had no more rows, because GEOS drops the error.
        if (!this.stopped || !/^(SELECT|FETCH) /.test(message.toString('latin1', 5))) return message
        this.isCutShort = true
        return this.#cancelled()
      case '1':
        this.parses++
        break
    }
    return this.#copying ? NOTHING : message
  }

  #stoppedError(message: Buffer): Buffer {
    const isCancelled = fieldsOf(message).get('C') === CANCELLED
    return this.stopped === 'statement timeout' && isCancelled ? this.#cancelled() : message
  }

  #cancelled(): Buffer {
    return errorResponse('ERROR', CANCELLED, `canceling statement due to ${this.stopped ?? 'user request'}`)
  }
}

/** SQLSTATE query_canceled. */
export const CANCELLED = '57014'
const NOTHING = Buffer.alloc(0)

function ignore(): void {}
