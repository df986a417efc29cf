import { mkdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TerraneError } from '@terrane/core'
import { inSpan, spanSince, traceId, type Logger } from '@terrane/service'
import { cancelled, shuttingDown, timedOut, toShowable, workerLost } from '../errors.ts'
import type { Task } from '../jobs/task.ts'
import { WORK_CHANNEL } from './boss.ts'
import { JobLeases, type JobLeasesOptions } from './job-leases.ts'
import { execute, type ExecuteOptions } from './execute.ts'
import { GRACE_SHARE, HAND_OVER_MS, HEARTBEAT_REFRESH_MS, LEAVE_MS, endingOf, timeoutSeconds } from './job-life.ts'
import { scopeKey, scopeOf, type JobRow, type JobScope } from './job-row.ts'
import { LaneWatch } from './lane-watch.ts'
import { outcomeOf } from './outcome.ts'
import { ProgressWriter } from './progress-writer.ts'
import type { Claim } from './queue-tables.ts'
import { settle } from './settle.ts'
import { WAITS } from './shards.ts'
import { Maintenance, type MaintenanceOptions } from './maintenance.ts'
import { WakeUps } from './wake-ups.ts'

/** NOTIFY channel for cancellations. */
export const CANCEL_CHANNEL = 'terrane_cancel'
const CANCEL_POLL_MS = 500
/** Interval of polling for jobs of all tasks, with and without NOTIFY. */
const POLL_MS = { notified: 2000, polling: 1000 }
/** Maximum interval between two looks of an idle slot: they prove that it is not stuck, and stand in for lost polls. */
const IDLE_LOOK_MS = 10_000

export interface RunnerOptions extends ExecuteOptions, MaintenanceOptions, JobLeasesOptions {
  readonly tasks: readonly Task[]
  /** Maximum jobs of one task that run in this process. */
  readonly concurrency: number
  /** Called after a run of a job here, once its record is written. */
  readonly onRan?: (id: string) => void
}

interface Run {
  readonly claim: Claim
  /** Key of its project, once its record was read. */
  project: string | null
  readonly controller: AbortController
  readonly done: Promise<void>
}

/** Takes jobs from the queues and runs their tasks. Each job is settled in exactly one way. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #leases: JobLeases
  readonly #active = new Map<string, Run>()
  readonly #maintenance: Maintenance
  readonly #listeners: (AsyncDisposable | null)[] = []
  #isLooking = false
  #lookAgain = false
  #slots: Promise<void>[] = []
  readonly #lanes = new LaneWatch()
  #ended: Promise<void> | null = null
  /** Aborts once: no more jobs are taken. */
  readonly #stopping = new AbortController()
  /** Maximum wait for a run to stop. */
  #leaveMs = LEAVE_MS
  readonly #wakeUps = new WakeUps()

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#leases = new JobLeases(options)
    this.#maintenance = new Maintenance(options, (id) => this.#active.has(id))
  }

  /** Starts working on the queues, which must exist. */
  async start(): Promise<void> {
    const { database, tasks, logger, workdir, concurrency } = this.#options
    await mkdir(workdir, { recursive: true })
    await this.#maintenance.start()
    this.#listeners.push(
      await database.listen(CANCEL_CHANNEL, () => this.lookForCancellations()),
      await database.listen(WORK_CHANNEL, (task) => this.nudge(task)),
    )
    this.#maintenance.every(CANCEL_POLL_MS, () => this.#pollCancellations())
    this.#maintenance.every(HEARTBEAT_REFRESH_MS, () => this.#beat())
    this.#maintenance.every(this.#pollMs, () => this.#wakeDue())
    this.#slots = tasks.flatMap((task) => Array.from({ length: concurrency }, () => this.#work(task)))
    logger.info({ tasks: tasks.map((task) => task.name) }, 'working')
  }

  /** Looks for jobs of a task now instead of at the next poll. */
  nudge(task: string): void {
    this.#wakeUps.wake(task)
  }

  get #pollMs(): number {
    return this.#options.database.capabilities.notify ? POLL_MS.notified : POLL_MS.polling
  }

  /** Wakes the slots of tasks with a due job. */
  async #wakeDue(): Promise<void> {
    if (this.#options.concurrency === 0) return
    for (const task of await this.#leases.due(this.#options.tasks.map(({ name }) => name))) this.nudge(task)
  }

  /** Number of jobs that run here now. */
  get running(): number {
    return this.#active.size
  }

  /** Checks the lanes, except on the embedded database, where looks wait. @throws WORKER_LANES_STUCK after a minute */
  checkLanes(): void {
    if (this.#options.database.capabilities.locks) this.#lanes.check()
  }

  /** Takes no more jobs, lets running ones end, hands the rest over, then settles none. @param budgetMs for all */
  stop(budgetMs: number): Promise<void> {
    this.#ended ??= this.#stop(budgetMs)
    return this.#ended
  }

  async #stop(budgetMs: number): Promise<void> {
    this.#stopping.abort()
    for (const { name } of this.#options.tasks) this.nudge(name)
    const ended = Promise.all(this.#slots)
    const patience = new AbortController()
    const grace = sleep(budgetMs * GRACE_SHARE, undefined, patience).catch(ignore)
    await Promise.race([ended, grace])
    patience.abort()
    this.#leaveMs = Math.max(HAND_OVER_MS, (budgetMs * (1 - GRACE_SHARE)) / 2)
    for (const { controller } of this.#active.values()) controller.abort(shuttingDown())
    await ended
    this.#maintenance.stop()
    for (const listener of this.#listeners) await listener?.[Symbol.asyncDispose]()
  }

  /** Cancels a job here before the record does, because the job may hold the embedded database's one session. */
  cancelHere(scope: JobScope, task: string, id: string): void {
    const run = this.#active.get(id)
    if (this.#options.database.capabilities.locks || run?.claim.task !== task || run.project !== scopeKey(scope)) return
    run.controller.abort(cancelled())
  }

  /** Looks for cancellations now. Only the records say what is cancelled: any role may send notifications. */
  lookForCancellations(): void {
    this.#lookAgain = true
    if (!this.#isLooking) void this.#lookWhileHinted()
  }

  async #lookWhileHinted(): Promise<void> {
    this.#isLooking = true
    while (this.#lookAgain) {
      this.#lookAgain = false
      await this.#pollCancellations().catch((error: unknown) =>
        this.#options.logger.warn({ err: error }, 'looking for cancellations failed'),
      )
      // A cancelled waiting job may have left something behind.
      await this.#maintenance.clearNow()
    }
    this.#isLooking = false
  }

  /** One slot for jobs of a task. After a job it looks for the next one at once. */
  async #work(task: Task): Promise<void> {
    const { logger } = this.#options
    const lane = this.#lanes.open(task.name)
    while (!this.#stopping.signal.aborted) {
      const nudged = this.#wakeUps.next(task.name)
      let claim: Claim | null = null
      let pauseMs = IDLE_LOOK_MS
      try {
        claim = await this.#leases.take(task.name)
        lane.looked()
      } catch (error) {
        pauseMs = this.#pollMs
        logger.warn({ err: error, task: task.name }, 'looking for a job failed')
      }
      if (claim) await lane.work(() => this.#handle(task, claim))
      else await within(nudged, pauseMs)
    }
  }

  async #handle(task: Task, claim: Claim): Promise<void> {
    const controller = new AbortController()
    const { promise: done, resolve } = Promise.withResolvers<void>()
    this.#active.set(claim.id, { claim, project: null, controller, done })
    const seconds = timeoutSeconds(task.expireSeconds)
    const timeout = setTimeout(() => controller.abort(timedOut({ seconds })), seconds * 1000)
    const logger = this.#options.logger.child({ jobId: claim.id, task: task.name, attempt: claim.attempt })
    try {
      await this.#run(task, claim, controller, logger)
    } catch (error) {
      logger.error(
        { err: error },
        'the end of a job could not be stored; the job counts as lost when its heartbeat stops',
      )
    } finally {
      clearTimeout(timeout)
      this.#active.delete(claim.id)
      resolve()
      this.#options.onRan?.(claim.id)
    }
  }

  async #run(task: Task, claim: Claim, controller: AbortController, logger: Logger): Promise<void> {
    const { store } = this.#options
    if (this.#stopping.signal.aborted) return settle(logger, () => this.#leases.handOver(claim, HANDED_OVER))
    const row = await store.start(claim.id, claim.attempt)
    if (!row) return settle(logger, () => this.#leases.forget(claim))
    this.#active.get(claim.id)!.project = scopeKey(scopeOf(row))
    if (row.cancel_requested) {
      await settle(logger, () => this.#leases.fail(claim, cancelled(), true))
      return this.#maintenance.clearNow()
    }
    const { traceparent } = row
    const attributes = { 'terrane.job_id': row.id, 'terrane.request_id': row.request_id ?? '', attempt: claim.attempt }
    await inSpan(`job ${task.name}`, () => this.#runTraced(task, row, { claim, controller, logger }), {
      traceparent,
      attributes,
    })
  }

  /** Runs a job, in the trace of the request that submitted it. */
  async #runTraced(
    task: Task,
    row: JobRow,
    { claim, controller, logger }: Pick<Run, 'claim' | 'controller'> & { readonly logger: Logger },
  ): Promise<void> {
    const { store } = this.#options
    if (claim.attempt === 1) spanSince('wait in the queue', row.created_at)
    const lost = () => controller.abort(workerLost({ attempts: claim.attempt }))
    const progress = new ProgressWriter(store, claim.id, claim.attempt, lost)
    const trace = traceId()
    logger.setBindings({ requestId: row.request_id, ...(trace !== null && { traceId: trace }) })
    logger.info('job started')
    const run = { attempt: claim.attempt, number: claim.run, signal: controller.signal, logger, progress }
    const outcome = await outcomeOf(run.signal, {
      work: () => execute(this.#options, task, row, run),
      leaveMs: () => this.#leaveMs,
      onLeft: (waitedMs) => logger.error({ waitedMs }, 'a job that was told to stop goes on; it is left behind'),
    })
    await progress.close()
    if ('result' in outcome && outcome.result === WAITS) {
      logger.info('job waits for its shards')
      return settle(logger, () => this.#leases.setAside(claim))
    }
    if ('result' in outcome) {
      await settle(logger, () => this.#leases.succeed(claim, outcome.result))
      logger.info('job succeeded')
      return
    }
    const error = toShowable(outcome.thrown)
    switch (endingOf(error, claim.attempt)) {
      case 'handed over':
        logger.info('job handed over')
        return settle(logger, () => this.#leases.handOver(claim, HANDED_OVER))
      case 'another attempt':
        logger.warn({ err: outcome.thrown }, 'job interrupted')
        return settle(logger, () => this.#leases.tryAgain(claim, error))
      case 'failed':
        return this.#end(claim, error, logger, outcome.thrown)
    }
  }

  async #end(claim: Claim, error: TerraneError, logger: Logger, thrown?: unknown): Promise<void> {
    await settle(logger, () => this.#leases.fail(claim, error))
    if (error.kind === 'internal') logger.error({ err: thrown }, 'job failed')
    else logger.info({ code: error.code, reason: error.message }, 'job failed')
  }

  /** Renews the leases of the runs here, and stops runs that were given to other workers meanwhile. */
  async #beat(): Promise<void> {
    if (this.#active.size === 0) return
    const lost = await this.#leases.touch([...this.#active.values()].map(({ claim }) => claim))
    for (const { id, run, attempt } of lost) {
      const here = this.#active.get(id)
      if (here?.claim.run === run) here.controller.abort(workerLost({ attempts: attempt }))
    }
  }

  async #pollCancellations(): Promise<void> {
    if (this.#active.size === 0) return
    for (const id of await this.#options.store.cancelRequested([...this.#active.keys()]))
      this.#active.get(id)?.controller.abort(cancelled())
  }
}

const HANDED_OVER = 'The worker stopped; another one takes the job over'

function ignore(): void {}

/** Waits for a promise, at most for this time, and leaves no timer behind. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([promise, late])
  clearTimeout(timer)
}
