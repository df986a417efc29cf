import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Client, QueryResult } from 'pg'
import { requestCancel } from './cancel.ts'
import { BoundedClient } from './connection/bounded-client.ts'
import { mapConnectionError } from './errors.ts'

/** The parts of the driver that are not in its types. */
interface Connection {
  readonly stream: Duplex
  on(event: 'parameterStatus', listener: (message: { parameterName: string; parameterValue: string }) => void): void
  on(event: 'backendKeyData', listener: (message: { processID: number; secretKey: number }) => void): void
}

type Listener = (chunk: Buffer) => void

/** Parameter by which the embedded database reports which client has its session, and for how long. */
const HELD = 'terrane.held'

/** A signed-in connection whose bytes can be lent to code that speaks the protocol; statements run between loans. */
export class LentSession {
  /** Parameters that the server announced at the start, as a borrower may see them: without the names of other clients. */
  readonly parameters: ReadonlyMap<string, string>
  /** Seconds and name of the client that had the session of the embedded database at the start; absent for none. */
  readonly held: string | undefined
  /** Backend key for cancelling a statement of this session. */
  readonly key: { readonly processId: number; readonly secretKey: number }
  /** The driver's own client, e.g. for COPY; not while the bytes are lent. */
  readonly client: Client
  readonly #stream: Duplex
  readonly #own: Listener[]
  #lost = false

  /** Opens the connection. @param url of the server; user and password are ignored @throws DATABASE_UNAVAILABLE */
  static async open(options: {
    readonly url: string
    readonly user: string
    readonly password: string
    readonly applicationName: string
  }): Promise<LentSession> {
    const url = new URL(options.url)
    url.username = encodeURIComponent(options.user)
    url.password = encodeURIComponent(options.password)
    const client = new BoundedClient({
      connectionString: url.href,
      application_name: options.applicationName,
      connectionTimeoutMillis: 10_000,
    })
    const { connection } = client as unknown as { connection: Connection }
    const parameters = new Map<string, string>()
    const key = { processId: 0, secretKey: 0 }
    connection.on('parameterStatus', (message) => parameters.set(message.parameterName, message.parameterValue))
    connection.on('backendKeyData', (message) => {
      key.processId = message.processID
      key.secretKey = message.secretKey
    })
    try {
      await client.connect()
    } catch (error) {
      throw mapConnectionError(error)
    }
    return new LentSession(client, connection.stream, parameters, key)
  }

  private constructor(client: Client, stream: Duplex, parameters: Map<string, string>, key: LentSession['key']) {
    this.client = client
    this.#stream = stream
    this.held = parameters.get(HELD)
    parameters.delete(HELD)
    this.parameters = parameters
    this.key = key
    this.#own = stream.listeners('data') as Listener[]
    client.on('error', () => (this.#lost = true))
    client.on('end', () => (this.#lost = true))
  }

  /** True when the connection cannot be used any more. */
  get lost(): boolean {
    return this.#lost || this.#stream.destroyed
  }

  query(text: string, values: unknown[] = []): Promise<QueryResult> {
    return this.client.query(text, values)
  }

  /** The bytes, from the state in which the server waits for a statement. */
  lend(): Duplex {
    for (const listener of this.#own) this.#stream.off('data', listener)
    return this.#stream
  }

  /** Ends the loan: the server must wait for a statement, and the borrower's listeners must be removed. */
  takeBack(): void {
    for (const listener of this.#own) this.#stream.on('data', listener)
    this.#stream.resume()
  }

  /** Cancels the running statement; resolves when the request is forwarded and cannot affect later ones. */
  async cancel(): Promise<void> {
    const { remoteAddress, remotePort } = this.#stream as Socket
    if (remoteAddress === undefined || remotePort === undefined) return
    await requestCancel(remoteAddress, remotePort, this.key)
  }

  close(): void {
    this.#lost = true
    this.#stream.destroy()
  }
}
