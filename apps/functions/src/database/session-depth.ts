import type { Writable } from 'node:stream'
import { HEAD_BYTES, message } from './frames.ts'

/** Messages that a server sends unasked: notifications, notices, parameters. */
const UNASKED: ReadonlySet<number> = new Set(Buffer.from('ANS'))
const ERROR = 'E'.charCodeAt(0)
const READY = 'Z'.charCodeAt(0)
/** Name of the statement and of its portal, which no client is expected to use. */
const NAME = 'terrane_depth\0'
const NOTHING = Buffer.alloc(0)

/**
 * The setting `terrane.depth` of a session that a client uses. The client does not see the answer of the server, except
 * for an error. The statement has a name, because a simple query would drop the client's unnamed prepared statement, and
 * poolers refuse function calls of the protocol.
 */
export class SessionDepth {
  readonly #server: Writable
  readonly #now: () => string
  #value: string | null = null
  #pending: PromiseWithResolvers<void> | null = null
  /** Beginning of a message of the pending answer. */
  #held: Buffer = NOTHING
  #hasFailed = false

  /** @param now depth of the calls that the client works for */
  constructor(server: Writable, now: () => string) {
    this.#server = server
    this.#now = now
  }

  /** True while the server has not answered. */
  get isPending(): boolean {
    return this.#pending !== null
  }

  /** True after an error: the depth of the session is not known. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Sets a changed depth. The server must be between two transactions. */
  set(): void {
    const value = this.#now()
    if (this.#pending || value === this.#value) return
    this.#value = value
    this.#pending = Promise.withResolvers()
    this.#server.write(setDepth(value))
  }

  /** The part of the server's bytes that the client sees. */
  show(chunk: Buffer): Buffer {
    if (!this.#pending) return chunk
    const all = Buffer.concat([this.#held, chunk])
    const shown: Buffer[] = []
    let at = 0
    let isOver = false
    while (!isOver && all.length - at >= HEAD_BYTES) {
      const end = at + 1 + all.readUInt32BE(at + 1)
      if (end > all.length) break
      const type = all[at]!
      if (type === ERROR) this.#hasFailed = true
      if (type === ERROR || UNASKED.has(type)) shown.push(all.subarray(at, end))
      isOver = type === READY
      at = end
    }
    const rest = all.subarray(at)
    this.#held = isOver ? NOTHING : rest
    if (!isOver) return Buffer.concat(shown)
    this.stop()
    return Buffer.concat([...shown, rest])
  }

  /** Resolves when the server has answered, or its answer is no longer read. */
  async answered(): Promise<void> {
    await this.#pending?.promise
  }

  /** The answer has ended, or is no longer read. */
  stop(): void {
    this.#pending?.resolve()
    this.#pending = null
  }
}

/** Parse, Bind, Execute, Close and Sync. */
function setDepth(value: string): Buffer {
  const none = int16(0)
  const parse = ["select pg_catalog.set_config('terrane.depth', $1, false)\0", none]
  const bind = [NAME, none, int16(1), int32(Buffer.byteLength(value)), value, none]
  const messages: readonly (readonly [type: string, body: readonly (string | Buffer)[]])[] = [
    ['P', [NAME, ...parse]],
    ['B', [NAME, ...bind]],
    ['E', [NAME, int32(0)]],
    ['C', ['S', NAME]],
    ['S', []],
  ]
  return Buffer.concat(
    messages.map(([type, body]) => message(type, Buffer.concat(body.map((part) => Buffer.from(part))))),
  )
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
