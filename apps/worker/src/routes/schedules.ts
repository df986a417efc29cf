import {
  PageQuery,
  Schedule,
  ScheduleChange,
  ScheduleList,
  TASK_NAMES,
  newSchedule,
  ref,
  type ProjectTarget,
} from '@terrane/contracts'
import { uuidv7 } from '@terrane/core'
import type { Http, Sealer } from '@terrane/service'
import { Type } from 'typebox'
import { scheduleNotFound, schedulesFull, unknownTask } from '../errors.ts'
import type { SubmitContext, Task } from '../jobs/task.ts'
import { redactInput } from '../projects/redact.ts'
import { checkSubmission } from '../queue/check-submission.ts'
import { checkTimes, nextTick } from '../schedules/cron.ts'
import { toSchedule, type ScheduleRow, type ScheduleStore } from '../schedules/schedule-store.ts'
import { fillTokens, restoreTokens } from '../schedules/tokens.ts'
import { principalOf } from './access.ts'
import { ProjectQuery, finder, guarded, located, requestScope, type Find } from './guarded.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Dependencies of the routes of schedules. */
export interface ScheduleDeps {
  readonly projects: Pick<ProjectDirectory, 'scope' | 'openForSubmit'>
  readonly tasks: readonly Task[]
  readonly schedules: ScheduleStore
  readonly sealer: Sealer
  readonly checkUrl: SubmitContext['checkUrl']
  /** Minimum interval between two runs of a schedule. */
  readonly leastScheduleSeconds: number
}

/** Maximum schedules of one project. */
const MOST_SCHEDULES = 100

const ScheduleParams = Type.Object({ schedule_id: Type.String({ description: 'Id of the schedule.' }) })

declare module 'fastify' {
  interface FastifyRequest {
    /** The input of a schedule with its tokens, while a copy with values for them is checked. */
    scheduleInput: unknown
  }
}

/** `POST /schedules/{taskName}`, and reading, changing and deleting schedules. */
export function scheduleRoutes(app: Http, deps: ScheduleDeps): void {
  const find = finder(deps, deps.schedules, scheduleNotFound)
  app.decorateRequest('scheduleInput', null)
  for (const task of deps.tasks) createRoute(app, deps, task)
  app.post<{ Params: { taskName: string } }>('/schedules/:taskName', { schema: { hide: true } }, async (request) => {
    throw unknownTask({ task: request.params.taskName, known: TASK_NAMES })
  })
  app.get(
    '/schedules',
    guarded('schedules', {
      operationId: 'listSchedules',
      summary: 'List schedules',
      description: 'The schedules of a project, newest first.',
      querystring: PageQuery,
      response: { 200: ref(ScheduleList) },
    }),
    async (request) => {
      const { limit = 20, cursor } = request.query
      const page = await deps.schedules.list(await requestScope(deps, request), { limit, cursor })
      return { data: page.rows.map(toSchedule), next_cursor: page.nextCursor }
    },
  )
  app.get(
    '/schedules/:schedule_id',
    guarded('schedules', {
      operationId: 'readSchedule',
      summary: 'One schedule',
      description: 'When it runs next, and what became of its last time.',
      params: ScheduleParams,
      querystring: ProjectQuery,
      response: { 200: ref(Schedule) },
    }),
    async (request) => toSchedule((await find(request, request.params.schedule_id)).row),
  )
  changeRoutes(app, deps, find)
}

function changeRoutes(app: Http, deps: ScheduleDeps, find: Find<ScheduleRow>): void {
  app.patch(
    '/schedules/:schedule_id',
    guarded('schedules', {
      operationId: 'changeSchedule',
      summary: 'Pause, resume or move a schedule',
      description:
        'Fields that are absent stay as they are. The request of a schedule does not change: make another one.',
      params: ScheduleParams,
      querystring: ProjectQuery,
      body: ScheduleChange,
      response: { 200: ref(Schedule) },
    }),
    async (request) => {
      const { schedule_id: id } = request.params
      const { row } = await find(request, id)
      const { name = row.name, cron = row.cron, timeZone = row.time_zone, paused = row.paused } = request.body
      const times = readTimes(deps, cron, timeZone, paused)
      const changed = await deps.schedules.update(row.id, { name, time_zone: timeZone, paused, ...times })
      if (!changed) throw scheduleNotFound({ id })
      return toSchedule(changed)
    },
  )
  app.delete(
    '/schedules/:schedule_id',
    guarded('schedules', {
      operationId: 'deleteSchedule',
      summary: 'Delete a schedule',
      description: 'Jobs that it has submitted stay, and go on.',
      params: ScheduleParams,
      querystring: ProjectQuery,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      const { row } = await find(request, request.params.schedule_id)
      await deps.schedules.delete(row.id)
      return reply.code(204).send(null)
    },
  )
}

/** One route per task, as for jobs, because the input is checked like that of a job. */
function createRoute(app: Http, deps: ScheduleDeps, task: Task): void {
  app.post(
    `/schedules/${task.name}`,
    {
      ...guarded('schedules', {
        operationId: `schedule${task.name[0]?.toUpperCase()}${task.name.slice(1)}`,
        summary: `Schedule: ${task.summary}`,
        description:
          'Submits the request at each time of the cron expression. A time is left out while the job of an earlier one ' +
          'has not ended; times that pass while no worker runs are made up for by one. Checked as at submit.',
        body: newSchedule(task.body),
        response: { 201: ref(Schedule) },
      }),
      preValidation: async (request) => {
        const body = request.body as { input?: unknown } | null
        if (typeof body?.input !== 'object') return
        request.scheduleInput = body.input
        body.input = fillTokens(body.input, new Date(), 'UTC')
      },
    },
    async (request, reply) => {
      const { name = '', cron, timeZone = 'UTC', paused = false, input: checked } = request.body
      const target = (checked as { projectTarget?: ProjectTarget }).projectTarget
      const scope = await deps.projects.scope(
        principalOf(request),
        target?.projectRef,
        '/input/projectTarget/projectRef',
      )
      const times = readTimes(deps, cron, timeZone, paused)
      {
        await using project = await deps.projects.openForSubmit(scope, target)
        const submission = { task, scope, input: checked, idempotencyKey: undefined, requestId: request.id }
        await checkSubmission(submission, project, deps.checkUrl)
      }
      const input = restoreTokens(checked, request.scheduleInput)
      const id = uuidv7()
      const row = await deps.schedules.insert(scope, MOST_SCHEDULES, {
        id,
        task: task.name,
        name,
        time_zone: timeZone,
        input: redactInput(input),
        sealed_input: deps.sealer.seal(input, id),
        paused,
        ...times,
      })
      if (!row) throw schedulesFull({ most: MOST_SCHEDULES })
      const record = toSchedule(row)
      return located(request, reply, record).code(201).send(record)
    },
  )
}

/** When a schedule runs, and its first time: null while it is paused. Throws what {@link checkTimes} throws. */
function readTimes(deps: ScheduleDeps, given: string, timeZone: string, paused: boolean) {
  const now = new Date()
  const cron = checkTimes(given, timeZone, now, deps.leastScheduleSeconds)
  return { cron, next_at: paused ? null : nextTick(cron, timeZone, now) }
}
