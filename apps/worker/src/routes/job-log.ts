import { JobLog, JobLogQuery, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { guarded } from './guarded.ts'
import { JobParams, findJob, type JobLookup } from './read-jobs.ts'
import type { JobStore } from '../queue/job-store.ts'

/** Dependencies of the log of jobs. */
export interface LogDeps extends JobLookup {
  readonly store: JobLookup['store'] & Pick<JobStore, 'log'>
}

/** `GET /jobs/{taskName}/{job_id}/log`: what happened to a job, line by line. */
export function logRoute(app: Http, deps: LogDeps): void {
  app.get(
    '/jobs/:taskName/:job_id/log',
    {
      config: { quiet: true },
      ...guarded('jobs', {
        operationId: 'readJobLog',
        summary: 'Log of a job',
        description:
          'One line for each step of a run, with its time, and for each start, warning, retry, hand-over and end. ' +
          'Send last as after to read on; a job that has not ended (terminal) gets more lines. Lines go with the record.',
        params: JobParams,
        querystring: JobLogQuery,
        response: { 200: ref(JobLog) },
      }),
    },
    async (request) => {
      const { after = 0, limit = 200 } = request.query
      const row = await findJob(deps, request)
      const { lines, more, dropped } = await deps.store.log(row.id, { after, limit })
      return { data: lines, last: lines.at(-1)?.number ?? after, more, dropped, terminal: row.finished_at !== null }
    },
  )
}
