import { JobListQuery, JobLogQuery } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type, type Static } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass, pathOf } from '../upstream/ask.ts'
import { relayToWorker, scope } from '../upstream/relay.ts'

const TaskParams = Type.Object({ ref: Type.String(), taskName: Type.String({ maxLength: 100 }) })
const JobParams = Type.Object({ ...TaskParams.properties, job_id: Type.String({ maxLength: 100 }) })
const Body = Type.Object({}, { additionalProperties: true, description: 'As the task wants it; GET …/doc says what.' })

const JOB = '/api/projects/:ref/jobs/:taskName/:job_id'

/** Lifetime of an event stream in milliseconds; the browser then reconnects, and its session is checked again. */
const STREAM_MS = 600_000

/**
 * The jobs of a project: POST and DELETE of the worker's API, and reads for the page. Every request is limited to the
 * project of the path, even if the browser names another one.
 */
export function jobRoutes(app: Http): void {
  app.post('/api/projects/:ref/jobs/:taskName', { schema: { params: TaskParams, body: Body } }, (request, reply) =>
    relayToWorker(request, reply, pathOf('jobs', request.params.taskName), {
      body: { ...request.body, projectTarget: { projectRef: projectOf(request).ref } },
    }),
  )
  app.post('/api/projects/:ref/inspect', { schema: { body: Body } }, (request, reply) =>
    relayToWorker(request, reply, '/inspect', { body: { ...request.body, projectRef: projectOf(request).ref } }),
  )
  app.delete(JOB, { schema: { params: JobParams } }, (request, reply) =>
    relayToWorker(request, reply, jobPath(request.params), { query: scope(request) }),
  )
  app.post(`${JOB}/retry`, { schema: { params: JobParams } }, (request, reply) =>
    relayToWorker(request, reply, jobPath(request.params, 'retry'), { query: scope(request) }),
  )
  readRoutes(app)
  eventRoute(app)
  app.get('/api/projects/:ref/doc', (request, reply) => relayToWorker(request, reply, '/doc'))
  app.get('/api/projects/:ref/capacity', (request, reply) =>
    relayToWorker(request, reply, '/capacity', { query: scope(request) }),
  )
}

function readRoutes(app: Http): void {
  const config = { quiet: true }
  app.get(
    '/api/projects/:ref/jobs/:taskName',
    { config, schema: { params: TaskParams, querystring: JobListQuery } },
    (request, reply) =>
      relayToWorker(request, reply, pathOf('jobs', request.params.taskName), {
        query: scope(request, request.query),
      }),
  )
  app.get(JOB, { config, schema: { params: JobParams } }, (request, reply) =>
    relayToWorker(request, reply, jobPath(request.params), { query: scope(request) }),
  )
  app.get(`${JOB}/log`, { config, schema: { params: JobParams, querystring: JobLogQuery } }, (request, reply) =>
    relayToWorker(request, reply, jobPath(request.params, 'log'), { query: scope(request, request.query) }),
  )
}

/** Path of a job in the worker's API. */
function jobPath({ taskName, job_id: id }: Static<typeof JobParams>, ...more: readonly string[]): string {
  return pathOf('jobs', taskName, id, ...more)
}

function eventRoute(app: Http): void {
  const open = new Set<() => void>()
  app.get(`${JOB}/events`, { schema: { params: JobParams } }, async (request, reply) => {
    const response = await ask(request, reply, projectOf(request).connection.worker(), {
      method: 'GET',
      path: jobPath(request.params, 'events'),
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
  })
  app.addHook('preClose', async () => {
    for (const end of open) end()
  })
}
