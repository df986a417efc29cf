import { Job, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { toRecord } from '../queue/job-record.ts'
import type { JobScope } from '../queue/job-row.ts'
import { ProjectQuery, guarded } from './guarded.ts'
import { JobParams, jobIn, scopeOf, type JobLookup } from './read-jobs.ts'
import type { Submitter } from '../queue/submit.ts'

/** Dependencies of the route that cancels jobs. */
export interface CancelDeps extends JobLookup {
  readonly submitter: Pick<Submitter, 'cancel'>
  /** Cancels a job of this process before the database records it, where the job may hold the database. */
  readonly cancelHere: (scope: JobScope, task: string, id: string) => void
  /** Has the runner of this process look for cancellations. */
  readonly onCancel: () => void
}

/** `DELETE /jobs/{taskName}/{job_id}`: 200 when the job has ended by now, 202 while it is being stopped. */
export function cancelRoute(app: Http, deps: CancelDeps): void {
  app.delete(
    '/jobs/:taskName/:job_id',
    guarded('jobs', {
      operationId: 'cancelJob',
      summary: 'Cancel a job',
      description:
        'A cancelled job ends as failed with error code cancelled. Cancelling a job that has ended changes nothing.',
      params: JobParams,
      querystring: ProjectQuery,
      response: { 200: ref(Job), 202: ref(Job) },
    }),
    async (request, reply) => {
      const { taskName, job_id: id } = request.params
      const scope = await scopeOf(deps, request, taskName)
      deps.cancelHere(scope, taskName, id)
      const row = await deps.submitter.cancel(await jobIn(deps, scope, taskName, id), request.id)
      deps.onCancel()
      return reply.code(row.status === 'running' ? 202 : 200).send(toRecord(row))
    },
  )
}
