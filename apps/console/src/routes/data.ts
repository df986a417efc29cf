import { Problem, ref } from '@terrane/contracts'
import { IDENTIFIER_PATTERN } from '@terrane/contracts/names'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { serviceDown } from '../errors.ts'
import { projectOf } from '../sessions/guard.ts'
import { ask, pathOf, readAnswer } from '../upstream/ask.ts'
import { PROFILE, relayToProject } from '../upstream/relay.ts'

/** Buckets of job results, and of files uploaded by members. */
const BUCKETS = ['pmtiles', 'geoembeddings', 'uploads'] as const

const Bucket = Type.Enum([...BUCKETS])
const TableParams = Type.Object({ ref: Type.String(), table: Type.String({ pattern: IDENTIFIER_PATTERN }) })
const SearchParams = Type.Object({
  ref: Type.String(),
  name: Type.Enum(['similarity_search', 'change_detection', 'embedding_colors', 'number_classes']),
})
const ObjectParams = Type.Object({ ref: Type.String(), bucket: Bucket, '*': Type.String() })
/** An entry of the storage API's list; folders have no id. */
interface StoredObject {
  readonly id: string | null
  readonly name: string
  readonly updated_at: string | null
  readonly metadata: { readonly size?: number } | null
}
const Layers = Type.Object({
  exists: Type.Boolean({ description: 'False when there is no bucket pmtiles yet.' }),
  data: Type.Array(
    Type.Object({
      name: Type.String(),
      path: Type.String({ description: 'Key in bucket pmtiles.' }),
      bytes: Type.Integer(),
      updated_at: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
})
const MAX_LAYERS = 500
/** Size limit of a list. A list of {@link MAX_LAYERS} archives takes a tenth of it. */
const LIST_BYTES = 4 << 20
const NewBucket = Type.Object({ name: Bucket }, { additionalProperties: false })

/**
 * Project data that the map reads as the service role, limited to tables of schema geoembeddings, the search functions,
 * and the buckets of layers and artifacts. Paths after the project are those of the project's origin. The only change
 * it allows is to create one of these buckets.
 */
export function dataRoutes(app: Http): void {
  app.get('/api/projects/:ref/rest/v1/:table', { schema: { params: TableParams } }, (request, reply) =>
    relayToProject(request, reply, {
      path: `/rest/v1${pathOf(request.params.table)}`,
      query: new URLSearchParams(request.url.split('?')[1]),
      headers: PROFILE,
    }),
  )
  app.post(
    '/api/projects/:ref/rest/v1/rpc/:name',
    { schema: { params: SearchParams, body: Type.Object({}, { additionalProperties: true }) } },
    (request, reply) =>
      relayToProject(request, reply, {
        path: `/rest/v1/rpc${pathOf(request.params.name)}`,
        query: new URLSearchParams(request.url.split('?')[1]),
        headers: PROFILE,
        body: JSON.stringify(request.body),
      }),
  )
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/projects/:ref/storage/v1/object/:bucket/*',
    schema: { params: ObjectParams },
    handler: (request, reply) => {
      const { bucket, '*': key } = request.params
      // Layers belong to the members: browsers may cache them, but must revalidate each time.
      reply.header('cache-control', 'private, no-cache')
      return relayToProject(request, reply, { path: `/storage/v1/object${pathOf(bucket, ...key.split('/'))}` })
    },
  })
  app.post('/api/projects/:ref/storage/v1/bucket', { schema: { body: NewBucket } }, (request, reply) =>
    relayToProject(request, reply, {
      path: '/storage/v1/bucket',
      body: JSON.stringify({ ...request.body, public: false }),
    }),
  )
  layersRoute(app)
}

/** `GET …/layers`: the archives in bucket pmtiles, and whether that bucket exists. */
function layersRoute(app: Http): void {
  const schema = { tags: ['data'], response: { 200: Layers, '4xx': ref(Problem), '5xx': ref(Problem) } }
  app.get('/api/projects/:ref/layers', { schema }, async (request, reply) => {
    const to = projectOf(request).connection.data()
    const bucket = await ask(request, reply, to, { method: 'GET', path: '/storage/v1/bucket/pmtiles' })
    await bucket.body?.cancel()
    // The storage API answers 404 for a missing bucket; hosted ones answer 400.
    if (bucket.status === 404 || bucket.status === 400) return { exists: false, data: [] }
    if (!bucket.ok) throw serviceDown({ service: to.service })
    const response = await ask(request, reply, to, {
      method: 'POST',
      path: '/storage/v1/object/list/pmtiles',
      body: JSON.stringify({ prefix: '', limit: MAX_LAYERS, sortBy: { column: 'updated_at', order: 'desc' } }),
    })
    if (!response.ok) throw serviceDown({ service: to.service })
    const objects = (await readAnswer(to, response, LIST_BYTES)) as StoredObject[]
    const archives = objects.filter(({ id, name }) => id !== null && name.endsWith('.pmtiles'))
    return {
      exists: true,
      data: archives.map(({ name, updated_at: updatedAt, metadata }) => ({
        name: name.slice(0, -'.pmtiles'.length),
        path: name,
        bytes: metadata?.size ?? 0,
        updated_at: updatedAt,
      })),
    }
  })
}
