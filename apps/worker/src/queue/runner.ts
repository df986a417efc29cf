import { mkdir } from 'node:fs/promises'
import type { TerraneError } from '@terrane/core'
import type { Logger } from '@terrane/service'
import type { JobWithMetadata } from 'pg-boss'
import { cancelled, shuttingDown, timedOut, toJobError, toShowable, workerLost } from '../errors.ts'
import type { Task } from '../jobs/task.ts'
import { QUEUE_SCHEMA } from './boss.ts'
import { execute, type ExecuteOptions } from './execute.ts'
import type { JobRow } from './job-store.ts'
import { ProgressWriter } from './progress-writer.ts'
import { ensureQueue } from './queues.ts'
import { Upkeep, type UpkeepOptions } from './upkeep.ts'

/** Runs that may end in an upstream's error before the job fails with it. */
const MAX_FAILING_ATTEMPTS = 3
/** Channel of NOTIFY that tells runners of cancellations. */
export const CANCEL_CHANNEL = 'terrane_cancel'
const CANCEL_POLL_MS = 500

export interface RunnerOptions extends ExecuteOptions, UpkeepOptions {
  readonly tasks: readonly Task[]
  /** Jobs of one task that this process runs at once. */
  readonly concurrency: number
  /** Jobs of one task and project that run at once, over all workers. */
  readonly projectConcurrency: number
}

interface ActiveJob {
  readonly controller: AbortController
  readonly done: Promise<void>
}

/** Takes jobs from the queues and runs their tasks; ends them in exactly one way, whatever happens. */
export class Runner {
  private readonly options: RunnerOptions
  private readonly active = new Map<string, ActiveJob>()
  private readonly upkeep: Upkeep
  private readonly slots: string[] = []
  private listener: AsyncDisposable | null = null
  private stopping = false

  constructor(options: RunnerOptions) {
    this.options = options
    this.upkeep = new Upkeep(options, (id) => this.active.has(id))
  }

  /** Makes the queues and starts working on them. */
  async start(): Promise<void> {
    const { boss, database, tasks, logger, workdir, concurrency } = this.options
    await mkdir(workdir, { recursive: true })
    for (const task of tasks) await ensureQueue(boss, task)
    await this.upkeep.start()
    this.listener = await database.listen(CANCEL_CHANNEL, (id) => this.cancel(id))
    this.upkeep.every(CANCEL_POLL_MS, () => this.pollCancellations())
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
    this.upkeep.stop()
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
      const { signal } = controller
      const result = await execute(this.options, task, row, { attempt, signal, logger, progress })
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

  private async pollCancellations(): Promise<void> {
    if (this.active.size === 0) return
    for (const id of await this.options.store.cancelRequested([...this.active.keys()])) this.cancel(id)
  }
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
