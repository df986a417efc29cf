import type { Database } from '@terrane/database'
import { closeRuns, dropCheckpoint, dropStaging } from '@terrane/database/staging'
import type { Logger } from '@terrane/service'
import type { PgBoss } from 'pg-boss'
import { toJobError, workerLost } from '../errors.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import type { JobStore } from './job-store.ts'
import { listHeldJobs, listUnsettledJobs } from './queue-tables.ts'
import { jobsWithFolders, removeRunFolders } from './run-folders.ts'

const SCHEDULE_MS = 2000
const RECONCILE_MS = 10_000
const RETENTION_SWEEP_MS = 3_600_000

/** Dependencies of {@link Maintenance}. */
export interface MaintenanceOptions {
  readonly boss: PgBoss
  readonly database: Database
  readonly store: JobStore
  readonly projects: ProjectDirectory
  readonly logger: Logger
  readonly workdir: string
  readonly retentionDays: number
  /** Schedulers whose due requests and calls are started. */
  readonly schedulers: readonly { tick(): Promise<void> }[]
  /** Stable name of this worker. Jobs under this name at its start were lost by its predecessor. */
  readonly workerId: string
}

/** Periodic clean-up: jobs of workers that died, old records, stray folders, due schedules. */
export class Maintenance {
  readonly #options: MaintenanceOptions
  readonly #runsHere: (id: string) => boolean
  readonly #timers: NodeJS.Timeout[] = []
  /** Jobs whose leftovers are being removed. */
  readonly #underWay = new Set<string>()

  constructor(options: MaintenanceOptions, runsHere: (id: string) => boolean) {
    this.#options = options
    this.#runsHere = runsHere
  }

  /** Cleans up once, then periodically until {@link stop}. */
  async start(): Promise<void> {
    await this.#recoverLost()
    await this.#sweep()
    await this.#clear()
    for (const scheduler of this.#options.schedulers) this.every(SCHEDULE_MS, () => scheduler.tick())
    this.every(RECONCILE_MS, () => this.#reconcile())
    this.every(RECONCILE_MS, () => this.#clear())
    this.every(RETENTION_SWEEP_MS, () => this.#sweep())
  }

  /** Removes leftovers of cancelled waiting jobs now instead of in the next round. */
  async clearNow(): Promise<void> {
    if (this.#timers.length === 0) return
    await this.#clear().catch((error: unknown) => this.#options.logger.warn({ err: error }, 'housekeeping failed'))
  }

  stop(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
  }

  /** Repeats work until {@link stop}; a failure is logged and the next round tries again. */
  every(ms: number, work: () => Promise<void>): void {
    let busy = false
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      work()
        .catch((error: unknown) => this.#options.logger.warn({ err: error }, 'housekeeping failed'))
        .finally(() => {
          busy = false
        })
    }, ms)
    this.#timers.push(timer)
  }

  /** Requeues jobs that a predecessor of the same name held when it died, before their heartbeats time out. */
  async #recoverLost(): Promise<void> {
    const { boss, database, workerId, logger } = this.#options
    for (const { task, id } of await listHeldJobs(database, workerId)) {
      logger.warn({ jobId: id }, 'taking back a job that was lost')
      await boss.fail(task, id, { message: 'the worker was restarted' })
    }
  }

  /** Updates the records of jobs that pg-boss has requeued or failed without a runner. */
  async #reconcile(): Promise<void> {
    const { database, store, logger } = this.#options
    for (const { id, state, attempts } of await listUnsettledJobs(database)) {
      if (this.#runsHere(id)) continue
      if (state === 'retry') {
        await store.requeue(database, id, 'The worker was lost; another one takes the job over', 'lost')
        continue
      }
      this.#inBackground(id, async () => {
        logger.warn({ jobId: id, attempts }, 'job given up')
        await this.#cleanUp(id)
        await database.transaction((session) => store.fail(session, id, toJobError(workerLost({ attempts }))))
      })
    }
  }

  /** Removes leftovers of a job unless that is in progress. Not awaited, so a slow project does not delay others. */
  #inBackground(id: string, work: () => Promise<void>): void {
    if (this.#underWay.has(id)) return
    this.#underWay.add(id)
    work()
      .catch((error: unknown) => this.#options.logger.warn({ err: error, jobId: id }, 'housekeeping failed'))
      .finally(() => this.#underWay.delete(id))
  }

  /** Removes leftovers of interrupted runs whose jobs were cancelled before another run. */
  async #clear(): Promise<void> {
    const { database } = this.#options
    const { rows } = await database.query<{ id: string }>(
      `select id from terrane.jobs where leftovers and finished_at > clock_timestamp() - interval '1 day'
         and id <> all($1::uuid[]) limit 20`,
      [[...this.#underWay]],
    )
    for (const { id } of rows) {
      this.#inBackground(id, async () => {
        if (!(await this.#cleanUp(id))) return
        await database.query('update terrane.jobs set leftovers = false where id = $1', [id])
      })
    }
  }

  /** Deletes old jobs and leftover folders of runs; other workers may share the work directory. */
  async #sweep(): Promise<void> {
    const { database, store, workdir, retentionDays } = this.#options
    const elsewhere = (await jobsWithFolders(workdir)).filter((id) => !this.#runsHere(id))
    const { rows: idle } = await database.query<{ id: string }>(
      `select id from terrane.jobs where id = any($1::uuid[]) and status <> 'running'`,
      [elsewhere],
    )
    for (const { id } of idle) await removeRunFolders(workdir, id)
    await store.prune(retentionDays)
  }

  /** Removes leftovers of a lost run in its project and in the work directory; false when that failed. */
  async #cleanUp(id: string): Promise<boolean> {
    try {
      const row = await this.#options.store.get(id)
      if (!row) return true
      const { project } = await this.#options.projects.open(row)
      await using opened = project
      await closeRuns(opened.database, id)
      await dropCheckpoint(opened.database, id)
      await dropStaging(opened.database, id)
      await removeRunFolders(this.#options.workdir, id)
      return true
    } catch (error) {
      this.#options.logger.warn({ err: error, jobId: id }, 'cleaning up after a lost job failed')
      return false
    }
  }
}
