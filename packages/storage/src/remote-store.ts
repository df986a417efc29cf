import { Readable } from 'node:stream'
import type { TerraneError } from '@terrane/core'
import { bucketNotFound, objectExists, objectNotFound, storageFailed, storageUnavailable } from './errors.ts'
import { paced } from './paced.ts'
import {
  DEFAULT_CACHE_CONTROL,
  DEFAULT_CONTENT_TYPE,
  checkBucketName,
  checkHeaders,
  checkKey,
  type ArtifactStore,
  type Bucket,
  type BucketRules,
  type ByteRange,
  type ListedObject,
  type ObjectAddress,
  type ObjectBody,
  type ObjectInfo,
  type PutOptions,
} from './object-store.ts'

/** The part of a guarded fetch that this store uses. */
export type RemoteFetch = (
  url: string,
  options: {
    method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
    headers?: Readonly<Record<string, string>>
    body?: string | Readable
    signal?: AbortSignal
    accept?: readonly number[]
    maxBytes?: number
    timeoutMs?: number
  },
) => Promise<{
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
  cancel(): void
}>

export interface RemoteOptions {
  /** Base of a storage API as supabase-js speaks to it, ending in `/storage/v1`. */
  readonly url: string
  readonly serviceRoleKey: string
  readonly fetch: RemoteFetch
}

const ANSWERS = [400, 404, 409]
/** Maximum bytes of an answer about an object or a bucket, and maximum wait for it. */
const ANSWER_BYTES = 1 << 20
const ANSWER_MS = 20_000
/** Minimum rate of transfers of contents. */
const LEAST_BYTES_PER_MS = 64
/** Maximum time of an upload of unknown length; its rate is checked, too. */
const LONGEST_UPLOAD_MS = 86_400_000
/** Entries of a folder in one request. */
const LIST_PAGE = 1000

/** Publishes files in another project's storage through its HTTP API. Bodies are streamed. */
export class RemoteStore implements ArtifactStore {
  readonly #base: string
  readonly #auth: Readonly<Record<string, string>>
  readonly #fetch: RemoteFetch
  readonly #options: RemoteOptions
  readonly #signal: AbortSignal | undefined

  constructor(options: RemoteOptions, signal?: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#base = options.url.replace(/\/+$/, '')
    this.#auth = { apikey: options.serviceRoleKey, authorization: `Bearer ${options.serviceRoleKey}` }
    this.#fetch = options.fetch
  }

  withSignal(signal: AbortSignal): RemoteStore {
    return new RemoteStore(this.#options, signal)
  }

  async getBucket(id: string): Promise<Bucket | null> {
    checkBucketName(id)
    const answer = await this.#call('GET', `/bucket/${id}`)
    if (answer === null) return null
    const b = answer as {
      public?: boolean
      file_size_limit?: number | null
      allowed_mime_types?: string[] | null
      created_at?: string
      updated_at?: string
    }
    return {
      id,
      public: b.public ?? false,
      fileSizeLimit: b.file_size_limit ?? null,
      allowedMimeTypes: b.allowed_mime_types ?? null,
      createdAt: new Date(b.created_at ?? 0),
      updatedAt: new Date(b.updated_at ?? 0),
    }
  }

  async createBucket(id: string, rules: BucketRules): Promise<Bucket> {
    checkBucketName(id)
    await this.#call('POST', '/bucket', {
      id,
      name: id,
      public: rules.public,
      file_size_limit: rules.fileSizeLimit,
      allowed_mime_types: rules.allowedMimeTypes,
    })
    const bucket = await this.getBucket(id)
    if (!bucket) throw bucketNotFound({ bucket: id })
    return bucket
  }

  async put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    options: PutOptions = {},
  ): Promise<ObjectInfo> {
    checkKey(key)
    checkHeaders(options)
    const { size } = options
    const late = new AbortController()
    const signal = AbortSignal.any([options.signal ?? this.#signal ?? [], late.signal].flat())
    const content = Readable.from(
      paced(body, { graceMs: ANSWER_MS, bytesPerMs: LEAST_BYTES_PER_MS }, () =>
        late.abort(storageUnavailable({ operation: 'PUT' })),
      ),
      { objectMode: false },
    )
    const response = await this.#fetch(`${this.#base}/object/${path(bucket, key)}`, {
      method: 'POST',
      headers: {
        ...this.#auth,
        'content-type': options.contentType ?? DEFAULT_CONTENT_TYPE,
        'cache-control': options.cacheControl ?? DEFAULT_CACHE_CONTROL,
        'x-upsert': String(options.upsert ?? false),
        ...(size !== undefined && { 'content-length': String(size) }),
        ...(options.metadata && { 'x-metadata': Buffer.from(JSON.stringify(options.metadata)).toString('base64') }),
      },
      body: content,
      accept: ANSWERS,
      maxBytes: ANSWER_BYTES,
      timeoutMs: size === undefined ? LONGEST_UPLOAD_MS : timeFor(size),
      signal,
    }).finally(() => content.destroy())
    const text = Buffer.concat(await Array.fromAsync(response.body)).toString('utf8')
    if (response.status >= 400) throw refusal(bucket, key, response.status, text)
    const info = await this.head(bucket, key)
    if (!info) throw objectNotFound({ bucket, key })
    return info
  }

  async head(bucket: string, key: string): Promise<ObjectInfo | null> {
    checkKey(key)
    const answer = (await this.#call('GET', `/object/info/${path(bucket, key)}`)) as {
      size?: number
      content_type?: string
      cache_control?: string
      etag?: string
      metadata?: Record<string, unknown> | null
      created_at?: string
      last_modified?: string
    } | null
    if (answer === null) return null
    const created = new Date(answer.created_at ?? 0)
    return {
      bucket,
      key,
      size: answer.size ?? 0,
      contentType: answer.content_type ?? DEFAULT_CONTENT_TYPE,
      cacheControl: answer.cache_control ?? DEFAULT_CACHE_CONTROL,
      etag: answer.etag ?? '""',
      metadata: answer.metadata ?? {},
      createdAt: created,
      updatedAt: answer.last_modified ? new Date(answer.last_modified) : created,
    }
  }

  async get(
    bucket: string,
    key: string,
    options: { range?: ByteRange; signal?: AbortSignal } = {},
  ): Promise<ObjectBody> {
    const info = await this.head(bucket, key)
    if (!info) throw objectNotFound({ bucket, key })
    const { range } = options
    const bytes = range ? range.end - range.start + 1 : info.size
    const signal = options.signal ?? this.#signal
    const response = await this.#fetch(`${this.#base}/object/authenticated/${path(bucket, key)}`, {
      headers: { ...this.#auth, ...(range && { range: `bytes=${range.start}-${range.end}` }) },
      maxBytes: bytes,
      timeoutMs: timeFor(bytes),
      ...(signal && { signal }),
    })
    return { info, body: response.body }
  }

  /** Lists folder by folder, as that API does; in code point order within each folder. */
  async *list(bucket: string, prefix: string): AsyncGenerator<ListedObject> {
    checkBucketName(bucket)
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    for await (const object of this.#listFolder(bucket, folder)) if (object.key.startsWith(prefix)) yield object
  }

  async *#listFolder(bucket: string, folder: string): AsyncGenerator<ListedObject> {
    for (let offset = 0; ; offset += LIST_PAGE) {
      const order = { column: 'name', order: 'asc' }
      const asked = { prefix: folder.replace(/\/$/, ''), limit: LIST_PAGE, offset, sortBy: order }
      const page = (await this.#call('POST', `/object/list/${encodeURIComponent(bucket)}`, asked)) as {
        name: string
        id: string | null
        created_at?: string | null
        updated_at?: string | null
        metadata?: { size?: number; eTag?: string } | null
      }[]
      for (const { name, id, metadata, created_at: created, updated_at: updated } of page) {
        const key = `${folder}${name}`
        if (id === null) yield* this.#listFolder(bucket, `${key}/`)
        else {
          const createdAt = new Date(created ?? 0)
          const updatedAt = updated ? new Date(updated) : createdAt
          yield { bucket, key, size: metadata?.size ?? 0, etag: metadata?.eTag ?? '""', createdAt, updatedAt }
        }
      }
      if (page.length < LIST_PAGE) return
    }
  }

  async move(from: ObjectAddress, to: ObjectAddress, options: { upsert?: boolean } = {}): Promise<ObjectInfo> {
    if (options.upsert) await this.remove(to.bucket, [to.key])
    await this.#call('POST', '/object/move', {
      bucketId: from.bucket,
      sourceKey: from.key,
      destinationBucket: to.bucket,
      destinationKey: to.key,
    })
    const info = await this.head(to.bucket, to.key)
    if (!info) throw objectNotFound(to)
    return info
  }

  async remove(bucket: string, keys: readonly string[]): Promise<ObjectInfo[]> {
    const infos = (await Promise.all(keys.map((key) => this.head(bucket, key)))).filter((info) => info !== null)
    await this.#call('DELETE', `/object/${encodeURIComponent(bucket)}`, { prefixes: keys })
    return infos
  }

  /** Makes one JSON request. A GET gives null for "not found", which that API reports with status 400 or 404. */
  async #call(method: 'GET' | 'POST' | 'DELETE', route: string, body?: unknown): Promise<unknown> {
    const response = await this.#fetch(`${this.#base}${route}`, {
      method,
      headers: { ...this.#auth, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      accept: ANSWERS,
      maxBytes: ANSWER_BYTES,
      timeoutMs: ANSWER_MS,
      ...(this.#signal && { signal: this.#signal }),
    })
    const text = Buffer.concat(await Array.fromAsync(response.body)).toString('utf8')
    if (response.status < 400) return JSON.parse(text || 'null') as unknown
    if (method === 'GET' && trueStatus(response.status, text) === 404) return null
    throw refusal('', route, response.status, text)
  }
}

/** Maximum time for a transfer of this many bytes, in milliseconds. */
function timeFor(bytes: number): number {
  return ANSWER_MS + Math.ceil(bytes / LEAST_BYTES_PER_MS)
}

/** The API answers most client errors with status 400 and puts the true one into the body. */
function trueStatus(status: number, text: string): number {
  try {
    const { statusCode } = JSON.parse(text) as { statusCode?: string | number }
    return Number(statusCode ?? status)
  } catch {
    return status
  }
}

function refusal(bucket: string, key: string, status: number, text: string): TerraneError {
  switch (trueStatus(status, text)) {
    case 404:
      return /bucket/i.test(text) ? bucketNotFound({ bucket }) : objectNotFound({ bucket, key })
    case 409:
      return objectExists({ bucket, key })
    default:
      return storageFailed({ operation: 'the request', status })
  }
}

function path(bucket: string, key: string): string {
  return [bucket, ...key.split('/')].map(encodeURIComponent).join('/')
}
