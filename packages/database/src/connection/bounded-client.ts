import type { Socket } from 'node:net'
import { TerraneError } from '@terrane/core'
import { Client, type ClientBase, type ClientConfig } from 'pg'
import { answerUnreadable } from '../errors.ts'
import { AnswerBound } from './answer-bound.ts'

/** Maximum bytes of an answer unless its caller sets fewer; V8's strings end at 512 MiB. */
export const MAX_ANSWER_BYTES = 256 * 1024 * 1024
/** Idle time in milliseconds before the system sends keep-alive probes. */
const KEEP_ALIVE_MS = 30_000

/** The parts of the driver that are not in its types. */
interface Driver {
  readonly connection: { readonly stream: Socket; attachListeners(stream: Socket): void }
  /** False while an answer is awaited. */
  readonly readyForQuery?: boolean
}

const bounds = new WeakMap<ClientBase, AnswerBound>()

/** Keeps its connection alive and bounds answers: a larger or unreadable one ends the connection with one error. */
export class BoundedClient extends Client {
  constructor(config: ClientConfig & { readonly answerBytes?: number } = {}) {
    super({ ...config, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS })
    const bound = new AnswerBound(config.answerBytes ?? MAX_ANSWER_BYTES)
    bounds.set(this, bound)
    const { connection } = this as unknown as Driver
    const attach = connection.attachListeners.bind(connection)
    connection.attachListeners = (stream) => {
      const before = stream.listeners('data')
      attach(stream)
      const parse = stream.listeners('data').find((listener) => !before.includes(listener)) as (chunk: Buffer) => void
      stream.off('data', parse)
      stream.on('data', guarded(stream, bound, parse))
    }
  }
}

/** A listener that counts the bytes of each chunk, and then passes it to the parser. */
function guarded(stream: Socket, bound: AnswerBound, parse: (chunk: Buffer) => void): (chunk: Buffer) => void {
  let hasFailed = false
  return (chunk) => {
    // A COPY that ends may deliver data that was read before the connection was closed.
    if (hasFailed) return
    try {
      bound.count(chunk)
      parse(chunk)
    } catch (error) {
      hasFailed = true
      const reason = error instanceof Error ? error.message : String(error)
      stream.destroy(error instanceof TerraneError ? error : answerUnreadable({ reason }, { cause: error }))
    }
  }
}

/** Sets the maximum bytes of the following answers on a connection. */
export function boundAnswers(client: ClientBase, bytes: number): void {
  const bound = bounds.get(client)
  if (bound) bound.limit = bytes
}

/** The socket of a client. */
export function streamOf(client: ClientBase): Socket {
  return (client as unknown as Driver).connection.stream
}

/** True while an answer of the server is awaited. */
export function isWaiting(client: ClientBase): boolean {
  return (client as unknown as Driver).readyForQuery === false
}
