import {
  Client,
  Pool,
  types,
  type ClientConfig,
  type CustomTypesConfig,
  type PoolClient,
  type QueryResult,
  type QueryResultRow,
} from 'pg'
import { Cancellation } from './cancel.ts'
import { capabilitiesOf, type Capabilities } from './capabilities.ts'
import { mapConnectionError } from './errors.ts'

/** bigint columns hold ids and counts far below 2^53 here: they are read as numbers. */
const TYPES: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === (types.builtins.INT8 as number) && format !== 'binary' ? Number : types.getTypeParser(oid, format),
}

/** Runs one statement; `Database` and a transaction's client are both one. */
export interface Queryable {
  query<Row extends QueryResultRow = QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>
}

/** A client that holds an open transaction, or one taken from the pool by {@link Database.session}. */
export interface Session extends Queryable {
  /** The driver's own client, for what needs it, e.g. COPY. */
  readonly client: PoolClient
  /** Has the connection closed instead of reused when the work ends, e.g. when a statement is left half read. */
  discard(): void
}

/** A pool of connections to one database and what its server can do. */
export interface Database extends Queryable, AsyncDisposable {
  readonly capabilities: Capabilities
  /**
   * Runs `work` in a transaction: committed when it resolves, rolled back when it throws. Keep it short.
   *
   * @param begin what it begins with, in one round trip: `begin read only; set local …`
   */
  transaction<T>(work: (session: Session) => Promise<T>, begin?: string): Promise<T>
  /**
   * Runs one statement, which has no values, in a transaction of its own: all in one round trip.
   *
   * @param begin as of {@link transaction}
   */
  statement<Row extends QueryResultRow>(text: string, begin: string): Promise<QueryResult<Row>>
  /** Runs `work` on one connection outside a transaction. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>
  /**
   * The same database for the time of a job: once the signal aborts, running statements are cancelled on the server and
   * new ones are refused with the signal's reason.
   */
  withSignal(signal: AbortSignal): Database
  /**
   * Calls `onNotify` for each NOTIFY on the channel, on a connection of its own that reconnects by itself. Returns null
   * where the server does not deliver notifications: poll instead.
   */
  listen(channel: string, onNotify: (payload: string) => void): Promise<AsyncDisposable | null>
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly url: string
  /** IP address to dial instead of the URL's host, when that host was resolved and checked before. */
  readonly address?: string
  /** Most connections of the pool; 10 when absent. */
  readonly max?: number
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string
  /** Longest wait for a connection in milliseconds; 10 s when absent. */
  readonly connectTimeoutMs?: number
  /** Told about errors of idle connections, which are replaced by themselves. */
  readonly onError?: (error: Error) => void
}

/**
 * Opens a pool and asks the server what it can do.
 *
 * @throws DATABASE_UNAVAILABLE when it cannot be reached
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pool = new Pool({
    ...connection(options),
    max: options.max ?? 10,
    application_name: options.applicationName ?? 'terrane',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    types: TYPES,
  })
  pool.on('error', (error) => options.onError?.(error))
  try {
    const { rows } = await pool.query<{ text: string; number: string }>(
      `select version() as text, current_setting('server_version_num') as number`,
    )
    const row = rows[0]
    return new PooledDatabase(pool, options, capabilitiesOf(row?.text ?? '', Number(row?.number ?? 0)))
  } catch (error) {
    await pool.end()
    throw mapConnectionError(error)
  }
}

/** How to reach the server. With a checked address nothing of the URL's query but sslmode is believed: it can name files. */
function connection(options: DatabaseOptions): ClientConfig {
  if (options.address === undefined) return { connectionString: options.url }
  const url = new URL(options.url)
  const sslmode = url.searchParams.get('sslmode') ?? 'prefer'
  const verify = sslmode === 'verify-full' || sslmode === 'verify-ca'
  return {
    host: options.address,
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ssl:
      sslmode === 'disable' || sslmode === 'prefer' || sslmode === 'allow'
        ? false
        : { rejectUnauthorized: verify, servername: url.hostname },
  }
}

class PooledDatabase implements Database {
  readonly capabilities: Capabilities
  readonly #pool: Pool
  readonly #options: DatabaseOptions
  readonly #signal: AbortSignal | null
  #closed: Promise<void> | null = null

  constructor(pool: Pool, options: DatabaseOptions, capabilities: Capabilities, signal: AbortSignal | null = null) {
    this.capabilities = capabilities
    this.#pool = pool
    this.#options = options
    this.#signal = signal
  }

  withSignal(signal: AbortSignal): Database {
    return new PooledDatabase(this.#pool, this.#options, this.capabilities, signal)
  }

  async query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>> {
    if (this.#signal) return this.session((session) => session.query<Row>(text, values))
    try {
      return await this.#pool.query<Row>(text, values as unknown[])
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
        // Behind a statement that is left half read no other would ever be answered; its transaction ends with the connection.
        if (isDiscarded()) throw error
        await session.client.query('rollback').catch(ignore)
        throw error
      }
    })
  }

  /** @param work gets a connection, a function after which no cancellation is on its way to it, and whether it is discarded */
  async #lend<T>(
    work: (session: Session, settle: () => Promise<void>, isDiscarded: () => boolean) => Promise<T>,
  ): Promise<T> {
    const signal = this.#signal
    signal?.throwIfAborted()
    let client: PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw mapConnectionError(error)
    }
    if (signal?.aborted) {
      client.release()
      signal.throwIfAborted()
    }
    // A connection that fails between two statements would otherwise raise an unhandled error.
    const onError = (error: Error) => this.#options.onError?.(error)
    client.on('error', onError)
    const cancellation = signal && new Cancellation(client, signal)
    let broken: Error | boolean = false
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
      // A cancellation must never meet a statement of somebody else.
      client.release(broken || cancellation?.wasAsked)
    }
  }

  async listen(channel: string, onNotify: (payload: string) => void): Promise<AsyncDisposable | null> {
    if (!this.capabilities.notify) return null
    const listener = new Listener(this.#options, channel, onNotify)
    await listener.start()
    return listener
  }

  close(): Promise<void> {
    this.#closed ??= this.#pool.end()
    return this.#closed
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

/** Longest wait before a lost listening connection is dialled again, in milliseconds. */
const RELISTEN_MS = 1000

/** One LISTEN connection; it comes back after a loss until it is disposed of. */
class Listener implements AsyncDisposable {
  #client: Client | null = null
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
    const client = new Client({
      ...connection(this.#options),
      application_name: `${this.#options.applicationName ?? 'terrane'} listen`,
      keepAlive: true,
    })
    client.on('notification', (message) => this.#onNotify(message.payload ?? ''))
    client.on('error', (error) => this.#options.onError?.(error))
    client.on('end', () => this.#again())
    this.#client = client
    try {
      await client.connect()
      await client.query(`listen ${quoteIdentifier(this.#channel)}`)
    } catch (error) {
      if (!this.#stopped) this.#again()
      this.#options.onError?.(error as Error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#client?.end().catch(ignore)
  }

  #again(): void {
    if (this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.start(), RELISTEN_MS)
  }
}

/** Quotes an identifier for SQL text. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a text for SQL. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** `"schema"."name"` for SQL text. */
export function qualified(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`
}

function ignore(): void {}
