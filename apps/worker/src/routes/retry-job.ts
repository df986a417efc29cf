import { Job, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { jobNotFailed, shardNotRetried, taskNotBuilt } from '../errors.ts'
import { toRecord } from '../queue/job-record.ts'
import { ProjectQuery, guarded, located, requestScope } from './guarded.ts'
import { JobParams, findJob, type JobLookup } from './read-jobs.ts'
import { RETRY_AFTER_SECONDS, checkAndSubmit, type SubmitDeps } from './submit-job.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Dependencies for retrying failed jobs. */
export interface RetryDeps extends JobLookup, Pick<SubmitDeps, 'tasks' | 'submitter' | 'checkUrl'> {
  readonly projects: Pick<ProjectDirectory, 'scope' | 'open'>
}

/** `POST /jobs/{taskName}/{job_id}/retry`: queues a failed job's request again, as a new job. */
export function retryRoute(app: Http, deps: RetryDeps): void {
  app.post(
    '/jobs/:taskName/:job_id/retry',
    guarded('jobs', {
      operationId: 'retryJob',
      summary: 'Try a failed job again',
      description:
        'Queues the request of a job that has failed once more, with the secrets that came with it. The answer is a ' +
        'new job, whose retry_of names the failed one; what the task refuses at submit is refused here, too.',
      params: JobParams,
      querystring: ProjectQuery,
      response: { 202: ref(Job) },
    }),
    async (request, reply) => {
      const { taskName } = request.params
      const row = await findJob(deps, request)
      if (row.status !== 'failed') throw jobNotFailed({ status: row.status })
      if (row.parent_id !== null) throw shardNotRetried({ parent: row.parent_id })
      const task = deps.tasks.find(({ name }) => name === taskName)
      if (!task) throw taskNotBuilt({ task: taskName })
      const scope = await requestScope(deps, request)
      const { input, project } = await deps.projects.open(row)
      await using opened = project
      const submission = { task, scope, input, idempotencyKey: undefined, requestId: request.id, retryOf: row.id }
      const record = toRecord((await checkAndSubmit(deps, submission, opened)).row)
      return located(request, reply, record).code(202).header('retry-after', RETRY_AFTER_SECONDS).send(record)
    },
  )
}
