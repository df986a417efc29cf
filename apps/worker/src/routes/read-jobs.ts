import { Job, JobList, JobListQuery, Problem, TASK_NAMES, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { jobNotFound, noJobYet, unknownTask } from '../errors.ts'
import { toRecord } from '../queue/job-record.ts'
import type { JobRow, JobScope } from '../queue/job-row.ts'
import { mountOf, principalOf } from './access.ts'
import type { JobStore } from '../queue/job-store.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Where jobs are looked up. */
export interface JobLookup {
  readonly projects: Pick<ProjectDirectory, 'scope'>
  readonly store: Pick<JobStore, 'find' | 'latest' | 'list'>
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const TaskParams = Type.Object({ taskName: Type.String({ description: `One of ${TASK_NAMES.join(', ')}.` }) })
export const JobParams = Type.Object({
  ...TaskParams.properties,
  job_id: Type.String({ description: 'Id of the job.' }),
})
export const ProjectQuery = Type.Object(
  { projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })) },
  { additionalProperties: false },
)

const shared = { tags: ['jobs'], security: [{ apikey: [], bearer: [] }] }
const problems = { '4xx': ref(Problem), '5xx': ref(Problem) }

/** `GET /jobs/{taskName}`, `…/latest` and `…/{job_id}`. */
export function readRoutes(app: Http, deps: JobLookup): void {
  app.get(
    '/jobs/:taskName',
    {
      schema: {
        ...shared,
        operationId: 'listJobs',
        summary: 'List jobs of a task',
        params: TaskParams,
        querystring: JobListQuery,
        response: { 200: ref(JobList), ...problems },
      },
    },
    async (request, reply) => {
      const { projectRef, status, limit = 20, cursor, schedule, parent, order = 'created_at.desc' } = request.query
      const scope = await scopeOf(deps, request, request.params.taskName, projectRef)
      const page = await deps.store.list(scope, request.params.taskName, {
        status,
        limit,
        cursor,
        schedule,
        parent,
        ascending: order === 'created_at.asc',
      })
      if (page.nextCursor !== null) {
        const next = new URLSearchParams({ ...(request.query as Record<string, string>), cursor: page.nextCursor })
        reply.header('link', `<${mountOf(request)}/jobs/${request.params.taskName}?${next.toString()}>; rel="next"`)
      }
      return { data: page.rows.map(toRecord), next_cursor: page.nextCursor }
    },
  )
  app.get(
    '/jobs/:taskName/latest',
    {
      schema: {
        ...shared,
        operationId: 'latestJob',
        summary: 'Latest job of a task',
        params: TaskParams,
        querystring: ProjectQuery,
        response: { 200: ref(Job), ...problems },
      },
    },
    async (request) => {
      const { taskName } = request.params
      const scope = await scopeOf(deps, request, taskName, request.query.projectRef)
      const row = await deps.store.latest(scope, taskName)
      if (!row) throw noJobYet({ task: taskName })
      return toRecord(row)
    },
  )
  app.get(
    '/jobs/:taskName/:job_id',
    {
      config: { quiet: true },
      schema: {
        ...shared,
        operationId: 'getJob',
        summary: 'Status of a job',
        params: JobParams,
        querystring: ProjectQuery,
        response: { 200: ref(Job), ...problems },
      },
    },
    async (request, reply) => {
      const row = await findJob(deps, request, request.params, request.query.projectRef)
      if (row.status === 'pending' || row.status === 'running') reply.header('retry-after', '5')
      return toRecord(row)
    },
  )
}

/**
 * The job of a request's path, if the caller may see it.
 *
 * @throws UNKNOWN_TASK, JOB_NOT_FOUND (also for another project's job), and what the project directory throws
 */
export async function findJob(
  deps: JobLookup,
  request: FastifyRequest,
  params: { taskName: string; job_id: string },
  projectRef: string | undefined,
): Promise<JobRow> {
  const scope = await scopeOf(deps, request, params.taskName, projectRef)
  const row = UUID.test(params.job_id) ? await deps.store.find(scope, params.taskName, params.job_id) : null
  if (!row) throw jobNotFound({ id: params.job_id })
  return row
}

async function scopeOf(
  deps: JobLookup,
  request: FastifyRequest,
  task: string,
  projectRef: string | undefined,
): Promise<JobScope> {
  if (!(TASK_NAMES as readonly string[]).includes(task)) throw unknownTask({ task, known: TASK_NAMES })
  return deps.projects.scope(principalOf(request), projectRef, '/querystring/projectRef')
}
