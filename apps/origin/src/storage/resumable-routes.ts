import { ERRORS, Server, type Upload } from '@tus/server'
import { TerraneError } from '@terrane/core'
import type { Http } from '@terrane/service'
import { bucketNotFound, checkHeaders, checkKey, objectTooLarge, type Bucket } from '@terrane/storage'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { existing, requireService, type StorageDeps } from './access.ts'
import { toStorageProblem } from './errors.ts'
import { SharedUploads } from './shared-uploads.ts'
import { cacheControlOf, parseMetadata, requireType } from './upload-routes.ts'

const PATH = '/storage/v1/upload/resumable'
/** Lifetime of an upload after its last part. */
const LIFETIME_MS = 24 * 3_600_000
const CLEAN_MS = 3_600_000
/** Ids in the form that the tus server generates. */
const ID = /^[0-9a-f]{32}$/

/**
 * `/upload/resumable`: uploads that can be continued after an interruption, for Supabase storage clients and
 * tus-js-client (tus 1.0.0; `Upload-Metadata` with bucketName, objectName, contentType, cacheControl, metadata). Parts
 * are stored apart from the buckets and become an object when the upload is complete; any origin can continue it.
 */
export function resumableRoutes(app: Http, deps: StorageDeps): void {
  const datastore = new SharedUploads(deps.uploads, LIFETIME_MS)
  const completed = new CompletedUploads(deps, datastore)
  const server = tusServer(app, deps, datastore, completed)
  const cleaning = setInterval(() => void datastore.deleteExpired().catch(() => {}), CLEAN_MS)
  cleaning.unref()
  app.addHook('onClose', async () => clearInterval(cleaning))

  const hand = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.hijack()
    await server.handle(request.raw, reply.raw)
    return reply
  }
  app.post('/upload/resumable', async (request, reply) => {
    await requireService(deps, request)
    await checkTarget(deps, request)
    return hand(request, reply)
  })
  app.head('/upload/resumable/:id', async (request, reply) => {
    const id = await authorized(deps, request)
    const upload = await datastore.getUpload(id).catch(() => null)
    if (upload === null || upload.size === undefined || upload.offset < upload.size) return hand(request, reply)
    // All bytes came, but the object is not stored. tus clients take a full offset for a finished upload, so store it first.
    await completed.store(upload, request.headers['x-upsert'] === 'true')
    const told = { 'tus-resumable': '1.0.0', 'cache-control': 'no-store' }
    return reply.headers({ ...told, 'upload-offset': upload.size, 'upload-length': upload.size }).send()
  })
  for (const method of ['PATCH', 'DELETE'] as const) {
    app.route({
      method,
      url: '/upload/resumable/:id',
      handler: async (request, reply) => {
        await authorized(deps, request)
        return hand(request, reply)
      },
    })
  }
}

/** The tus server for uploads of this storage. */
function tusServer(app: Http, deps: StorageDeps, datastore: SharedUploads, completed: CompletedUploads): Server {
  return new Server({
    path: PATH,
    datastore,
    // Limits uploads without a stated length; a stated length was checked at the start.
    maxSize: async (request, id) => {
      const upload = id === null ? null : await datastore.facts(id).catch(() => null)
      if (upload?.size !== undefined) return deps.maxObjectBytes
      const { bucketName } = upload?.metadata ?? readMetadata(request.headers.get('upload-metadata') ?? undefined)
      return limitOf(deps, await existing(deps, bucketName ?? ''))
    },
    relativeLocation: true,
    // The tus server's text of an unknown error may contain file names of the machine.
    onResponseError: (request, error) => {
      if ('status_code' in error) return undefined
      const { status, body } = toStorageProblem(error, request.url)
      if (status >= 500) app.log.error({ err: error }, 'resumable upload failed')
      return { status_code: status, body: JSON.stringify(body) }
    },
    onUploadFinish: async (request, upload) => {
      try {
        await completed.store(upload, request.headers.get('x-upsert') === 'true')
      } catch (error) {
        const { status, body } = toStorageProblem(error, upload.id)
        // oxlint-disable-next-line typescript/only-throw-error -- The tus server answers with this object.
        throw { status_code: status, body: JSON.stringify(body) }
      }
      return {}
    },
  })
}

/** Makes objects of complete uploads. */
class CompletedUploads {
  readonly #deps: StorageDeps
  readonly #datastore: SharedUploads
  readonly #storing = new Map<string, Promise<void>>()

  constructor(deps: StorageDeps, datastore: SharedUploads) {
    this.#deps = deps
    this.#datastore = datastore
  }

  /** Makes the object of an upload; concurrent requests wait for the same result. */
  store(upload: Upload, upsert: boolean): Promise<void> {
    const { id } = upload
    const begun = this.#storing.get(id) ?? this.#put(upload, upsert).finally(() => this.#storing.delete(id))
    this.#storing.set(id, begun)
    return begun
  }

  async #put({ id, size = 0, metadata = {} }: Upload, upsert: boolean): Promise<void> {
    const { bucket, key, options } = targetOf(metadata)
    const replaces = upsert || metadata['upsert'] === 'true'
    const maxBytes = limitOf(this.#deps, await allowed(this.#deps, bucket, options.contentType))
    try {
      const body = this.#datastore.read(id, size)
      await this.#deps.store.put(bucket, key, body, { ...options, upsert: replaces, maxBytes })
    } catch (error) {
      // Another origin has made the object from the same upload meanwhile.
      if (await this.#isGone(id)) return
      throw error
    }
    await this.#datastore.remove(id).catch(() => {})
  }

  #isGone(id: string): Promise<boolean> {
    return this.#datastore.facts(id).then(
      () => false,
      (error: unknown) => error === ERRORS.FILE_NOT_FOUND,
    )
  }
}

/** The upload id of a request of the service role. @throws UNAUTHORIZED, FORBIDDEN, UPLOAD_NOT_FOUND */
async function authorized(deps: StorageDeps, request: FastifyRequest): Promise<string> {
  await requireService(deps, request)
  const { id } = request.params as { id: string }
  if (!ID.test(id)) throw new TerraneError('UPLOAD_NOT_FOUND', 'not_found', 'There is no such upload')
  return id
}

/** @throws BUCKET_NOT_FOUND, INVALID_MIME_TYPE */
async function allowed(deps: StorageDeps, id: string, contentType: string): Promise<Bucket> {
  const bucket = await existing(deps, id)
  if (!bucket) throw bucketNotFound({ bucket: id })
  requireType(bucket, contentType)
  return bucket
}

function limitOf({ maxObjectBytes }: StorageDeps, bucket: Bucket | null): number {
  return Math.min(bucket?.fileSizeLimit ?? Infinity, maxObjectBytes)
}

/**
 * Checks at the start of an upload all conditions that would fail at its end.
 *
 * @throws BUCKET_NOT_FOUND, INVALID_KEY, INVALID_HEADER_VALUE, INVALID_MIME_TYPE, OBJECT_TOO_LARGE, OBJECT_EXISTS
 */
async function checkTarget(deps: StorageDeps, request: FastifyRequest): Promise<void> {
  const { bucket: id, key, options } = targetOf(readMetadata(request.headers['upload-metadata']))
  const limit = limitOf(deps, await allowed(deps, id, options.contentType))
  checkKey(key)
  checkHeaders(options)
  if (Number(request.headers['upload-length'] ?? 0) > limit) throw objectTooLarge({ limit })
  if (request.headers['x-upsert'] !== 'true' && (await deps.store.head(id, key)))
    throw new TerraneError('OBJECT_EXISTS', 'conflict', `Object ${key} exists in bucket ${id}`)
}

/** `Upload-Metadata`: names, each with its value in base64. */
function readMetadata(header: string | string[] | undefined): Record<string, string> {
  const pairs = String(header ?? '')
    .split(',')
    .map((pair) => pair.trim().split(' '))
    .filter(([name]) => name !== undefined && name !== '')
  return Object.fromEntries(pairs.map(([name, value = '']) => [name, Buffer.from(value, 'base64').toString('utf8')]))
}

function targetOf(metadata: Readonly<Record<string, string | null>>) {
  const { bucketName: bucket, objectName: key } = metadata
  if (!bucket || !key) {
    throw new TerraneError('UPLOAD_TARGET_MISSING', 'malformed', 'Upload-Metadata names no bucketName or no objectName')
  }
  const options = {
    contentType: metadata['contentType'] || 'application/octet-stream',
    cacheControl: cacheControlOf(metadata['cacheControl'] ?? undefined),
    metadata: parseMetadata(metadata['metadata'] ?? undefined),
  }
  return { bucket, key, options }
}
