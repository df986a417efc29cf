import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass } from '../upstream/ask.ts'

/** `POST /api/projects/{ref}/route`: the routing engine's own request and answer, errors included. */
export function routeRoute(app: Http): void {
  const schema = { body: Type.Object({}, { additionalProperties: true, description: 'RouteRequest' }) }
  app.post('/api/projects/:ref/route', { schema }, async (request, reply) => {
    const response = await ask(request, reply, projectOf(request).connection.routing(), {
      method: 'POST',
      path: '/route',
      body: JSON.stringify(request.body),
      keyIn: 'apikey',
    })
    return pass(reply, response)
  })
}
