import type { Http } from '@terrane/service'
import { Problem, ref } from '@terrane/contracts'
import { Type } from 'typebox'
import { serviceDown } from '../errors.ts'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass, pathOf, readAnswer } from '../upstream/ask.ts'
import { relayToProject } from '../upstream/relay.ts'

const Bucket = Type.String({ minLength: 1, maxLength: 100 })
const BucketParams = Type.Object({ ref: Type.String(), bucket: Bucket })
const FileParams = Type.Object({ ref: Type.String(), bucket: Bucket, '*': Type.String({ maxLength: 1024 }) })
const ListQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: Type.Optional(Type.String({ maxLength: 4096 })),
  },
  { additionalProperties: false },
)
const LinkBody = Type.Object(
  { seconds: Type.Integer({ minimum: 60, maximum: 604_800, default: 3600 }) },
  { additionalProperties: false },
)
const Link = Type.Object({ url: Type.String({ description: 'Carries its own right to read the file.' }) })
const SIGNED_BYTES = 65_536

/** The files in a project's storage, as the service role: buckets, lists of their files, links to read one, removal. */
export function fileRoutes(app: Http): void {
  app.get('/api/projects/:ref/files', (request, reply) =>
    relayToProject(request, reply, { path: '/storage/v1/bucket' }),
  )
  app.get(
    '/api/projects/:ref/files/:bucket',
    { schema: { params: BucketParams, querystring: ListQuery } },
    (request, reply) => {
      const { limit, cursor } = request.query
      return relayToProject(request, reply, {
        method: 'POST',
        path: `/storage/v1/object/list-v2${pathOf(request.params.bucket)}`,
        body: JSON.stringify({ prefix: '', limit, ...(cursor !== undefined && { cursor }) }),
      })
    },
  )
  app.post(
    '/api/projects/:ref/files/:bucket/*',
    {
      schema: {
        params: FileParams,
        body: LinkBody,
        response: { 200: Link, '4xx': ref(Problem), '5xx': ref(Problem) },
      },
    },
    async (request, reply) => {
      const { bucket, '*': key } = request.params
      const to = projectOf(request).connection.data()
      const response = await ask(request, reply, to, {
        method: 'POST',
        path: `/storage/v1/object/sign${pathOf(bucket, ...key.split('/'))}`,
        body: JSON.stringify({ expiresIn: request.body.seconds }),
      })
      if (!response.ok) return pass(reply, response) as never
      const { signedURL } = (await readAnswer(to, response, SIGNED_BYTES)) as { signedURL?: unknown }
      if (typeof signedURL !== 'string') throw serviceDown({ service: to.service })
      // The signed path is not encoded by the storage; `URL` encodes it.
      return { url: new URL(`${to.base}/storage/v1${signedURL}`).href }
    },
  )
  app.delete('/api/projects/:ref/files/:bucket/*', { schema: { params: FileParams } }, (request, reply) => {
    const { bucket, '*': key } = request.params
    return relayToProject(request, reply, { path: `/storage/v1/object${pathOf(bucket, ...key.split('/'))}` })
  })
}
