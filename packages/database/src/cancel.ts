import { connect } from 'node:net'
import type { PoolClient } from 'pg'

/** Code of a cancel request packet (PostgreSQL manual, message formats). */
const CANCEL_REQUEST = 80877102
/** Interval of cancel requests in milliseconds: the server ignores a request that arrives before the statement begins. */
const AGAIN_MS = 100
/** Longest wait for a server to take a request, in milliseconds. */
const PATIENCE_MS = 5000

/** Fields of the driver's connection that its types omit. */
interface Connected {
  readonly host: string
  readonly port: number
  readonly processID: number | null
  readonly secretKey: number | null
}

/**
 * Asks the server to cancel the statement that a connection runs. It opens a connection outside of the pool, which may
 * be busy. Resolves once the server has forwarded the request; whether it came in time is unknown.
 */
export async function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as Connected
  if (processID === null || secretKey === null) return
  await requestCancel(host, port, { processId: processID, secretKey })
}

/** Sends the request to a host, or to the socket in a folder. */
export async function requestCancel(
  host: string,
  port: number,
  { processId, secretKey }: { readonly processId: number; readonly secretKey: number },
): Promise<void> {
  const packet = Buffer.alloc(16)
  packet.writeInt32BE(packet.length)
  packet.writeInt32BE(CANCEL_REQUEST, 4)
  packet.writeInt32BE(processId, 8)
  packet.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.resume().write(packet)
  // The server closes the connection after it has sent the signal.
  await new Promise((resolve) => socket.once('close', resolve))
}

/** Cancels statements once a signal aborts; repeats it, because the server ignores a request before its statement. */
export class Cancellation {
  readonly #client: PoolClient
  readonly #signal: AbortSignal
  #timer: NodeJS.Timeout | undefined
  #request: Promise<void> | null = null
  /** Whether a cancel request was sent; the connection may still receive it later. */
  wasAsked = false

  constructor(client: PoolClient, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
    signal.addEventListener('abort', this.#begin)
  }

  /** Sends no further cancel requests; resolves when none is in flight. */
  async end(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#begin)
    clearInterval(this.#timer)
    await this.#request
  }

  readonly #begin = () => {
    this.wasAsked = true
    this.#ask()
    this.#timer = setInterval(() => this.#ask(), AGAIN_MS)
  }

  #ask(): void {
    this.#request ??= cancelStatement(this.#client).finally(() => {
      this.#request = null
    })
  }
}
