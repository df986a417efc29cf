import { Frames } from './frames.ts'

/** Messages that a server sends unasked: notifications, notices, parameters. */
const UNASKED: ReadonlySet<number> = new Set(['A', 'N', 'S'].map((letter) => letter.charCodeAt(0)))
const READY = 'Z'.charCodeAt(0)
const READY_BYTES = 6

/** The answer to a statement of the host on the session of a client, which the client does not see. */
export class HiddenAnswer {
  #held: Buffer = Buffer.alloc(0)

  /** The bytes for the client after the end of the answer, which may be none; null until then. */
  push(chunk: Buffer): Buffer | null {
    this.#held = Buffer.concat([this.#held, chunk])
    const seen = new Frames().push(this.#held)
    const ready = seen.findIndex(({ type }) => type === READY)
    if (ready < 0) return null
    const kept = seen
      .slice(0, ready)
      .flatMap(({ type, at }, i) => (UNASKED.has(type) ? [this.#held.subarray(at, seen[i + 1]!.at)] : []))
    return Buffer.concat([...kept, this.#held.subarray(seen[ready]!.at + READY_BYTES)])
  }
}

/** The message of a simple query. */
export function queryMessage(text: string): Buffer {
  const head = Buffer.alloc(5)
  head.write('Q')
  head.writeInt32BE(5 + Buffer.byteLength(text), 1)
  return Buffer.concat([head, Buffer.from(`${text}\0`)])
}
