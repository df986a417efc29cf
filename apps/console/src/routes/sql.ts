import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { pathOf } from '../upstream/ask.ts'
import { relayToProject } from '../upstream/relay.ts'

const Params = Type.Object({
  ref: Type.String(),
  action: Type.Enum(['plan', 'rows', 'table', 'query', 'queries', 'remove']),
})
/** Checks only that the body is an object; the origin checks its members. */
const Body = Type.Object({}, { additionalProperties: true })
/** Longer than the timeout of the origin. */
const TIMEOUT_MS = 310_000

/** SQL of members, which the project's origin runs as the service role, read only: `/sql/v1`. */
export function sqlRoutes(app: Http): void {
  app.post('/api/projects/:ref/sql/v1/:action', { schema: { params: Params, body: Body } }, (request, reply) => {
    const path = `/sql/v1${pathOf(request.params.action)}`
    return relayToProject(request, reply, { path, body: JSON.stringify(request.body), timeoutMs: TIMEOUT_MS })
  })
}
