import type { TerraneError } from '@terrane/core'
import type { Database, Session } from '@terrane/database'
import type { PgBoss } from 'pg-boss'
import { cancelled, toJobError } from '../errors.ts'
import { WORK_CHANNEL, inTransaction } from './boss.ts'
import type { JobStore } from './job-store.ts'
import { listDueTasks, lockRun, markRun, putBack, renewHeartbeats, type Claim } from './queue-tables.ts'
import { serveTurn } from './fair-queue.ts'

/** Idle time of taking a job: ends the lock of a disconnected worker, but not of one with a slow event loop. */
const IDLE_TAKING = '30s'
/** Longest wait for a worker that takes a job of the same task. */
const LOCK_TAKING = '5s'
const BEGIN_TAKING = `begin; set local idle_in_transaction_session_timeout = '${IDLE_TAKING}'; set local lock_timeout = '${LOCK_TAKING}'`
const LOCK_NOT_AVAILABLE = '55P03'

/** Milliseconds after which a look for jobs is abandoned, because its connection may have died silently. */
const LOOK_MS = 30_000
/** Maximum abandoned looks of one task: each holds a connection until the database closes it. */
const MOST_LEFT_BEHIND = 2
/** Key of the polls in place of a task's name. */
const ALL_TASKS = ''

/** Interval after which a job that waits for its shards is fetched again, in case a message was lost. */
const LOOK_AGAIN = '60s'

/** Dependencies of {@link JobLeases}. */
export interface JobLeasesOptions {
  readonly boss: PgBoss
  readonly database: Database
  readonly store: JobStore
  readonly workerId: string
  /** Maximum running jobs of one task and project, over all workers. */
  readonly projectConcurrency: number
}

/**
 * Takes jobs from the queue and settles them. pg-boss lets any worker settle a running job, so a lost or handed-over
 * run could end the job of its successor. Therefore each run writes its own mark into the queue's job, and settles the
 * job only while that mark is there, in one transaction with the job's record.
 */
export class JobLeases {
  readonly #options: JobLeasesOptions
  /** The latest look for jobs of each task. */
  readonly #looks = new Map<string, Promise<void>>()
  /** Number of abandoned looks of each key, a task or {@link ALL_TASKS}, that have not ended. */
  readonly #leftBehind = new Map<string, number>()

  constructor(options: JobLeasesOptions) {
    this.#options = options
  }

  /** The next job of a task that may run now, or null. Looks run one after the other; one that hangs is abandoned. */
  take(task: string): Promise<Claim | null> {
    const giveBack = (claim: Claim | null) => claim && this.handOver(claim, 'The worker took too long to take it')
    const before = this.#looks.get(task) ?? Promise.resolve()
    const look = before.then(() => this.#answered(task, this.#take(task), giveBack))
    this.#looks.set(task, look.then(ignore, ignore))
    return look
  }

  /** The tasks of these that have a job to start now: one statement, where {@link take} is a transaction of each task. */
  due(tasks: readonly string[]): Promise<string[]> {
    return this.#answered(ALL_TASKS, listDueTasks(this.#options.database, tasks), ignore)
  }

  /** Waits for a look, and abandons it when it takes too long. @param onLate gets what an abandoned look finds */
  async #answered<T>(key: string, look: Promise<T>, onLate: (found: T) => unknown): Promise<T> {
    const before = this.#leftBehind.get(key) ?? 0
    // The connection of the embedded database cannot die silently; a look waits there for the running statement.
    if (!this.#options.database.capabilities.locks || before >= MOST_LEFT_BEHIND) return look
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      this.#leftBehind.set(key, (this.#leftBehind.get(key) ?? 0) + 1)
      look
        .then(onLate)
        .catch(ignore)
        .finally(() => this.#leftBehind.set(key, this.#leftBehind.get(key)! - 1))
      reject(new Error(`the database did not answer within ${LOOK_MS / 1000} s`))
    }, LOOK_MS)
    try {
      return await Promise.race([look, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Workers take jobs of a task one by one: concurrent fetches of pg-boss do not see each other's running jobs. */
  async #take(task: string): Promise<Claim | null> {
    const { database } = this.#options
    // The embedded database runs transactions one after the other.
    if (!database.capabilities.locks) return database.transaction((session) => this.#fetch(session, task))
    try {
      return await database.transaction(async (session) => {
        await session.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`terrane:take:${task}`])
        return this.#fetch(session, task)
      }, BEGIN_TAKING)
    } catch (error) {
      // Another worker holds the lock; the job, if any, is found at the next look.
      if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return null
      throw error
    }
  }

  async #fetch(session: Session, task: string): Promise<Claim | null> {
    const { boss, workerId, projectConcurrency } = this.#options
    const options = { includeMetadata: true, groupConcurrency: projectConcurrency, ...inTransaction(session) } as const
    const [job] = await boss.fetch(task, options)
    if (!job) return null
    const run = await markRun(session, { task, id: job.id }, workerId)
    await serveTurn(session, task, -job.priority)
    return { task, id: job.id, attempt: job.retryCount + 1, run }
  }

  /** Renews the claims of running jobs; returns lost ones. */
  async touch(claims: readonly Claim[]): Promise<Claim[]> {
    const held = await renewHeartbeats(this.#options.database, claims)
    return claims.filter(({ run }) => !held.has(run))
  }

  succeed(claim: Claim, result: unknown): Promise<boolean> {
    return this.#settle(claim, async (session) => {
      await this.#options.store.succeed(session, claim.id, result)
      await this.#options.boss.complete(claim.task, claim.id, null, inTransaction(session))
    })
  }

  /** @param before whether earlier, lost runs may have left tables or folders behind */
  fail(claim: Claim, error: TerraneError, before = false): Promise<boolean> {
    return this.#settle(claim, async (session) => {
      await this.#options.store.fail(session, claim.id, toJobError(error), { leavesTables: before })
      await this.#options.boss.complete(claim.task, claim.id, null, inTransaction(session))
    })
  }

  /** Removes a job whose record has ended from the queue. */
  forget(claim: Claim): Promise<boolean> {
    return this.#settle(claim, async (session) => {
      await this.#options.boss.complete(claim.task, claim.id, null, inTransaction(session))
    })
  }

  /** Schedules another attempt of the job after a delay. */
  tryAgain(claim: Claim, error: TerraneError): Promise<boolean> {
    return this.#settle(claim, async (session) => {
      const message = `${error.message}; it will be tried again`
      await this.#options.store.requeue(session, claim.id, message, 'retry', error.code)
      await this.#options.boss.fail(claim.task, claim.id, { message: error.message }, inTransaction(session))
    })
  }

  /** Requeues the job without counting the attempt. Do not settle it afterwards. */
  handOver(claim: Claim, message: string): Promise<boolean> {
    const { database, store } = this.#options
    return this.#settle(claim, async (session) => {
      await store.requeue(session, claim.id, message, 'handed_over')
      await putBack(session, claim, '0')
      if (database.capabilities.notify) await session.query('select pg_notify($1, $2)', [WORK_CHANNEL, claim.task])
    })
  }

  /** Requeues a job that waits for its shards; it becomes due when the last shard ends. */
  setAside(claim: Claim): Promise<boolean> {
    const { boss, database, store } = this.#options
    return this.#settle(claim, async (session) => {
      const state = await store.setAside(session, claim.id, toJobError(cancelled()))
      if (state === 'ended') return void (await boss.complete(claim.task, claim.id, null, inTransaction(session)))
      await putBack(session, claim, state === 'waits' ? LOOK_AGAIN : '0')
      if (state === 'on' && database.capabilities.notify) {
        await session.query('select pg_notify($1, $2)', [WORK_CHANNEL, claim.task])
      }
    })
  }

  /** Does the work if the run still holds the job; false when it does not. */
  #settle(claim: Claim, work: (session: Session) => Promise<void>): Promise<boolean> {
    return this.#options.database.transaction(async (session) => {
      if (!(await lockRun(session, claim))) return false
      await work(session)
      return true
    })
  }
}

function ignore(): void {}
