import { quoteIdentifier } from '@terrane/core/sql-text'
import { BoundedClient, isWaiting, streamOf } from './bounded-client.ts'
import { connectionOf, silenceOf, type DatabaseOptions } from './options.ts'

/** Delay before a lost listening connection is opened again, in milliseconds. */
const RELISTEN_MS = 1000
/** Longest wait for the server to close a connection that is disposed of, in milliseconds. */
const GOODBYE_MS = 1000

/** One LISTEN connection with a heartbeat; it reconnects after a loss until it is disposed of. */
export class Listener implements AsyncDisposable {
  #client: BoundedClient | null = null
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  readonly #options: DatabaseOptions
  readonly #channel: string
  readonly #onNotify: (payload: string) => void

  constructor(options: DatabaseOptions, channel: string, onNotify: (payload: string) => void) {
    this.#options = options
    this.#channel = channel
    this.#onNotify = onNotify
  }

  async start(): Promise<void> {
    const client = new BoundedClient(connectionOf(this.#options, ' listen'))
    client.on('notification', (message) => this.#onNotify(message.payload ?? ''))
    client.on('error', (error) => this.#options.onError?.(error))
    client.on('end', () => this.#again())
    this.#client = client
    try {
      await client.connect()
      this.#beat(client)
      await client.query(`listen ${quoteIdentifier(this.#channel)}`)
    } catch (error) {
      streamOf(client).destroy()
      this.#again()
      this.#options.onError?.(error as Error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    if (!this.#client) return
    // An unresponsive server would not close its side.
    const stream = streamOf(this.#client)
    const timer = setTimeout(() => stream.destroy(), GOODBYE_MS)
    await this.#client.end().catch(ignore)
    clearTimeout(timer)
  }

  /** Pings the server at an interval; closes the connection when a ping is not answered before the next one. */
  #beat(client: BoundedClient): void {
    const timer = setInterval(() => {
      if (isWaiting(client)) streamOf(client).destroy()
      else client.query('select 1').catch(ignore)
    }, silenceOf(this.#options))
    timer.unref()
    client.once('end', () => clearInterval(timer))
  }

  #again(): void {
    if (this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.start(), RELISTEN_MS)
  }
}

function ignore(): void {}
