import { Readable } from 'node:stream'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { serviceDown } from '../errors.ts'
import { addressOf, projectOf } from '../sessions/guard.ts'
import { pathOf } from '../upstream/ask.ts'

const PREFIX = '/storage/v1/upload/resumable'
/** Headers of the tus protocol, for requests and answers. */
const REQUEST = [
  'tus-resumable',
  'upload-length',
  'upload-metadata',
  'upload-offset',
  'x-upsert',
  'content-type',
  'content-length',
]
const RESPONSE = ['tus-resumable', 'upload-offset', 'upload-length', 'upload-expires', 'cache-control', 'content-type']

/** Resumable uploads into the project's storage. Each chunk is passed on as it arrives. */
export async function uploadRoutes(app: Http): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.post(`/api/projects/:ref${PREFIX}`, (request, reply) => relay(request, reply, ''))
    scope.route({
      method: ['HEAD', 'PATCH', 'DELETE'],
      url: `/api/projects/:ref${PREFIX}/:id`,
      handler: (request, reply) => relay(request, reply, pathOf((request.params as { id: string }).id)),
    })
  })
}

async function relay(request: FastifyRequest, reply: FastifyReply, rest: string): Promise<FastifyReply> {
  const to = projectOf(request).connection.data()
  const headers: Record<string, string> = {
    apikey: to.key,
    authorization: `Bearer ${to.key}`,
    'x-request-id': request.id,
  }
  for (const name of REQUEST) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const gone = new AbortController()
  request.raw.once('close', () => {
    if (!request.raw.complete) gone.abort()
  })
  const body = request.body instanceof Readable ? Readable.toWeb(request.body) : null
  let response: Response
  try {
    response = await fetch(`${to.base}${PREFIX}${rest}`, {
      method: request.method,
      headers,
      signal: gone.signal,
      ...(body && { body: body as ReadableStream<Uint8Array>, duplex: 'half' }),
    })
  } catch (cause) {
    throw serviceDown({ service: to.service }, { cause })
  }
  reply.code(response.status)
  for (const name of RESPONSE) {
    const value = response.headers.get(name)
    if (value !== null) reply.header(name, value)
  }
  const location = response.headers.get('location')
  const id = location?.split('/').at(-1)
  if (id) reply.header('location', `/api/projects/${addressOf(request)}${PREFIX}/${id}`)
  return reply.send(response.body === null ? undefined : Readable.fromWeb(response.body as never))
}
