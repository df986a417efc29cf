import type { ClientBase } from 'pg'
import { databaseUnavailable } from '../errors.ts'
import { BoundedClient, isWaiting, streamOf } from './bounded-client.ts'
import { connectTimeoutOf, connectionOf, silenceOf, type DatabaseOptions } from './options.ts'

/** Consecutive failed checks before a connection is closed. A check fails when the server does not run the session. */
const STRIKES = 3

/**
 * Reads the identity of the session, and makes the server check the connection, both when it is idle and while a
 * statement runs. Behind a pooler the process id belongs to another process, so there is no row. `tcp_user_timeout`
 * stays unset, because it would end a COPY whose reader pauses. Statements are not compiled (jit): with functions of PostGIS
 * the planner expects costs that make PostgreSQL compile for seconds what runs in milliseconds.
 */
const IDENTIFY = `select pid || ' ' || extract(epoch from backend_start) as session,
    set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),
    set_config('tcp_keepalives_count', '3', false), set_config('client_connection_check_interval', $2, false),
    set_config('jit', 'off', false)
  from pg_stat_activity where pid = pg_backend_pid() and pid = $1`

const RUNNING = `select pid || ' ' || extract(epoch from backend_start) as session
  from pg_stat_activity where pid = any ($1::int[]) and coalesce(state, '') not like 'idle%'`

const UNRESOLVED: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN'])

/** A connection that is watched. */
interface Watched {
  readonly pid: number
  readonly session: string
  /** Bytes in both directions at the last look. */
  bytes: number
  strikes: number
}

/**
 * Closes connections that have died silently. While a statement waits and no byte passes, the server is asked on a new
 * connection whether it runs that session: a long statement continues, a lost one fails with DATABASE_UNAVAILABLE. A
 * timeout of statements could not distinguish the two.
 */
export class SilenceWatch implements Disposable {
  readonly #options: DatabaseOptions
  readonly #watched = new Map<ClientBase, Watched>()
  readonly #timer: NodeJS.Timeout
  #isChecking = false

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#look(), silenceOf(options)).unref()
  }

  /** Watches a new connection. Connections through a pooler cannot be identified and are left out. */
  async add(client: ClientBase): Promise<void> {
    const pid = (client as unknown as { processID: number | null }).processID
    if (pid === null) return
    const { rows } = await client
      .query<{ session: string }>({
        text: IDENTIFY,
        values: [pid, String(silenceOf(this.#options))],
        ...answerWithin(connectTimeoutOf(this.#options)),
      })
      .catch((error: unknown) => {
        // A server that refuses this has another catalogue, or a system that cannot check connections.
        if (isOfServer(error)) return { rows: [] }
        throw error
      })
    const session = rows[0]?.session
    if (session !== undefined) this.#watched.set(client, { pid, session, bytes: 0, strikes: 0 })
  }

  remove(client: ClientBase): void {
    this.#watched.delete(client)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#isChecking) return
    const suspects = [...this.#watched].filter(([client, watched]) => isSuspect(client, watched))
    if (suspects.length === 0) return
    this.#isChecking = true
    try {
      const running = await this.#running(suspects.map(([, { pid }]) => pid))
      for (const [client, watched] of suspects) {
        if (running === null || running.has(watched.session) || !isSilent(client, watched)) watched.strikes = 0
        else if (++watched.strikes >= STRIKES) close(client)
      }
    } finally {
      this.#isChecking = false
    }
  }

  /** The requested sessions that the server still runs; empty when it is not reached, null when that is unknown. */
  async #running(pids: readonly number[]): Promise<ReadonlySet<string> | null> {
    const client = new BoundedClient(connectionOf(this.#options, ' check'))
    client.on('error', ignore)
    try {
      await client.connect()
      const { rows } = await client.query<{ session: string }>({
        text: RUNNING,
        values: [pids],
        ...answerWithin(connectTimeoutOf(this.#options)),
      })
      return new Set(rows.map(({ session }) => session))
    } catch (error) {
      // An error of the server, e.g. too many clients, shows that it is up; a failed DNS look-up shows nothing.
      return isOfServer(error) || UNRESOLVED.has(String((error as { code?: unknown }).code)) ? null : new Set()
    } finally {
      streamOf(client).destroy()
    }
  }
}

/** A statement is waiting, no byte has passed since the last check, and this side has not paused reading. */
function isSilent(client: ClientBase, { bytes }: Watched): boolean {
  return isWaiting(client) && streamOf(client).readableLength === 0 && bytes === bytesOf(client)
}

function isSuspect(client: ClientBase, watched: Watched): boolean {
  const silent = isSilent(client, watched)
  if (!silent) watched.strikes = 0
  watched.bytes = bytesOf(client)
  return silent
}

function bytesOf(client: ClientBase): number {
  const { bytesRead, bytesWritten } = streamOf(client)
  return bytesRead + bytesWritten
}

/** True for an error that the server sent in an ErrorResponse. */
function isOfServer(error: unknown): boolean {
  return (error as { severity?: unknown }).severity !== undefined
}

function close(client: ClientBase): void {
  const cause = new Error('the connection was silent, and its server no longer runs the session or cannot be reached')
  streamOf(client).destroy(databaseUnavailable(undefined, { cause }))
}

/** The driver's timeout of a query, which its types allow only for whole clients. */
export function answerWithin(ms: number): Record<string, number> {
  return { query_timeout: ms }
}

function ignore(): void {}
