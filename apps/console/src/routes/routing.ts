import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { relay } from '../upstream/relay.ts'

/** Actions of the routing engine that the page uses. */
const ACTIONS = ['route', 'isochrone', 'status'] as const

const TileParams = Type.Object({
  ref: Type.String(),
  z: Type.Integer({ minimum: 0, maximum: 30 }),
  x: Type.Integer({ minimum: 0 }),
  y: Type.Integer({ minimum: 0 }),
})

/**
 * `POST /api/projects/{ref}/route`, `/isochrone`, `/status`: the routing engine's own requests and answers, errors included.
 * `GET /api/projects/{ref}/streets/{z}/{x}/{y}`: the streets of its graph as vector tiles.
 */
export function routingRoutes(app: Http): void {
  for (const action of ACTIONS) {
    const schema = {
      body: Type.Object({}, { additionalProperties: true, description: 'As the routing engine wants it.' }),
    }
    app.post(`/api/projects/:ref/${action}`, { schema }, (request, reply) =>
      toRouter(request, reply, action, request.body),
    )
  }
  app.get(
    '/api/projects/:ref/streets/:z/:x/:y',
    { schema: { params: TileParams }, config: { quiet: true } },
    (request, reply) => {
      const { z, x, y } = request.params
      reply.header('cache-control', 'private, no-cache')
      return toRouter(request, reply, 'tile', { tile: { z, x, y } })
    },
  )
}

function toRouter(request: FastifyRequest, reply: FastifyReply, action: string, body: unknown): Promise<FastifyReply> {
  return relay(request, reply, projectOf(request).connection.routing(), {
    method: 'POST',
    path: `/${action}`,
    body: JSON.stringify(body),
    keyIn: 'apikey',
  })
}
