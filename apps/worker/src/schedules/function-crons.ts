import { randomUUID } from 'node:crypto'
import type { Database } from '@terrane/database'
import { Counter, type Logger, type Registry } from '@terrane/service'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { CALL_EXPIRES_S, type Attempt, type Caller } from '../events/caller.ts'
import { LIVE_FUNCTIONS } from '../events/function-limits.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import { inTransaction } from '../queue/boss.ts'
import { openQueue } from '../queue/open-queue.ts'
import { makeSecret } from '../webhooks/sign.ts'
import { nextTick } from './cron.ts'

const QUEUE = 'function-crons'
/** Retries of a call that did not reach the function, after 5, 10, 20 … seconds. */
const RETRIES = 5
const SETTINGS = {
  retryLimit: RETRIES,
  retryDelay: 5,
  retryBackoff: true,
  expireInSeconds: CALL_EXPIRES_S,
  retentionSeconds: 3600,
  deleteAfterSeconds: 3600,
}
const POLL_SECONDS = 1
/** Maximum concurrent calls of this process, and of one project. */
const AT_ONCE = 8
const AT_ONCE_PER_PROJECT = 4
/** Maximum due times per look. */
const MOST_DUE = 100
/** Codes for a function that was not reached: no connection, a host that is full, or a function that cannot start. */
const UNREACHED: ReadonlySet<string | null> = new Set(['DOWNLOAD_FAILED', 'FUNCTION_BUSY', 'FUNCTION_BOOT_ERROR'])

/** A queued time of a function's schedule. */
interface Tick {
  readonly projectId: string
  readonly function: string
  readonly name: string
  readonly cron: string
  readonly at: string
}

interface CronRow {
  readonly project_id: string
  readonly function_name: string
  readonly entry: string
  readonly time_zone: string
  readonly next_at: Date
}

export interface FunctionCronsOptions {
  readonly boss: PgBoss
  readonly database: Database
  readonly projects: Pick<ProjectDirectory, 'scopeById'>
  readonly caller: Caller
  readonly logger: Logger
  readonly registry: Registry
}

/** Schedules that functions declare. */
const WANTED = `select p.project_id, p.name as function_name, entry.value as entry, coalesce(p.policy->>'time_zone', 'UTC') as time_zone
  from ${LIVE_FUNCTIONS} p cross join jsonb_array_elements_text(p.policy->'schedule') entry (value)`

const SAME = `c.project_id = w.project_id and c.function_name = w.function_name and c.entry = w.entry and c.time_zone = w.time_zone`

/** Calls functions by cron; the worker that moves a schedule on queues one call, however many times were missed. */
export class FunctionCrons {
  readonly #options: FunctionCronsOptions
  readonly #calls: Counter
  readonly #stopping = new AbortController()
  /** Signs calls like other messages; functions recognise the platform by the service key. */
  readonly #secret = makeSecret()

  constructor(options: FunctionCronsOptions) {
    this.#options = options
    this.#calls = new Counter({
      name: 'terrane_function_cron_calls_total',
      help: 'Calls of functions at their times, by outcome: answered, failed, unreached.',
      labelNames: ['outcome'],
      registers: [options.registry],
    })
    for (const outcome of ['answered', 'failed', 'unreached']) this.#calls.inc({ outcome }, 0)
  }

  /** Creates the queue. */
  async open(): Promise<void> {
    await openQueue(this.#options.boss, QUEUE, SETTINGS)
  }

  /** Queues due calls. */
  async tick(): Promise<void> {
    const { database } = this.#options
    await this.#follow()
    const { rows } = await database.query<CronRow>(
      'select * from terrane.function_crons where next_at <= clock_timestamp() order by next_at limit $1',
      [MOST_DUE],
    )
    for (const row of rows) await this.#take(row)
  }

  /** Calls until {@link stop}. */
  async start(): Promise<void> {
    const options = {
      pollingIntervalSeconds: POLL_SECONDS,
      localConcurrency: AT_ONCE,
      localGroupConcurrency: AT_ONCE_PER_PROJECT,
      includeMetadata: true as const,
    }
    await this.#options.boss.work(QUEUE, options, async ([job]: JobWithMetadata<Tick>[]) => {
      if (job) await this.#call(job)
    })
  }

  /** Aborts running calls, which another worker repeats. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the worker stops'))
    await this.#options.boss.offWork(QUEUE, { wait: true })
  }

  /** Adds the schedules that functions declare, and deletes the others. */
  async #follow(): Promise<void> {
    const { database, logger } = this.#options
    await database.query(
      `delete from terrane.function_crons c where not exists (select from (${WANTED}) w where ${SAME})`,
    )
    const { rows } = await database.query<Omit<CronRow, 'next_at'> & { now: Date }>(
      `select w.*, clock_timestamp() as now from (${WANTED}) w where not exists (select from terrane.function_crons c where ${SAME})`,
    )
    for (const row of rows) {
      const next = nextTick(cronOf(row.entry).cron, row.time_zone, row.now)
      const { rowCount } = await database.query(
        `insert into terrane.function_crons (project_id, function_name, entry, time_zone, next_at) values ($1, $2, $3, $4, $5)
         on conflict do nothing`,
        [row.project_id, row.function_name, row.entry, row.time_zone, next],
      )
      if (rowCount === 0) continue
      const facts = { projectId: row.project_id, function: row.function_name, cron: row.entry, next }
      if (next === null) logger.warn(facts, 'a cron of a function has no time: see its expression and its time zone')
      else logger.info(facts, 'a cron of a function is followed')
    }
  }

  async #take(row: CronRow): Promise<void> {
    const { boss, database } = this.#options
    const { name, cron } = cronOf(row.entry)
    await database.transaction(async (session) => {
      const { rows } = await session.query<{ now: Date }>('select clock_timestamp() as now')
      const next = nextTick(cron, row.time_zone, rows[0]!.now)
      const { rowCount } = await session.query(
        `update terrane.function_crons set next_at = $6, last_at = clock_timestamp()
         where project_id = $1 and function_name = $2 and entry = $3 and time_zone = $4 and next_at = $5`,
        [row.project_id, row.function_name, row.entry, row.time_zone, row.next_at, next],
      )
      if (rowCount !== 1) return
      const tick: Tick = {
        projectId: row.project_id,
        function: row.function_name,
        name,
        cron,
        at: row.next_at.toISOString(),
      }
      await boss.send(QUEUE, tick, { id: randomUUID(), group: { id: row.project_id }, ...inTransaction(session) })
    })
  }

  /** Calls a function. Throws when it was not reached: the queue then tries again. */
  async #call({ id, data, signal, retryCount }: JobWithMetadata<Tick>): Promise<void> {
    const { projects, caller, logger } = this.#options
    const scope = await projects.scopeById(data.projectId)
    if (!scope) return
    const event = { name: data.name, cron: data.cron, scheduledTime: Date.parse(data.at) }
    const attempt = await caller.post({
      scope,
      target: () => ({ function: data.function, secret: this.#secret }),
      id: `cron_${id.replaceAll('-', '')}`,
      body: JSON.stringify({ type: 'cron', ...event }),
      headers: { 'x-terrane-cron': encodeURIComponent(JSON.stringify(event)) },
      signal: AbortSignal.any([this.#stopping.signal, signal]),
    })
    const outcome = outcomeOf(attempt)
    this.#calls.inc({ outcome })
    const facts = { function: data.function, cron: data.cron, name: data.name, at: data.at, reason: attempt.error }
    logger[outcome === 'answered' ? 'info' : 'warn'](facts, `a function was called at its time: ${outcome}`)
    if (outcome === 'unreached' && retryCount < RETRIES) throw new Error('the function was not reached')
  }
}

function outcomeOf({ error, code }: Attempt): 'answered' | 'failed' | 'unreached' {
  if (error === null) return 'answered'
  return UNREACHED.has(code) ? 'unreached' : 'failed'
}

/** Name and expression of an entry. */
function cronOf(entry: string): { readonly name: string; readonly cron: string } {
  const at = entry.indexOf(': ')
  return at < 0 ? { name: '', cron: entry } : { name: entry.slice(0, at), cron: entry.slice(at + 2) }
}
