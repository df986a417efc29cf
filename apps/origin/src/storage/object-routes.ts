import type { Http } from '@terrane/service'
import { objectNotFound, type ObjectInfo } from '@terrane/storage'
import { Type } from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendObject } from './send-object.ts'
import { idOf, infoBody, listEntry } from './views.ts'
import { existing, existingObject, keyOf, readableBucket, requireService, type StorageDeps } from './access.ts'

const Params = Type.Object({ bucket: Type.String(), '*': Type.String() })
const MoveOrCopy = Type.Object({
  bucketId: Type.String({ maxLength: 1024 }),
  sourceKey: Type.String({ maxLength: 1024 }),
  destinationKey: Type.String({ maxLength: 1024 }),
  destinationBucket: Type.Optional(Type.String({ maxLength: 1024 })),
})
const Remove = Type.Object({ prefixes: Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 1000 }) })

/** `/object`: download, info, move, copy, remove, and public reads. */
export function objectRoutes(app: Http, deps: StorageDeps): void {
  changeRoutes(app, deps)
  readRoutes(app, deps)
}

function changeRoutes(app: Http, deps: StorageDeps): void {
  const { store } = deps
  app.post('/object/move', { schema: { body: MoveOrCopy } }, async (request) => {
    await requireService(deps, request)
    const { from, to } = addresses(request.body)
    const info = await store.move(from, to)
    return { message: 'Successfully moved', Id: idOf(info), Key: `${info.bucket}/${info.key}` }
  })
  app.post('/object/copy', { schema: { body: MoveOrCopy } }, async (request) => {
    await requireService(deps, request)
    const { from, to } = addresses(request.body)
    const info = await store.copy(from, to, { upsert: request.headers['x-upsert'] === 'true' })
    return { Id: idOf(info), Key: `${info.bucket}/${info.key}`, ...listEntry(info, info.key) }
  })
  app.delete(
    '/object/:bucket',
    { schema: { params: Type.Object({ bucket: Type.String() }), body: Remove } },
    async (request) => {
      await requireService(deps, request)
      const removed = await store.remove(request.params.bucket, request.body.prefixes)
      return removed.map((info) => ({ bucket_id: info.bucket, ...listEntry(info, info.key) }))
    },
  )
  app.delete('/object/:bucket/*', { schema: { params: Params } }, async (request) => {
    await requireService(deps, request)
    const { bucket } = request.params
    await existingObject(deps, bucket, keyOf(request))
    await store.remove(bucket, [keyOf(request)])
    return { message: 'Successfully deleted' }
  })
}

function readRoutes(app: Http, deps: StorageDeps): void {
  const schema = { params: Params }
  const info = async (request: FastifyRequest) => {
    const { bucket } = request.params as { bucket: string }
    await readableBucket(deps, request, bucket)
    return infoBody(await existingObject(deps, bucket, keyOf(request)))
  }
  app.get('/object/info/:bucket/*', { schema }, info)
  app.get('/object/info/authenticated/:bucket/*', { schema }, info)
  app.get('/object/info/public/:bucket/*', { schema }, async (request) => infoBody(await publicObject(request)))

  app.route({
    method: ['GET', 'HEAD'],
    url: '/object/public/:bucket/*',
    schema,
    handler: async (request, reply) => sendObject(deps, request, reply, await publicObject(request)),
  })
  app.route({ method: ['GET', 'HEAD'], url: '/object/authenticated/:bucket/*', schema, handler: download })
  app.route({ method: ['GET', 'HEAD'], url: '/object/:bucket/*', schema, handler: download })

  async function download(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { bucket } = request.params as { bucket: string }
    await readableBucket(deps, request, bucket)
    return sendObject(deps, request, reply, await existingObject(deps, bucket, keyOf(request)))
  }

  async function publicObject(request: FastifyRequest): Promise<ObjectInfo> {
    const { bucket } = request.params as { bucket: string }
    const key = keyOf(request)
    if (!(await existing(deps, bucket))?.public) throw objectNotFound({ bucket, key })
    return existingObject(deps, bucket, key)
  }
}

function addresses(body: { bucketId: string; sourceKey: string; destinationKey: string; destinationBucket?: string }) {
  return {
    from: { bucket: body.bucketId, key: body.sourceKey },
    to: { bucket: body.destinationBucket ?? body.bucketId, key: body.destinationKey },
  }
}
