import type { Readable } from 'node:stream'
import { TerraneError } from '@terrane/core'
import { bucketNotFound, type Bucket, type ObjectInfo, type PutOptions } from '@terrane/storage'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Http } from '@terrane/service'
import { idOf } from './views.ts'
import { verifySignedUrl } from './sign-routes.ts'
import { existing, keyOf, requireService, type StorageDeps } from './access.ts'

const Params = Type.Object({ bucket: Type.String(), '*': Type.String() })
const Token = Type.Object({ token: Type.String({ maxLength: 8192 }) })

/** `POST|PUT /object/{bucket}/{path}` by the service role, and `PUT /object/upload/sign/…` by a signed URL. */
export function uploadRoutes(app: Http, deps: StorageDeps): void {
  const upload = (replaces: boolean) => async (request: FastifyRequest) => {
    await requireService(deps, request)
    const { bucket } = request.params as { bucket: string }
    const info = await storeUpload(
      deps,
      request,
      bucket,
      keyOf(request),
      replaces || request.headers['x-upsert'] === 'true',
    )
    return { Id: idOf(info), Key: `${info.bucket}/${info.key}` }
  }
  const options = { schema: { params: Params }, bodyLimit: deps.maxObjectBytes }
  app.post('/object/:bucket/*', options, upload(false))
  app.put('/object/:bucket/*', options, upload(true))
  app.put(
    '/object/upload/sign/:bucket/*',
    { schema: { params: Params, querystring: Token }, bodyLimit: deps.maxObjectBytes },
    async (request) => {
      const { bucket } = request.params
      const key = keyOf(request)
      const claims = await verifySignedUrl(deps, request.query.token, 'write', { bucket, key })
      const info = await storeUpload(deps, request, bucket, key, claims['upsert'] === true)
      return { Key: `${info.bucket}/${info.key}` }
    },
  )
}

/** The content of an upload and its metadata. */
interface Upload {
  readonly body: AsyncIterable<Uint8Array>
  readonly contentType: string
  readonly cacheControl: string
  readonly metadata: Record<string, unknown>
}

/**
 * Stores the body of a request: raw bytes with headers, or a multipart form with fields `cacheControl` and `metadata` and
 * one file of any name, as storage-js sends Buffers and Blobs.
 *
 * @throws BUCKET_NOT_FOUND, OBJECT_EXISTS, OBJECT_TOO_LARGE, INVALID_KEY, UNSUPPORTED_TYPE
 */
async function storeUpload(
  deps: StorageDeps,
  request: FastifyRequest,
  bucketId: string,
  key: string,
  upsert: boolean,
): Promise<ObjectInfo> {
  const bucket = await existing(deps, bucketId)
  if (!bucket) throw bucketNotFound({ bucket: bucketId })
  const upload = await readUpload(request)
  requireType(bucket, upload.contentType)
  const options: PutOptions = {
    contentType: upload.contentType,
    cacheControl: upload.cacheControl,
    metadata: upload.metadata,
    upsert,
    maxBytes: Math.min(bucket.fileSizeLimit ?? Infinity, deps.maxObjectBytes),
  }
  return deps.store.put(bucketId, key, upload.body, options)
}

async function readUpload(request: FastifyRequest): Promise<Upload> {
  if (request.isMultipart()) {
    const part = await request.file()
    if (!part) throw Object.assign(new Error('The form has no file'), { statusCode: 400 })
    const field = (name: string) => {
      const found = part.fields[name]
      return found && !Array.isArray(found) && found.type === 'field' ? String(found.value) : undefined
    }
    return {
      body: part.file,
      contentType: part.mimetype,
      cacheControl: cacheControlOf(field('cacheControl')),
      metadata: parseMetadata(field('metadata')),
    }
  }
  const header = request.headers['x-metadata']
  return {
    body: (request.body ?? []) as Readable,
    contentType: request.headers['content-type'] ?? 'application/octet-stream',
    cacheControl: cacheControlOf(request.headers['cache-control']),
    metadata: parseMetadata(typeof header === 'string' ? Buffer.from(header, 'base64').toString('utf8') : undefined),
  }
}

/** @throws INVALID_MIME_TYPE when the bucket does not take objects of the type */
export function requireType({ id, allowedMimeTypes }: Bucket, type: string): void {
  if (!allowedMimeTypes || allowedMimeTypes.length === 0 || allowedMimeTypes.some((allowed) => fits(type, allowed)))
    return
  throw new TerraneError('INVALID_MIME_TYPE', 'unsupported_media', `mime type ${type} is not supported by bucket ${id}`)
}

/** storage-js sends a number of seconds in forms, and a whole header in raw uploads. */
export function cacheControlOf(text: string | undefined): string {
  if (text === undefined || text === '') return 'no-cache'
  return /^\d+$/.test(text) ? `max-age=${text}` : text.slice(0, 200)
}

/** A JSON object as text. */
export function parseMetadata(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The error is thrown below.
  }
  throw Object.assign(new Error('metadata is not a JSON object'), { statusCode: 400 })
}

function fits(type: string, allowed: string): boolean {
  const bare = type.split(';')[0]?.trim().toLowerCase() ?? ''
  const wanted = allowed.toLowerCase()
  return wanted === '*/*' || bare === wanted || (wanted.endsWith('/*') && bare.startsWith(wanted.slice(0, -1)))
}
