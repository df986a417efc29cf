import { rowsOf } from '../protocol/messages.ts'
import { errorIn, type SharedSession } from './shared-session.ts'

/** Waiting users of the session during maintenance of a table. */
export type Demand = 'none' | 'a client' | 'the stop'

/** A table that is to be maintained. */
interface DueTable {
  readonly oid: string
  /** Qualified and quoted. */
  readonly name: string
  readonly command: string
}

/** Time that clients wait for a table, and when it is checked again. */
interface Pause {
  readonly patienceMs: number
  readonly until: number
}

/** Bytes of log since the last checkpoint that cause another checkpoint. */
const MAX_LOG_BYTES = 32 << 20
/** Bytes that cause a checkpoint after {@link CHECKPOINT_MS}; not 0, because a checkpoint itself writes some log. */
const LITTLE_LOG_BYTES = 1 << 16
const CHECKPOINT_MS = 300_000
/** Checks take a twentieth of the time at most. */
const LOOK_SHARE = 20
const LEAST_LOOK_MS = 50
const MOST_LOOK_MS = 1000
/** Clients wait this long for a table, and twice as long after each interruption. */
const PATIENCE_MS = 1000
const MOST_PATIENCE_MS = 10_000
/** Maximum share of the time for the maintenance of a table: one sixth. */
const PAUSE_SHARE = 5
const WATCH_MS = 20
/** SQLSTATE of an interrupted statement, and of one whose table was dropped meanwhile. */
const EXPECTED: ReadonlySet<string | undefined> = new Set(['57014', '42P01'])
const MOST_REPORTS = 100

/** Settings of a server that keeps its log small, because {@link Maintenance} makes the checkpoints. */
export const LOG_SETTINGS = ['max_wal_size=64MB', 'min_wal_size=32MB']

/**
 * Vacuums and checkpoints, which background processes do on a PostgreSQL server. After work of clients it reads the
 * length of the log and the tables with many changes, and runs one statement at a time between two units of clients. A
 * vacuum that keeps a client waiting is interrupted and tried again later.
 */
export class Maintenance {
  #due: DueTable[] = []
  #hasWorked = true
  #lookAt = 0
  /** Time of the next check although no client has worked since. */
  #lookAgainAt = Infinity
  readonly #pauses = new Map<string, Pause>()
  readonly #reported = new Set<string>()

  /** A client has had the session. */
  worked(): void {
    this.#hasWorked = true
  }

  /** Milliseconds until there is something to do; Infinity when only work of clients can change that. */
  get dueInMs(): number {
    if (this.#due.length > 0) return 0
    const at = this.#hasWorked ? this.#lookAt : Math.max(this.#lookAt, this.#lookAgainAt)
    return Math.max(0, at - performance.now())
  }

  /** Checks what is due, or maintains one table. The session must be free. @throws when the engine ends */
  async step(session: SharedSession, demand: () => Demand): Promise<void> {
    const began = performance.now()
    await session.leave()
    const table = this.#due.shift()
    if (table) await this.#maintain(session, table, demand)
    else await this.#look(session, began)
  }

  async #look(session: SharedSession, began: number): Promise<void> {
    this.#hasWorked = false
    const [state] = rowsOf(await this.#ask(session, LOG))
    const [log, ageMs] = [Number(state?.[0] ?? 0), Number(state?.[1] ?? 0)]
    const isFull = log > MAX_LOG_BYTES || (log > LITTLE_LOG_BYTES && ageMs > CHECKPOINT_MS)
    if (isFull) await this.#ask(session, 'checkpoint')
    const now = performance.now()
    const found = rowsOf(await this.#ask(session, TABLES)).map(([oid, name, command]) => ({
      oid: oid ?? '',
      name: name ?? '',
      command: command ?? '',
    }))
    const present = new Set(found.map(({ oid }) => oid))
    for (const [oid, { until }] of this.#pauses) if (until <= now && !present.has(oid)) this.#pauses.delete(oid)
    this.#due = found.filter(({ oid }) => !((this.#pauses.get(oid)?.until ?? 0) > now))
    const waiting = found.map(({ oid }) => this.#pauses.get(oid)?.until ?? 0).filter((until) => until > now)
    const checkpointAt = !isFull && log > LITTLE_LOG_BYTES ? now + CHECKPOINT_MS - ageMs : Infinity
    this.#lookAgainAt = Math.min(checkpointAt, ...waiting)
    const tookMs = performance.now() - began
    this.#lookAt = performance.now() + Math.min(MOST_LOOK_MS, Math.max(LEAST_LOOK_MS, tookMs * LOOK_SHARE))
  }

  async #ask(session: SharedSession, statement: string): Promise<Buffer> {
    const answer = await session.ask(statement)
    const error = errorIn(answer)
    if (error !== null) this.#report(statement, error)
    return answer
  }

  /** Warns once of each statement and code. */
  #report(statement: string, error: ReadonlyMap<string, string>): void {
    const text = `maintenance of the embedded database failed: ${statement.slice(0, 80)}: ${error.get('C')} ${error.get('M')}`
    if (this.#reported.has(text) || this.#reported.size >= MOST_REPORTS) return
    this.#reported.add(text)
    process.emitWarning(text, 'EmbeddedDatabaseWarning')
  }

  async #maintain(session: SharedSession, { oid, name, command }: DueTable, demand: () => Demand): Promise<void> {
    const patienceMs = this.#pauses.get(oid)?.patienceMs ?? PATIENCE_MS
    const began = performance.now()
    let wantedSince = 0
    const watch = setInterval(() => {
      const wanted = demand()
      if (wanted === 'none') return
      wantedSince ||= performance.now()
      if (wanted === 'the stop' || performance.now() - wantedSince >= patienceMs) session.engine.interrupt()
    }, WATCH_MS)
    let isDone = false
    try {
      const error = errorIn(await session.ask(`${command} ${name}`))
      isDone = error === null
      if (error !== null && !EXPECTED.has(error.get('C'))) this.#report(`${command} ${name}`, error)
    } finally {
      clearInterval(watch)
    }
    const now = performance.now()
    const next = isDone ? PATIENCE_MS : Math.min(MOST_PATIENCE_MS, patienceMs * 2)
    const until = now + PAUSE_SHARE * (isDone ? now - began : Math.max(patienceMs, now - began))
    this.#pauses.set(oid, { patienceMs: next, until })
    // More work may be due.
    this.#lookAgainAt = Math.min(this.#lookAgainAt, until)
  }
}

/** Bytes since the last checkpoint, and its age in milliseconds. Flushes the statistics that {@link TABLES} reads. */
const LOG = `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn),
    extract(epoch from now() - checkpoint_time) * 1000, pg_stat_force_next_flush()
  from pg_control_checkpoint()`

/**
 * Tables that autovacuum would process with its default settings, the most urgent first. A crash loses the statistics:
 * a table without any is vacuumed once, unless it is small.
 */
const TABLES = `with t as (
    select oid, oid::regclass as name, pg_stat_get_dead_tuples(oid) as dead, greatest(reltuples, 0) as rows, relkind, relfrozenxid
    from pg_class where relkind in ('r', 'm', 't') and relpersistence <> 't'
  ), due as (
    select oid, name, dead / (rows + 1) as share,
      dead > 50 + 0.2 * rows or pg_stat_get_ins_since_vacuum(oid) > 1000 + 0.2 * rows or age(relfrozenxid) > 100000000
        or (pg_stat_get_last_vacuum_time(oid) is null and pg_relation_size(oid) > 1048576) as vacuums,
      relkind <> 't' and oid <> 'pg_statistic'::regclass
        and pg_stat_get_mod_since_analyze(oid) > 50 + 0.1 * rows as analyzes
    from t)
  select oid, name, case when not vacuums then 'analyze' when analyzes then 'vacuum (analyze)' else 'vacuum' end
  from due where vacuums or analyzes order by share desc`
