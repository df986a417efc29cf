import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass, pathOf } from '../upstream/ask.ts'

const Params = Type.Object({ ref: Type.String(), action: Type.Enum(['plan', 'rows', 'table']) })
/** The origin checks its members. */
const Body = Type.Object({}, { additionalProperties: true })
/** The origin gives up first. */
const TIMEOUT_MS = 310_000

/** Statements of members, which the project's origin runs as the service role, read only: `/sql/v1`. */
export function sqlRoutes(app: Http): void {
  app.post('/api/projects/:ref/sql/v1/:action', { schema: { params: Params, body: Body } }, async (request, reply) => {
    const path = `/sql/v1${pathOf(request.params.action)}`
    const what = { method: 'POST', path, body: JSON.stringify(request.body), timeoutMs: TIMEOUT_MS } as const
    return pass(reply, await ask(request, reply, projectOf(request).connection.data(), what))
  })
}
