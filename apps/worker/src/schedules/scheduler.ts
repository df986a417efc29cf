import { uuidv7, type TerraneError } from '@terrane/core'
import type { ProjectTarget } from '@terrane/contracts'
import type { Database } from '@terrane/database'
import type { Logger, Sealer } from '@terrane/service'
import { taskNotBuilt, toShowable } from '../errors.ts'
import type { SubmitContext, Task } from '../jobs/task.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import { checkSubmission } from '../queue/check-submission.ts'
import { mayPass } from '../queue/job-life.ts'
import type { Submission, Submitter } from '../queue/submit.ts'
import { nextTick } from './cron.ts'
import type { ScheduleRow, ScheduleStore } from './schedule-store.ts'
import { fillTokens } from './tokens.ts'

/** Schedules that one look takes. */
const AT_ONCE = 20

export interface SchedulerOptions {
  readonly database: Database
  readonly schedules: ScheduleStore
  readonly submitter: Submitter
  readonly projects: ProjectDirectory
  readonly tasks: readonly Task[]
  readonly checkUrl: SubmitContext['checkUrl']
  readonly sealer: Sealer
  readonly logger: Logger
}

/**
 * Submits the requests of schedules when their time has come. Any number of workers may look: the one that moves the
 * schedule on to its next time submits, in the same transaction. Times that passed while no worker looked are one.
 */
export class Scheduler {
  readonly #options: SchedulerOptions

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  /** Submits what is due. */
  async tick(): Promise<void> {
    for (const schedule of await this.#options.schedules.due(AT_ONCE)) {
      try {
        await this.#run(schedule, schedule.next_at, schedule.now)
      } catch (error) {
        // Its time is not lost, and the others have their turn.
        await this.#options.schedules.postpone(schedule)
        this.#options.logger.warn({ err: error, scheduleId: schedule.id }, 'a schedule could not be submitted')
      }
    }
  }

  async #run(schedule: ScheduleRow, at: Date, now: Date): Promise<void> {
    const { database, schedules, submitter, logger } = this.#options
    const next = nextTick(schedule.cron, schedule.time_zone, now)
    if (await schedules.isBusy(database, schedule.id)) {
      if (await schedules.take(database, schedule, next, null))
        logger.info({ scheduleId: schedule.id }, 'a time of a schedule was left out: its job goes on')
      return
    }
    const { submission, refusal } = await this.#prepare(schedule, at)
    const id = uuidv7()
    const taken = await database.transaction(async (session) => {
      if (!(await schedules.take(session, schedule, next, id))) return false
      await submitter.enqueue(session, submission, id, refusal)
      return true
    })
    if (!taken) return
    submitter.announce(submission.task.name)
    logger.info({ scheduleId: schedule.id, jobId: id, code: refusal?.code }, 'scheduled job submitted')
  }

  /** The submission of a schedule's time, and the error for which its job ends at once, if any. */
  async #prepare(schedule: ScheduleRow, at: Date): Promise<{ submission: Submission; refusal: TerraneError | null }> {
    const { projects, tasks, sealer, checkUrl } = this.#options
    const { id, task: name, project_ref: projectRef, organization_id: organizationId, project_id: projectId } = schedule
    const scope = { projectRef, organizationId, projectId }
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
      // The job has attempts enough for what may pass.
      return { submission, refusal: mayPass(refusal) ? null : refusal }
    }
  }
}
