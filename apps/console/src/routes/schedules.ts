import { PageQuery, ScheduleChange } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { pathOf } from '../upstream/ask.ts'
import { relayToWorker, scope } from '../upstream/relay.ts'

const TaskParams = Type.Object({ ref: Type.String(), taskName: Type.String({ maxLength: 100 }) })
const ScheduleParams = Type.Object({ ref: Type.String(), schedule_id: Type.String({ maxLength: 100 }) })
const Body = Type.Object(
  { input: Type.Object({}, { additionalProperties: true }) },
  { additionalProperties: true, description: 'As the worker wants it; GET …/doc says what.' },
)

/** The schedules of a project. */
export function scheduleRoutes(app: Http): void {
  const ALL = '/api/projects/:ref/schedules'
  const ONE = `${ALL}/:schedule_id`
  app.post(`${ALL}/:taskName`, { schema: { params: TaskParams, body: Body } }, (request, reply) => {
    const input = { ...request.body.input, projectTarget: { projectRef: projectOf(request).ref } }
    return relayToWorker(request, reply, pathOf('schedules', request.params.taskName), {
      body: { ...request.body, input },
    })
  })
  app.get(ALL, { schema: { querystring: PageQuery } }, (request, reply) =>
    relayToWorker(request, reply, '/schedules', { query: scope(request, request.query) }),
  )
  app.patch(ONE, { schema: { params: ScheduleParams, body: ScheduleChange } }, (request, reply) =>
    relayToWorker(request, reply, pathOf('schedules', request.params.schedule_id), {
      query: scope(request),
      body: request.body,
    }),
  )
  app.delete(ONE, { schema: { params: ScheduleParams } }, (request, reply) =>
    relayToWorker(request, reply, pathOf('schedules', request.params.schedule_id), { query: scope(request) }),
  )
}
