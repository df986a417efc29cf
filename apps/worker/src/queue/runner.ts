import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobError } from '@terrane/contracts'
import type { TerraneError } from '@terrane/core'
import { appliedResult, dropStaging, type Database } from '@terrane/database'
import type { GuardedFetch, Logger } from '@terrane/service'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { cancelled, shuttingDown, timedOut, toShowable, workerLost } from '../errors.ts'
import type { Task } from '../jobs/task.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import { ProgressWriter } from './progress-writer.ts'
import { QUEUE_SCHEMA } from './boss.ts'
import type { JobRow, JobStore } from './job-store.ts'

/** Runs of one job, at most: the first, and more when a worker is lost or an upstream fails. */
export const MAX_ATTEMPTS = 4
/** Runs that may end in an upstream's error before the job fails with it. */
const MAX_FAILING_ATTEMPTS = 3
/** Channel of NOTIFY that tells runners of cancellations. */
export const CANCEL_CHANNEL = 'terrane_cancel'
const HEARTBEAT_SECONDS = 15
const CANCEL_POLL_MS = 500
const RECONCILE_MS = 10_000
const RETENTION_SWEEP_MS = 3_600_000

export interface RunnerOptions {
  readonly boss: PgBoss
  readonly database: Database
  readonly store: JobStore
  readonly tasks: readonly Task[]
  readonly projects: ProjectDirectory
  readonly fetch: GuardedFetch
  readonly logger: Logger
  readonly workdir: string
  /** Jobs of one task that this process runs at once. */
  readonly concurrency: number
  /** Jobs of one task and project that run at once, over all workers. */
  readonly projectConcurrency: number
  readonly retentionDays: number
  /** Stable name of this worker: jobs that carry it when it starts were lost by its predecessor. */
  readonly workerId: string
}

interface ActiveJob {
  readonly controller: AbortController
  readonly done: Promise<void>
}

/** Takes jobs from the queues and runs their tasks; ends them in exactly one way, whatever happens. */
export class Runner {
  private readonly options: RunnerOptions
  private readonly active = new Map<string, ActiveJob>()
  private readonly timers: NodeJS.Timeout[] = []
  private readonly slots: string[] = []
  private listener: AsyncDisposable | null = null
  private stopping = false

  constructor(options: RunnerOptions) {
    this.options = options
  }

  /** Makes the queues and starts working on them. */
  async start(): Promise<void> {
    const { boss, database, tasks, logger, workdir, concurrency } = this.options
    await mkdir(workdir, { recursive: true })
    for (const task of tasks) await ensureQueue(boss, task)
    await this.recoverLost()
    await this.sweep()
    this.listener = await database.listen(CANCEL_CHANNEL, (id) => this.cancel(id))
    this.every(CANCEL_POLL_MS, () => this.pollCancellations())
    this.every(RECONCILE_MS, () => this.reconcile())
    this.every(RETENTION_SWEEP_MS, () => this.sweep())
    for (const task of tasks) {
      for (let slot = 0; slot < concurrency; slot++) await this.work(task)
    }
    logger.info({ tasks: tasks.map((task) => task.name) }, 'working')
  }

  /** One slot for jobs of a task. After a job it looks for the next one at once. */
  private async work(task: Task): Promise<void> {
    const { boss, database, projectConcurrency } = this.options
    const slot = await boss.work(
      task.name,
      {
        includeMetadata: true,
        batchSize: 1,
        groupConcurrency: projectConcurrency,
        pollingIntervalSeconds: database.capabilities.notify ? 2 : 1,
        notifyPollingIntervalSeconds: 5,
        heartbeatRefreshSeconds: 3,
      },
      async ([job]: JobWithMetadata[]) => {
        if (!job) return
        try {
          await this.handle(task, job)
        } finally {
          boss.notifyWorker(slot)
        }
      },
    )
    this.slots.push(slot)
  }

  /** Fetches now instead of at the next poll: for the process that has just enqueued a job. */
  nudge(): void {
    if (!this.stopping) for (const slot of this.slots) this.options.boss.notifyWorker(slot)
  }

  /** How many jobs run here now. */
  get running(): number {
    return this.active.size
  }

  /** Takes no more jobs and gives running ones the time to end; those that do not are handed to another worker. */
  async stop(drainMs: number): Promise<void> {
    this.stopping = true
    for (const task of this.options.tasks) await this.options.boss.offWork(task.name, { wait: false })
    const ended = Promise.all([...this.active.values()].map((job) => job.done))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([ended, new Promise((resolve) => (timer = setTimeout(resolve, drainMs)))])
    clearTimeout(timer)
    for (const job of this.active.values()) job.controller.abort(shuttingDown())
    await Promise.all([...this.active.values()].map((job) => job.done))
    for (const interval of this.timers) clearInterval(interval)
    await this.listener?.[Symbol.asyncDispose]()
  }

  /** Stops a job that runs here; nothing happens when it does not. */
  cancel(id: string): void {
    this.active.get(id)?.controller.abort(cancelled())
  }

  private async handle(task: Task, job: JobWithMetadata): Promise<void> {
    const controller = new AbortController()
    job.signal.addEventListener('abort', () => controller.abort(timedOut({ seconds: job.expireInSeconds })))
    const { promise: done, resolve: settle } = Promise.withResolvers<void>()
    this.active.set(job.id, { controller, done })
    try {
      if (this.stopping) throw shuttingDown()
      await this.run(task, job.id, job.retryCount + 1, controller)
    } finally {
      this.active.delete(job.id)
      settle()
    }
  }

  /** Returns when the job has ended; throws when the queue shall run it again. */
  private async run(task: Task, id: string, attempt: number, controller: AbortController): Promise<void> {
    const { store } = this.options
    const logger = this.options.logger.child({ jobId: id, task: task.name, attempt })
    const row = await store.start(id, attempt)
    if (!row) return
    await this.claim(task, id)
    if (row.cancel_requested) return this.end(row, cancelled(), logger)
    const progress = new ProgressWriter(store, id, attempt, () => controller.abort(workerLost({ attempts: attempt })))
    logger.info('job started')
    let thrown: unknown
    try {
      const result = await this.execute(task, row, attempt, controller.signal, progress, logger)
      await progress.close()
      await store.succeed(id, result)
      logger.info('job succeeded')
      return
    } catch (error) {
      thrown = controller.signal.aborted ? controller.signal.reason : error
    }
    await progress.close()
    const error = toShowable(thrown)
    if (error.code === 'worker_stopping' || (mayRetry(error) && attempt < MAX_FAILING_ATTEMPTS)) {
      await store.requeue(id, `${error.message}; it will be tried again`)
      logger.warn({ err: thrown }, 'job interrupted')
      throw error
    }
    await this.end(row, error, logger, thrown)
  }

  /** Runs the task in its folder and project, and cleans both up. A job that took effect before is not run again. */
  private async execute(
    task: Task,
    row: JobRow,
    attempt: number,
    signal: AbortSignal,
    progress: ProgressWriter,
    logger: Logger,
  ): Promise<unknown> {
    const workdir = join(this.options.workdir, row.id)
    await rm(workdir, { recursive: true, force: true })
    await mkdir(workdir)
    let opened: OpenProject | null = null
    try {
      const { input, project } = await this.options.projects.open(row)
      opened = project
      const database = project.database
      const before = await appliedResult(database, row.id)
      if (before !== null) return before
      await dropStaging(database, row.id)
      try {
        return await task.run(input, {
          jobId: row.id,
          attempt,
          project: { ref: row.project_ref, database: database.withSignal(signal), store: project.store },
          signal,
          logger,
          fetch: this.options.fetch,
          workdir,
          progress: (step) => progress.report(step),
        })
      } catch (error) {
        // A cancellation that came while the effect was being committed came too late.
        const applied = await appliedResult(database, row.id)
        if (applied !== null) return applied
        await dropStaging(database, row.id)
        throw error
      }
    } finally {
      await opened?.[Symbol.asyncDispose]()
      await rm(workdir, { recursive: true, force: true })
    }
  }

  private async end(row: JobRow, error: TerraneError, logger: Logger, thrown?: unknown): Promise<void> {
    await this.options.store.fail(row.id, toJobError(error))
    if (error.kind === 'internal') logger.error({ err: thrown }, 'job failed')
    else logger.info({ code: error.code, reason: error.message }, 'job failed')
  }

  /** Writes into the queue's job which worker has it. */
  private async claim(task: Task, id: string): Promise<void> {
    await this.options.database.query(
      `update ${QUEUE_SCHEMA}.job set data = jsonb_build_object('worker', $3::text) where name = $1 and id = $2`,
      [task.name, id, this.options.workerId],
    )
  }

  /** Gives jobs that a predecessor of the same name held when it died back to the queue, without waiting for its heartbeat. */
  private async recoverLost(): Promise<void> {
    const { boss, database, workerId, logger } = this.options
    const { rows } = await database.query<{ id: string; name: string }>(
      `select id, name from ${QUEUE_SCHEMA}.job where state = 'active' and data->>'worker' = $1`,
      [workerId],
    )
    for (const { id, name } of rows) {
      logger.warn({ jobId: id }, 'taking back a job that was lost')
      await boss.fail(name, id, { message: 'the worker was restarted' })
    }
  }

  private async pollCancellations(): Promise<void> {
    if (this.active.size === 0) return
    for (const id of await this.options.store.cancelRequested([...this.active.keys()])) this.cancel(id)
  }

  /** Brings records up to date whose queue job was given back or given up without a runner to say so. */
  private async reconcile(): Promise<void> {
    const { database, store, logger } = this.options
    const { rows } = await database.query<{ id: string; state: string | null; attempts: number }>(
      `select j.id, b.state::text as state, coalesce(b.retry_count, 0) + 1 as attempts
       from terrane.jobs j left join ${QUEUE_SCHEMA}.job b on b.name = j.task and b.id = j.id
       where j.status in ('pending', 'running') and j.updated_at < clock_timestamp() - interval '5 seconds'
         and (b.state is null or b.state in ('failed', 'cancelled') or (b.state = 'retry' and j.status = 'running'))`,
    )
    for (const { id, state, attempts } of rows) {
      if (this.active.has(id)) continue
      if (state === 'retry') {
        await store.requeue(id, 'the worker was lost; another one takes the job over')
        continue
      }
      logger.warn({ jobId: id, attempts }, 'job given up')
      await this.cleanUp(id)
      await store.fail(id, toJobError(workerLost({ attempts })))
    }
  }

  /** Removes what a lost run may have left in its project. */
  private async cleanUp(id: string): Promise<void> {
    try {
      const row = await this.options.store.get(id)
      if (!row) return
      const { project } = await this.options.projects.open(row)
      await using opened = project
      await dropStaging(opened.database, id)
    } catch (error) {
      this.options.logger.warn({ err: error, jobId: id }, 'cleaning up after a lost job failed')
    }
  }

  /** Forgets old jobs, and folders of jobs that do not run here any more. */
  private async sweep(): Promise<void> {
    await this.options.store.prune(this.options.retentionDays)
    for (const name of await readdir(this.options.workdir)) {
      if (!this.active.has(name)) await rm(join(this.options.workdir, name), { recursive: true, force: true })
    }
  }

  /** Repeats work until the runner stops; a failure is logged and the next round tries again. */
  private every(ms: number, work: () => Promise<void>): void {
    let busy = false
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      work()
        .catch((error: unknown) => this.options.logger.warn({ err: error }, 'housekeeping failed'))
        .finally(() => {
          busy = false
        })
    }, ms)
    this.timers.push(timer)
  }
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Creates the queue of a task, or brings its settings up to date. */
export async function ensureQueue(boss: PgBoss, task: Pick<Task, 'name' | 'expireSeconds'>): Promise<void> {
  const settings = {
    notify: true,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: task.expireSeconds,
    retryLimit: MAX_ATTEMPTS - 1,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    retentionSeconds: 30 * 86_400,
    deleteAfterSeconds: 7 * 86_400,
  }
  if (await boss.getQueue(task.name)) await boss.updateQueue(task.name, settings)
  else await boss.createQueue(task.name, settings)
  // A send looks the queue up outside its transaction unless it is known already: on a database of one session the two
  // would wait for each other. This makes it known.
  await boss.touch(task.name, NIL_UUID)
}

/** Faults of others may pass; what the input is at fault for, or this program, does not. */
function mayRetry(error: TerraneError): boolean {
  return (
    error.kind === 'upstream' ||
    error.kind === 'timeout' ||
    error.kind === 'rate_limited' ||
    error.code === 'DATABASE_UNAVAILABLE'
  )
}

/** The public error of a failed job. */
export function toJobError(error: TerraneError): JobError {
  return {
    code: error.code,
    message: error.message,
    hint: error.hint,
    details: error.details,
    retryable: error.retryable,
  }
}
