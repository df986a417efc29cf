import { bare, copyFail, messagesOf, simpleQuery, SYNC } from './messages.ts'
import { statementsOf } from './sql-words.ts'

/** Maximum bytes of one COPY, which are held in memory until it is complete. */
const MAX_COPY = 1 << 29

/** Whether a query is a COPY from the client. */
export function copiesIn(sql: string): 'no' | 'alone' | 'among others' {
  if (!/\bcopy\b/i.test(sql) || !/\bstdin\b/i.test(sql)) return 'no'
  const statements = statementsOf(sql)
  const isCopy = statements.some(
    ([first, ...words]) => first === 'copy' && words.some((word, i) => word === 'stdin' && words[i - 1] === 'from'),
  )
  return isCopy ? (statements.length === 1 ? 'alone' : 'among others') : 'no'
}

/**
 * A COPY from the client. The session cannot wait for its data in the middle of a statement, because that would stop
 * all other clients: the server asks the session whether the COPY may begin, takes the data itself, and gives statement and data
 * to the session together.
 */
export class CopyIn {
  readonly sql: string
  /** True when it was sent by Parse, Bind and Execute; it then ends with Sync. */
  readonly extended: boolean
  /** The messages that begin it. */
  head: Buffer
  isAsked = false
  isEnded = false
  onRefused: () => void = ignore
  #parts: Buffer[] = []
  #size = 0
  #isCancelled = false

  constructor(sql: string, head: Buffer | null, extended: boolean) {
    this.sql = sql
    this.head = head ?? Buffer.alloc(0)
    this.extended = extended
  }

  /** Messages that begin the COPY and abort it. */
  question(): Buffer {
    return Buffer.concat([simpleQuery(this.sql), copyFail('asked')])
  }

  add(message: Buffer): void {
    this.#size += message.length
    if (this.#size > MAX_COPY || this.#isCancelled) {
      this.#parts = []
      return
    }
    const last = this.#parts.at(-1)
    // Messages of one chunk are adjacent in memory.
    if (last && last.buffer === message.buffer && last.byteOffset + last.length === message.byteOffset) {
      this.#parts[this.#parts.length - 1] = Buffer.from(last.buffer, last.byteOffset, last.length + message.length)
    } else this.#parts.push(message)
  }

  /** Takes CopyDone or CopyFail. */
  end(message: Buffer): void {
    this.isEnded = true
    if (this.#isCancelled) this.#parts.push(CANCELLED)
    else if (this.#size <= MAX_COPY) this.#parts.push(Buffer.from(message))
    else
      this.#parts.push(copyFail(`more than ${MAX_COPY >> 20} MiB in one COPY are too many for the embedded database`))
  }

  /** Cancels the COPY while its data arrive. */
  cancel(): void {
    this.#isCancelled = true
    this.#parts = this.isEnded ? [CANCELLED] : []
  }

  /** Statement and data. */
  whole(): Buffer {
    const bytes = Buffer.concat([this.head, ...this.#parts, ...(this.extended ? [SYNC] : [])])
    this.#parts = []
    return bytes
  }

  /** Answers to the messages that begin the COPY, before CopyInResponse. */
  preamble(): Buffer {
    if (!this.extended) return Buffer.alloc(0)
    const answers = [...messagesOf(this.head)].flatMap(({ type, start }) => {
      if (type === 'D') return this.head[start] === 0x53 ? [NO_PARAMETERS, bare('n')] : [bare('n')]
      const answer = { P: '1', B: '2', C: '3' }[type]
      return answer === undefined ? [] : [bare(answer)]
    })
    return Buffer.concat(answers)
  }
}

/** The server answers it with 57014. */
const CANCELLED = copyFail('canceling statement due to user request')
/** ParameterDescription of none. */
const NO_PARAMETERS = Buffer.from([0x74, 0, 0, 0, 6, 0, 0])

function ignore(): void {}
