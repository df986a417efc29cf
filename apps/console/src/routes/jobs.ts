import { JobListQuery, JobLogQuery } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { addressOf, projectOf } from '../sessions/guard.ts'
import { ask, pass, pathOf, type Ask } from '../upstream/ask.ts'

const TaskParams = Type.Object({ ref: Type.String(), taskName: Type.String({ maxLength: 100 }) })
const JobParams = Type.Object({ ...TaskParams.properties, job_id: Type.String({ maxLength: 100 }) })
const Body = Type.Object({}, { additionalProperties: true, description: 'As the task wants it; GET …/doc says what.' })

/** Lifetime of an event stream in milliseconds; the browser then reconnects, and its session is checked again. */
const STREAM_MS = 600_000

/**
 * The jobs of a project: POST and DELETE of the worker's API, and reads for the page. Every request is limited to the
 * project of the path, even if the browser names another one.
 */
export function jobRoutes(app: Http): void {
  app.post('/api/projects/:ref/jobs/:taskName', { schema: { params: TaskParams, body: Body } }, (request, reply) => {
    const body = { ...request.body, projectTarget: { projectRef: projectOf(request).ref } }
    return relay(request, reply, {
      method: 'POST',
      path: pathOf('jobs', request.params.taskName),
      body: JSON.stringify(body),
    })
  })
  app.post('/api/projects/:ref/inspect', { schema: { body: Body } }, (request, reply) =>
    relay(request, reply, {
      method: 'POST',
      path: '/inspect',
      body: JSON.stringify({ ...request.body, projectRef: projectOf(request).ref }),
    }),
  )
  app.delete('/api/projects/:ref/jobs/:taskName/:job_id', { schema: { params: JobParams } }, (request, reply) =>
    relay(request, reply, {
      method: 'DELETE',
      path: pathOf('jobs', request.params.taskName, request.params.job_id),
      query: scope(request),
    }),
  )
  app.post('/api/projects/:ref/jobs/:taskName/:job_id/retry', { schema: { params: JobParams } }, (request, reply) =>
    relay(request, reply, {
      method: 'POST',
      path: pathOf('jobs', request.params.taskName, request.params.job_id, 'retry'),
      query: scope(request),
    }),
  )
  readRoutes(app)
  eventRoute(app)
  app.get('/api/projects/:ref/doc', async (request, reply) => relay(request, reply, { method: 'GET', path: '/doc' }))
  app.get('/api/projects/:ref/capacity', async (request, reply) =>
    relay(request, reply, { method: 'GET', path: '/capacity', query: scope(request) }),
  )
}

function readRoutes(app: Http): void {
  app.get(
    '/api/projects/:ref/jobs/:taskName',
    { config: { quiet: true }, schema: { params: TaskParams, querystring: JobListQuery } },
    (request, reply) =>
      relay(request, reply, {
        method: 'GET',
        path: pathOf('jobs', request.params.taskName),
        query: scope(request, request.query),
      }),
  )
  app.get(
    '/api/projects/:ref/jobs/:taskName/:job_id',
    { config: { quiet: true }, schema: { params: JobParams } },
    (request, reply) =>
      relay(request, reply, {
        method: 'GET',
        path: pathOf('jobs', request.params.taskName, request.params.job_id),
        query: scope(request),
      }),
  )
  app.get(
    '/api/projects/:ref/jobs/:taskName/:job_id/log',
    { config: { quiet: true }, schema: { params: JobParams, querystring: JobLogQuery } },
    (request, reply) =>
      relay(request, reply, {
        method: 'GET',
        path: pathOf('jobs', request.params.taskName, request.params.job_id, 'log'),
        query: scope(request, request.query),
      }),
  )
}

function eventRoute(app: Http): void {
  const open = new Set<() => void>()
  app.get(
    '/api/projects/:ref/jobs/:taskName/:job_id/events',
    { schema: { params: JobParams } },
    async (request, reply) => {
      const { taskName, job_id: id } = request.params
      const response = await ask(request, reply, projectOf(request).connection.worker(), {
        method: 'GET',
        path: pathOf('jobs', taskName, id, 'events'),
        query: scope(request),
      })
      const end = () => reply.raw.end()
      const timer = setTimeout(end, STREAM_MS)
      open.add(end)
      reply.raw.once('close', () => {
        clearTimeout(timer)
        open.delete(end)
      })
      reply.header('x-accel-buffering', 'no')
      return pass(reply, response)
    },
  )
  app.addHook('preClose', async () => {
    for (const end of open) end()
  })
}

/** Sends a request to the worker of the request's project and passes the answer on. */
export async function relay(request: FastifyRequest, reply: FastifyReply, what: Ask): Promise<FastifyReply> {
  const project = projectOf(request)
  const response = await ask(request, reply, project.connection.worker(), what)
  const location = response.headers.get('location')
  // The worker's paths are relative to its own base.
  if (location && /^\/(?:jobs|schedules|webhooks)\//.test(location))
    reply.header('location', `/api/projects/${addressOf(request)}${location}`)
  return pass(reply, response)
}

/** A query that always names the request's project, even if the browser names another one. */
export function scope(request: FastifyRequest, given: Readonly<Record<string, unknown>> = {}): URLSearchParams {
  const query = new URLSearchParams(
    Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]),
  )
  query.set('projectRef', projectOf(request).ref)
  return query
}
