import { PageQuery, ScheduleChange } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { pathOf } from '../upstream/ask.ts'
import { relay, scope } from './jobs.ts'

const TaskParams = Type.Object({ ref: Type.String(), taskName: Type.String({ maxLength: 100 }) })
const ScheduleParams = Type.Object({ ref: Type.String(), schedule_id: Type.String({ maxLength: 100 }) })
const Body = Type.Object(
  { input: Type.Object({}, { additionalProperties: true }) },
  { additionalProperties: true, description: 'As the worker wants it; GET …/doc says what.' },
)

/** The schedules of a project. */
export function scheduleRoutes(app: Http): void {
  app.post(
    '/api/projects/:ref/schedules/:taskName',
    { schema: { params: TaskParams, body: Body } },
    (request, reply) => {
      const input = { ...request.body.input, projectTarget: { projectRef: projectOf(request).ref } }
      return relay(request, reply, {
        method: 'POST',
        path: pathOf('schedules', request.params.taskName),
        body: JSON.stringify({ ...request.body, input }),
      })
    },
  )
  app.get('/api/projects/:ref/schedules', { schema: { querystring: PageQuery } }, (request, reply) =>
    relay(request, reply, { method: 'GET', path: '/schedules', query: scope(request, request.query) }),
  )
  app.patch(
    '/api/projects/:ref/schedules/:schedule_id',
    { schema: { params: ScheduleParams, body: ScheduleChange } },
    (request, reply) =>
      relay(request, reply, {
        method: 'PATCH',
        path: pathOf('schedules', request.params.schedule_id),
        query: scope(request),
        body: JSON.stringify(request.body),
      }),
  )
  app.delete('/api/projects/:ref/schedules/:schedule_id', { schema: { params: ScheduleParams } }, (request, reply) =>
    relay(request, reply, {
      method: 'DELETE',
      path: pathOf('schedules', request.params.schedule_id),
      query: scope(request),
    }),
  )
}
