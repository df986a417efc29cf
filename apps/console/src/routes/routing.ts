import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass } from '../upstream/ask.ts'

/** Actions of the routing engine that the page uses. */
const ACTIONS = ['route', 'isochrone', 'status'] as const

/**
 * `POST /api/projects/{ref}/route`, `/isochrone`, `/status`: requests and answers of the routing engine, errors
 * included.
 */
export function routingRoutes(app: Http): void {
  for (const action of ACTIONS) {
    const schema = {
      body: Type.Object({}, { additionalProperties: true, description: 'As the routing engine wants it.' }),
    }
    app.post(`/api/projects/:ref/${action}`, { schema }, (request, reply) => relay(request, reply, action))
  }
}

async function relay(request: FastifyRequest, reply: FastifyReply, action: string): Promise<FastifyReply> {
  const response = await ask(request, reply, projectOf(request).connection.routing(), {
    method: 'POST',
    path: `/${action}`,
    body: JSON.stringify(request.body),
    keyIn: 'apikey',
  })
  return pass(reply, response)
}
