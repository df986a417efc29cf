import { uuidv7, type TerraneError } from '@terrane/core'
import type { ProjectTarget } from '@terrane/contracts'
import type { Database, Queryable } from '@terrane/database'
import type { Logger, Sealer } from '@terrane/service'
import { taskNotBuilt, toShowable } from '../errors.ts'
import type { SubmitContext, Task } from '../jobs/task.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import { checkSubmission } from '../queue/check-submission.ts'
import { mayPass } from '../queue/job-life.ts'
import { scopeKey, scopeOf } from '../queue/job-row.ts'
import type { Submission, Submitter } from '../queue/submit.ts'
import { nextTick } from './cron.ts'
import type { DueSchedule, ScheduleRow, ScheduleStore } from './schedule-store.ts'
import { fillTokens } from './tokens.ts'

/** Maximum projects per look. */
const AT_ONCE = 20

export interface SchedulerOptions {
  readonly database: Database
  readonly schedules: ScheduleStore
  readonly submitter: Submitter
  readonly projects: Pick<ProjectDirectory, 'openForSubmit'>
  readonly tasks: readonly Task[]
  readonly checkUrl: SubmitContext['checkUrl']
  readonly sealer: Sealer
  readonly logger: Logger
}

/** Submits requests of schedules; the worker that moves one on queues one job, however many times were missed. */
export class Scheduler {
  readonly #options: SchedulerOptions
  /** Projects whose schedules are being submitted. */
  readonly #busy = new Set<string>()

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  /** Starts to submit due schedules of each project that is not being processed. */
  async tick(): Promise<void> {
    for (const schedule of await this.#options.schedules.due(AT_ONCE, [...this.#busy])) void this.#serve(schedule)
  }

  /** Submits the due schedules of a project one after the other, so a slow project delays only its own schedules. */
  async #serve(first: DueSchedule): Promise<void> {
    const { schedules, logger } = this.#options
    const key = scopeKey(scopeOf(first))
    this.#busy.add(key)
    try {
      for (let next: DueSchedule | null = first; next !== null; next = await schedules.dueOf(first)) {
        await this.#submit(next)
      }
    } catch (error) {
      logger.warn({ err: error, projectRef: first.project_ref }, 'schedules of a project could not be looked at')
    } finally {
      this.#busy.delete(key)
    }
  }

  async #submit(schedule: DueSchedule): Promise<void> {
    try {
      await this.#run(schedule)
    } catch (error) {
      // The time is tried again later, and other schedules are not delayed.
      await this.#options.schedules.postpone(schedule)
      this.#options.logger.warn({ err: error, scheduleId: schedule.id }, 'a schedule could not be submitted')
    }
  }

  async #run(schedule: DueSchedule): Promise<void> {
    const { database, schedules, submitter, logger } = this.#options
    // The clock is read late, so that a time that passes during the project's checks is skipped.
    const next = async (session: Queryable) => nextTick(schedule.cron, schedule.time_zone, await schedules.now(session))
    if (await schedules.isBusy(database, schedule.id)) {
      if (await schedules.take(database, schedule, await next(database), null))
        logger.info({ scheduleId: schedule.id }, 'a time of a schedule was left out: its job goes on')
      return
    }
    const { submission, refusal } = await this.#prepare(schedule, schedule.next_at)
    const id = uuidv7()
    const taken = await database.transaction(async (session) => {
      if (!(await schedules.take(session, schedule, await next(session), id))) return false
      await submitter.enqueue(session, submission, id, refusal)
      return true
    })
    if (!taken) return
    submitter.announce(submission.task.name)
    logger.info({ scheduleId: schedule.id, jobId: id, code: refusal?.code }, 'scheduled job submitted')
  }

  /** The submission for a time of a schedule, and the error with which its job ends at once, if any. */
  async #prepare(schedule: ScheduleRow, at: Date): Promise<{ submission: Submission; refusal: TerraneError | null }> {
    const { projects, tasks, sealer, checkUrl } = this.#options
    const { id, task: name } = schedule
    const scope = scopeOf(schedule)
    const task = tasks.find((known) => known.name === name)
    if (!task) throw taskNotBuilt({ task: name })
    const stored = sealer.open(schedule.sealed_input, id) as Record<string, unknown>
    const input = fillTokens(stored, at, schedule.time_zone)
    const submission = { task, scope, input, idempotencyKey: undefined, requestId: null, schedule: { id, at } }
    try {
      await using project = await projects.openForSubmit(scope, input['projectTarget'] as ProjectTarget | undefined)
      await checkSubmission(submission, project, checkUrl)
      return { submission, refusal: null }
    } catch (error) {
      const refusal = toShowable(error)
      // Temporary errors are left to the attempts of the job.
      return { submission, refusal: mayPass(refusal) ? null : refusal }
    }
  }
}
