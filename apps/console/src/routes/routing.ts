import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass } from '../upstream/ask.ts'

/** What the page asks of the routing engine. */
const ACTIONS = ['route', 'isochrone', 'status'] as const

/** `POST /api/projects/{ref}/route`, `/isochrone`, `/status`: the routing engine's own requests and answers, errors included. */
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
