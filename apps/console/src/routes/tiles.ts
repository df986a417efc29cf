import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { notOfferedHere } from '../errors.ts'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass, pathOf, readAnswer } from '../upstream/ask.ts'

const Params = Type.Object({ ref: Type.String(), '*': Type.String({ maxLength: 300 }) })
const PROBLEM_BYTES = 65_536
/** Paths of the origin's raster and vector services that maps may read. */
const RASTER =
  /^(info|tiles\/WebMercatorQuad\/\d+\/\d+\/\d+\.(webp|png)|preview\/\d+x\d+\.webp|bbox\/[-\d.,]+\/\d+x\d+\.webp)$/
const VECTOR = /^(catalog|[^/]+|[^/]+\/stats|[^/]+\/\d+\/\d+\/\d+)$/

/** Images of rasters and tiles of tables, read as the service role because members may read the whole project. */
export function tileRoutes(app: Http): void {
  for (const [kind, allowed] of [
    ['raster', RASTER],
    ['vector', VECTOR],
  ] as const) {
    app.get(
      `/api/projects/:ref/${kind}/v1/*`,
      { schema: { params: Params }, config: { quiet: true } },
      (request, reply) => relay(request, reply, kind, allowed),
    )
  }
}

async function relay(
  request: FastifyRequest,
  reply: FastifyReply,
  kind: 'raster' | 'vector',
  allowed: RegExp,
): Promise<FastifyReply> {
  const rest = (request.params as { '*': string })['*']
  if (!allowed.test(rest)) throw notOfferedHere({ what: rest })
  const to = projectOf(request).connection.data()
  const response = await ask(request, reply, to, {
    method: 'GET',
    path: `/${kind}/v1${pathOf(...rest.split('/'))}`,
    query: new URLSearchParams(request.url.split('?')[1]),
  })
  // Maps ask for all tiles of a box, so an empty tile is not an error.
  if (response.status === 404) {
    const problem = (await readAnswer(to, response, PROBLEM_BYTES)) as { code?: string }
    return problem.code === 'TILE_OUTSIDE' ? reply.code(204).send() : reply.code(404).send(problem)
  }
  reply.header('cache-control', 'private, no-cache')
  return pass(reply, response)
}
