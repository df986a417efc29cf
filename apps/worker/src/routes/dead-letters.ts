import { ref } from '@terrane/contracts'
import { DeadLetterChoice, DeadLetterCount, DeadLetterList, DeadLetterQuery } from '@terrane/contracts/events'
import type { Http } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { disposeOfDead, listDead } from '../events/outbox.ts'
import { hookLane } from '@terrane/control/hooks'
import { ProjectQuery, guarded, requestScope } from './guarded.ts'
import { inProject, type TableHookDeps } from './table-hooks.ts'

type Deps = Pick<TableHookDeps, 'projects' | 'tableHooks' | 'onHooks'>

/** `/dead-letters`: lists failed events, sends them again or deletes them. */
export function deadLetterRoutes(app: Http, deps: Deps): void {
  app.get(
    '/dead-letters',
    guarded('table hooks', {
      operationId: 'listDeadLetters',
      summary: 'Events that were given up',
      description: 'Newest first. They are kept for 30 days.',
      querystring: DeadLetterQuery,
      response: { 200: ref(DeadLetterList) },
    }),
    async (request) => {
      const { limit = 20, cursor, lane } = request.query
      const { scope, lanes } = await lanesOf(deps, request, lane)
      const found = await inProject(deps, scope, ({ database }) =>
        listDead(database, lanes, { limit: limit + 1, before: cursor }),
      )
      const data = found.slice(0, limit)
      return { data, next_cursor: found.length > limit ? data.at(-1)!.id : null }
    },
  )
  for (const action of ['resend', 'delete'] as const) {
    app.post(
      `/dead-letters/${action}`,
      guarded('table hooks', {
        operationId: `${action}DeadLetters`,
        summary: action === 'resend' ? 'Send dead letters again' : 'Delete dead letters',
        description:
          action === 'resend'
            ? 'As new events with all their attempts, after what waits of their keys.'
            : 'For good. By their ids, those of a lane, or both.',
        querystring: ProjectQuery,
        body: DeadLetterChoice,
        response: { 200: DeadLetterCount },
      }),
      async (request) => {
        const { ids = null, lane } = request.body
        const { scope, lanes } = await lanesOf(deps, request, lane)
        return {
          count: await inProject(deps, scope, ({ database }) => disposeOfDead(database, action, { lanes, ids })),
        }
      },
    )
  }
}

/** The lanes of the caller's project, or the requested one of them. Queues are shared by all projects of a database. */
async function lanesOf(deps: Deps, request: FastifyRequest, lane: string | undefined) {
  const scope = await requestScope(deps, request)
  if (lane?.startsWith('queue:')) return { scope, lanes: [lane] }
  const lanes = (await deps.tableHooks.all(scope)).map(({ id }) => hookLane(id))
  return { scope, lanes: lane === undefined ? [...lanes, 'queue:*'] : lanes.filter((own) => own === lane) }
}
