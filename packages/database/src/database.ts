import { Pool, type ClientBase, type PoolClient, type QueryResult, type QueryResultRow } from 'pg'
import { Cancellation } from './cancel.ts'
import { capabilitiesOf, type Capabilities } from './capabilities.ts'
import { BoundedClient, boundAnswers, MAX_ANSWER_BYTES } from './connection/bounded-client.ts'
import { Listener } from './connection/listener.ts'
import { connectionOf, connectTimeoutOf, TYPES, type DatabaseOptions } from './connection/options.ts'
import { answerWithin, SilenceWatch } from './connection/silence-watch.ts'
import { mapConnectionError } from './errors.ts'

export type { DatabaseOptions } from './connection/options.ts'
export { qualified, quoteIdentifier, quoteLiteral } from '@terrane/core/sql-text'

/** Runs one statement; both `Database` and a client in a transaction implement it. */
export interface Queryable {
  query<Row extends QueryResultRow = QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>
}

/** A client that holds an open transaction, or one taken from the pool by {@link Database.session}. */
export interface Session extends Queryable {
  /** The driver's own client, e.g. for COPY. */
  readonly client: PoolClient
  /** Closes the connection after the work instead of reusing it, e.g. when an answer was not read completely. */
  discard(): void
}

/** A pool of connections to one database, and the capabilities of its server. */
export interface Database extends Queryable, AsyncDisposable {
  readonly capabilities: Capabilities
  /** Connections of the pool, and callers that are waiting for one. */
  connections(): { readonly used: number; readonly idle: number; readonly waiting: number }
  /** Runs `work` in a short transaction, rolled back when it throws. @param begin `begin read only; set local …` */
  transaction<T>(work: (session: Session) => Promise<T>, begin?: string): Promise<T>
  /**
   * Runs one statement without parameters in a transaction of its own, in one round trip.
   *
   * @param begin as of {@link transaction}
   */
  statement<Row extends QueryResultRow>(text: string, begin: string): Promise<QueryResult<Row>>
  /** Runs `work` on one connection outside a transaction. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** The same database; once the signal aborts, running statements are cancelled and new ones are refused. */
  withSignal(signal: AbortSignal): Database
  /** The same database with a lower limit on the bytes of an answer; larger answers throw ANSWER_TOO_LARGE. */
  withAnswerBytes(bytes: number): Database
  /** Calls `onNotify` for each NOTIFY, on an own connection that reconnects; null where nothing is delivered: poll. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<AsyncDisposable | null>
  close(): Promise<void>
}

/** Opens a pool and reads the capabilities of the server. @throws DATABASE_UNAVAILABLE */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const connections = new Connections(options)
  try {
    const client = await connections.pool.connect()
    // A connection that fails before its answer also emits an error.
    client.on('error', ignore)
    try {
      const { rows } = await client.query<{ text: string; number: string }>({
        text: `select version() as text, current_setting('server_version_num') as number`,
        ...answerWithin(connectTimeoutOf(options) * FIRST_ANSWER_PATIENCE),
      })
      const capabilities = capabilitiesOf(rows[0]?.text ?? '', Number(rows[0]?.number ?? 0))
      if (capabilities.parallel) await connections.watch(client)
      client.off('error', ignore)
      client.release()
      return new PooledDatabase(connections, capabilities)
    } catch (error) {
      client.release(true)
      throw error
    }
  } catch (error) {
    await connections.end()
    throw mapConnectionError(error)
  }
}

/** Timeout of the first answer in connection timeouts, because the embedded database may be busy for others. */
const FIRST_ANSWER_PATIENCE = 6

/** The pool of a database, and the watch over its connections. */
class Connections {
  readonly options: DatabaseOptions
  readonly pool: Pool
  #watch: SilenceWatch | null = null
  #ended: Promise<void> | null = null

  constructor(options: DatabaseOptions) {
    this.options = options
    // The pool awaits this hook, which its types omit.
    const hooks = { onConnect: (client: ClientBase) => this.#watch?.add(client) }
    this.pool = new Pool({
      ...connectionOf(options),
      ...hooks,
      max: options.max ?? 10,
      types: TYPES,
      Client: BoundedClient,
    })
    this.pool.on('error', (error) => options.onError?.(error))
    this.pool.on('remove', (client) => this.#watch?.remove(client))
  }

  /** Watches this connection and all that follow. */
  async watch(first: PoolClient): Promise<void> {
    this.#watch = new SilenceWatch(this.options)
    await this.#watch.add(first)
  }

  /** Maximum bytes of an answer unless a caller sets fewer. */
  get answerBytes(): number {
    return this.options.answerBytes ?? MAX_ANSWER_BYTES
  }

  end(): Promise<void> {
    this.#ended ??= this.pool.end().finally(() => this.#watch?.[Symbol.dispose]())
    return this.#ended
  }
}

/** Bounds of a caller's work: an abort signal, and the size of an answer. */
interface Bounds {
  readonly signal?: AbortSignal
  readonly answerBytes?: number
}

class PooledDatabase implements Database {
  readonly capabilities: Capabilities
  readonly #connections: Connections
  readonly #bounds: Bounds

  constructor(connections: Connections, capabilities: Capabilities, bounds: Bounds = {}) {
    this.capabilities = capabilities
    this.#connections = connections
    this.#bounds = bounds
  }

  connections(): { used: number; idle: number; waiting: number } {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#connections.pool
    return { used: totalCount - idle, idle, waiting }
  }

  withSignal(signal: AbortSignal): Database {
    return new PooledDatabase(this.#connections, this.capabilities, { ...this.#bounds, signal })
  }

  withAnswerBytes(bytes: number): Database {
    const answerBytes = Math.min(bytes, this.#connections.answerBytes)
    return new PooledDatabase(this.#connections, this.capabilities, { ...this.#bounds, answerBytes })
  }

  async query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    if (this.#bounds.signal ?? this.#bounds.answerBytes)
      return this.session((session) => session.query<Row>(text, values))
    try {
      return await this.#connections.pool.query<Row>(text, values as unknown[])
    } catch (error) {
      throw mapConnectionError(error)
    }
  }

  session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#lend((session) => work(session))
  }

  transaction<T>(work: (session: Session) => Promise<T>, begin = 'begin'): Promise<T> {
    return this.#lendForTransaction(async (session) => {
      await session.query(begin)
      const value = await work(session)
      await session.query('commit')
      return value
    })
  }

  statement<Row extends QueryResultRow>(text: string, begin: string): Promise<QueryResult<Row>> {
    return this.#lendForTransaction(async (session) => {
      const results: unknown = await session.query(`${begin}; ${text}; commit`)
      return (results as readonly QueryResult<Row>[]).at(-2) as QueryResult<Row>
    })
  }

  #lendForTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#lend(async (session, settle, isDiscarded) => {
      try {
        return await work(session)
      } catch (error) {
        await settle()
        // With a part of an answer unread, no rollback is answered; the transaction ends with the connection.
        if (isDiscarded()) throw error
        await session.client.query('rollback').catch(ignore)
        throw error
      }
    })
  }

  /** @param work gets a connection, a wait for cancellations in flight, and whether the connection is discarded */
  async #lend<T>(
    work: (session: Session, settle: () => Promise<void>, isDiscarded: () => boolean) => Promise<T>,
  ): Promise<T> {
    const { signal = null, answerBytes } = this.#bounds
    signal?.throwIfAborted()
    let client: PoolClient
    try {
      client = await this.#connections.pool.connect()
    } catch (error) {
      throw mapConnectionError(error)
    }
    if (signal?.aborted) {
      client.release()
      signal.throwIfAborted()
    }
    // A connection that fails between two statements would otherwise raise an unhandled error.
    const onError = (error: Error) => this.#connections.options.onError?.(error)
    client.on('error', onError)
    const cancellation = signal && new Cancellation(client, signal)
    let broken: Error | boolean = false
    if (answerBytes !== undefined) boundAnswers(client, answerBytes)
    try {
      const discard = () => {
        broken = true
      }
      return await work(
        sessionOf(client, signal, discard),
        async () => cancellation?.end(),
        () => broken !== false,
      )
    } catch (error) {
      const mapped = mapConnectionError(error)
      if (mapped !== error) broken = true
      throw signal?.aborted ? signal.reason : mapped
    } finally {
      await cancellation?.end()
      client.off('error', onError)
      if (answerBytes !== undefined) boundAnswers(client, this.#connections.answerBytes)
      // A cancellation must never reach a statement of another caller.
      client.release(broken || cancellation?.wasAsked)
    }
  }

  async listen(channel: string, onNotify: (payload: string) => void): Promise<AsyncDisposable | null> {
    if (!this.capabilities.notify) return null
    const listener = new Listener(this.#connections.options, channel, onNotify)
    await listener.start()
    return listener
  }

  close(): Promise<void> {
    return this.#connections.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function sessionOf(client: PoolClient, signal: AbortSignal | null, discard: () => void): Session {
  return {
    client,
    discard,
    query: async <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => {
      signal?.throwIfAborted()
      return client.query<Row>(text, values as unknown[])
    },
  }
}

function ignore(): void {}
