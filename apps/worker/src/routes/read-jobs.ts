import { Job, JobList, JobListQuery, TASK_NAMES, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { jobNotFound, noJobYet, unknownTask } from '../errors.ts'
import { toRecord } from '../queue/job-record.ts'
import type { JobRow, JobScope } from '../queue/job-row.ts'
import { mountOf } from './access.ts'
import { ProjectQuery, UUID, guarded, requestScope } from './guarded.ts'
import type { JobStore } from '../queue/job-store.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Dependencies for looking up jobs. */
export interface JobLookup {
  readonly projects: Pick<ProjectDirectory, 'scope'>
  readonly store: Pick<JobStore, 'find' | 'latest' | 'list'>
}

/** Path of the jobs of a task. */
const TaskParams = Type.Object({ taskName: Type.String({ description: `One of ${TASK_NAMES.join(', ')}.` }) })
/** Path of one job. */
export const JobParams = Type.Object({
  ...TaskParams.properties,
  job_id: Type.String({ description: 'Id of the job.' }),
})

/** `GET /jobs/{taskName}`, `…/latest` and `…/{job_id}`. */
export function readRoutes(app: Http, deps: JobLookup): void {
  listRoute(app, deps)
  app.get(
    '/jobs/:taskName/latest',
    guarded('jobs', {
      operationId: 'latestJob',
      summary: 'Latest job of a task',
      params: TaskParams,
      querystring: ProjectQuery,
      response: { 200: ref(Job) },
    }),
    async (request) => {
      const { taskName } = request.params
      const scope = await scopeOf(deps, request, taskName)
      const row = await deps.store.latest(scope, taskName)
      if (!row) throw noJobYet({ task: taskName })
      return toRecord(row)
    },
  )
  app.get(
    '/jobs/:taskName/:job_id',
    {
      config: { quiet: true },
      ...guarded('jobs', {
        operationId: 'getJob',
        summary: 'Status of a job',
        params: JobParams,
        querystring: ProjectQuery,
        response: { 200: ref(Job) },
      }),
    },
    async (request, reply) => {
      const row = await findJob(deps, request)
      if (row.status === 'pending' || row.status === 'running') reply.header('retry-after', '5')
      return toRecord(row)
    },
  )
}

function listRoute(app: Http, deps: JobLookup): void {
  app.get(
    '/jobs/:taskName',
    guarded('jobs', {
      operationId: 'listJobs',
      summary: 'List jobs of a task',
      params: TaskParams,
      querystring: JobListQuery,
      response: { 200: ref(JobList) },
    }),
    async (request, reply) => {
      const { status, limit = 20, cursor, schedule, parent, order = 'created_at.desc' } = request.query
      const scope = await scopeOf(deps, request, request.params.taskName)
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
}

/** The job of a request's path, if the caller may see it. @throws UNKNOWN_TASK, JOB_NOT_FOUND for others' jobs too */
export async function findJob(deps: JobLookup, request: FastifyRequest): Promise<JobRow> {
  const { taskName, job_id: id } = request.params as { taskName: string; job_id: string }
  return jobIn(deps, await scopeOf(deps, request, taskName), taskName, id)
}

/** A job of a task in a scope. @throws JOB_NOT_FOUND */
export async function jobIn({ store }: JobLookup, scope: JobScope, task: string, id: string): Promise<JobRow> {
  const row = UUID.test(id) ? await store.find(scope, task, id) : null
  if (!row) throw jobNotFound({ id })
  return row
}

/** The jobs of a task that the caller may see. @throws UNKNOWN_TASK, and what the project directory throws */
export async function scopeOf(deps: JobLookup, request: FastifyRequest, task: string): Promise<JobScope> {
  if (!(TASK_NAMES as readonly string[]).includes(task)) throw unknownTask({ task, known: TASK_NAMES })
  return requestScope(deps, request)
}
