import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { toRecord } from '../queue/job-record.ts'
import type { JobRow } from '../queue/job-row.ts'
import { ProjectQuery, guarded } from './guarded.ts'
import { JobParams, findJob, type JobLookup } from './read-jobs.ts'
import type { EventHub } from '../queue/event-hub.ts'

/** Dependencies of the event stream of jobs. */
export interface EventDeps extends JobLookup {
  readonly events: Pick<EventHub, 'watch'>
}

const PING_MS = 15_000

/**
 * `GET /jobs/{taskName}/{job_id}/events`: server-sent events. `status` at the start and when the status changes, else
 * `progress`; each has the record. The id is the record's revision, so `Last-Event-ID` skips events that were received.
 * The stream ends when the job has ended.
 */
export function eventRoute(app: Http, deps: EventDeps): void {
  const open = new Set<() => void>()
  app.get(
    '/jobs/:taskName/:job_id/events',
    guarded('jobs', {
      operationId: 'followJob',
      summary: 'Follow a job',
      description:
        'Server-sent events `status` and `progress` with the job record; resumes after Last-Event-ID; ends with the job.',
      produces: ['text/event-stream'],
      params: JobParams,
      querystring: ProjectQuery,
      headers: Type.Object({ 'last-event-id': Type.Optional(Type.String({ maxLength: 20 })) }),
      response: {},
    }),
    async (request, reply) => {
      const first = await findJob(deps, request)
      const seen = Number(request.headers['last-event-id'] ?? 0) || 0
      reply.hijack()
      const { raw } = reply
      raw.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-request-id': request.id,
      })
      let status = ''
      let unwatch: (() => void) | null = null
      const ping = setInterval(() => raw.write(': ping\n\n'), PING_MS)
      const end = () => {
        clearInterval(ping)
        unwatch?.()
        open.delete(end)
        raw.end()
      }
      const send = (row: JobRow) => {
        const event = row.status === status ? 'progress' : 'status'
        status = row.status
        raw.write(`id: ${row.revision}\nevent: ${event}\ndata: ${JSON.stringify(toRecord(row))}\n\n`)
        if (row.finished_at !== null) end()
      }
      open.add(end)
      raw.on('close', end)
      raw.write('retry: 2000\n\n')
      if (first.revision > seen || first.finished_at !== null) send(first)
      else status = first.status
      if (!raw.writableEnded) unwatch = deps.events.watch(first.id, first.revision, send)
    },
  )
  app.addHook('preClose', async () => {
    for (const end of open) end()
  })
}
