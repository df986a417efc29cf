import type { Http } from '@terrane/service'
import { bucketNotFound, type Bucket, type BucketRules } from '@terrane/storage'
import { Type } from 'typebox'
import { existing, readableBucket, requireService, type StorageDeps } from './access.ts'

const Rules = {
  public: Type.Optional(Type.Boolean()),
  file_size_limit: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0 }), Type.String({ maxLength: 30 }), Type.Null()]),
  ),
  allowed_mime_types: Type.Optional(
    Type.Union([Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }), Type.Null()]),
  ),
}
const Create = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 200 })),
  name: Type.String({ maxLength: 200 }),
  type: Type.Optional(Type.String({ maxLength: 200 })),
  ...Rules,
})
const Update = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 200 })),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  ...Rules,
})
const Params = Type.Object({ id: Type.String() })

const UNITS: Readonly<Record<string, number>> = { '': 1, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 }

/** `/bucket`: `storage.listBuckets`, `getBucket`, `createBucket`, `updateBucket`, `emptyBucket`, `deleteBucket`. */
export function bucketRoutes(app: Http, deps: StorageDeps): void {
  const { store } = deps
  app.get('/bucket', async (request) => {
    await requireService(deps, request)
    return (await store.listBuckets()).map(toBody)
  })
  app.get('/bucket/:id', { schema: { params: Params } }, async (request) =>
    toBody(await readableBucket(deps, request, request.params.id)),
  )
  app.post('/bucket', { schema: { body: Create } }, async (request) => {
    await requireService(deps, request)
    const { id, name } = request.body
    await store.createBucket(id ?? name, {
      public: false,
      fileSizeLimit: null,
      allowedMimeTypes: null,
      ...rulesOf(request.body),
    })
    return { name: id ?? name }
  })
  app.put('/bucket/:id', { schema: { params: Params, body: Update } }, async (request) => {
    await requireService(deps, request)
    await mustExist(request.params.id)
    await store.updateBucket(request.params.id, rulesOf(request.body))
    return { message: 'Successfully updated' }
  })
  app.post('/bucket/:id/empty', { schema: { params: Params } }, async (request) => {
    await requireService(deps, request)
    await mustExist(request.params.id)
    const keys = (await Array.fromAsync(store.list(request.params.id, ''))).map((info) => info.key)
    await store.remove(request.params.id, keys)
    return { message: 'Successfully emptied' }
  })
  app.delete('/bucket/:id', { schema: { params: Params } }, async (request) => {
    await requireService(deps, request)
    await mustExist(request.params.id)
    await store.deleteBucket(request.params.id)
    return { message: 'Successfully deleted' }
  })

  async function mustExist(id: string): Promise<void> {
    if (!(await existing(deps, id))) throw bucketNotFound({ bucket: id })
  }
}

function rulesOf(body: {
  public?: boolean
  file_size_limit?: number | string | null
  allowed_mime_types?: string[] | null
}): Partial<BucketRules> {
  return {
    ...(body.public !== undefined && { public: body.public }),
    ...(body.file_size_limit !== undefined && { fileSizeLimit: parseSize(body.file_size_limit) }),
    ...(body.allowed_mime_types !== undefined && { allowedMimeTypes: body.allowed_mime_types }),
  }
}

/** `50MB` as bytes; null for no limit. */
function parseSize(size: number | string | null): number | null {
  if (size === null || size === 0) return null
  if (typeof size === 'number') return size
  const found = /^(\d{1,15}(?:\.\d{1,15})?)[ ]?([KMGT]?B?)$/i.exec(size.trim())
  const unit = UNITS[(found?.[2] ?? 'x').toUpperCase()]
  if (!found || unit === undefined)
    throw Object.assign(new Error(`file_size_limit '${size}' is not a size like 50MB`), { statusCode: 400 })
  return Math.round(Number(found[1]) * unit)
}

function toBody(bucket: Bucket) {
  return {
    id: bucket.id,
    name: bucket.id,
    owner: '',
    public: bucket.public,
    type: 'STANDARD',
    file_size_limit: bucket.fileSizeLimit,
    allowed_mime_types: bucket.allowedMimeTypes,
    created_at: bucket.createdAt.toISOString(),
    updated_at: bucket.updatedAt.toISOString(),
  }
}
