import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  bucketExists,
  bucketNotEmpty,
  bucketNotFound,
  objectExists,
  objectNotFound,
  objectTooLarge,
} from '../errors.ts'
import {
  DEFAULT_CACHE_CONTROL,
  DEFAULT_CONTENT_TYPE,
  checkBucketName,
  checkHeaders,
  checkKey,
  type Bucket,
  type BucketRules,
  type ByteRange,
  type ListOptions,
  type ListedFolder,
  type ListedObject,
  type ObjectAddress,
  type ObjectBody,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
} from '../object-store.ts'
import { mapBounded } from '../parallel.ts'
import type { S3Options } from './client.ts'
import { explain, statusOf } from './explain.ts'
import { encodeMetadata, infoOf } from './object-info.ts'
import { readBody } from './read-body.ts'
import { S3Bucket } from './s3-bucket.ts'

/** Concurrent requests for the metadata of objects. */
const WIDTH = 24

/**
 * Objects in one S3 bucket: `{prefix}/objects/{bucket}/{key}`, and the rules of each bucket in `{prefix}/buckets/{id}.json`.
 * Small uploads are one PUT, large ones parts that become an object at the end: either appears whole.
 */
export class S3Store implements ObjectStore {
  readonly #s3: S3Bucket
  readonly #root: string

  constructor(options: S3Options, s3 = new S3Bucket(options)) {
    this.#s3 = s3
    this.#root = options.prefix ? `${options.prefix.replace(/^\/+|\/+$/g, '')}/` : ''
  }

  withSignal(signal: AbortSignal): S3Store {
    return new S3Store(this.#s3.options, this.#s3.withSignal(signal))
  }

  ready(): Promise<void> {
    return this.#s3.ready()
  }

  async createBucket(id: string, rules: BucketRules): Promise<Bucket> {
    checkBucketName(id)
    if (await this.getBucket(id)) throw bucketExists({ bucket: id })
    const now = new Date()
    return this.#writeBucket({ id, ...rules, createdAt: now, updatedAt: now })
  }

  async getBucket(id: string): Promise<Bucket | null> {
    checkBucketName(id)
    const found = await this.#s3.readText(this.#bucketKey(id))
    if (found === null) return null
    const stored = JSON.parse(found) as Bucket
    return { ...stored, createdAt: new Date(stored.createdAt), updatedAt: new Date(stored.updatedAt) }
  }

  async listBuckets(): Promise<Bucket[]> {
    const prefix = `${this.#root}buckets/`
    const ids: string[] = []
    for await (const page of this.#s3.pages(prefix)) {
      ids.push(...page.map(({ key }) => key.slice(prefix.length, -'.json'.length)))
    }
    return (await mapBounded(ids, WIDTH, (id) => this.getBucket(id))).filter((bucket) => bucket !== null)
  }

  async updateBucket(id: string, rules: Partial<BucketRules>): Promise<Bucket> {
    return this.#writeBucket({ ...(await this.#bucket(id)), ...rules, updatedAt: new Date() })
  }

  async deleteBucket(id: string): Promise<void> {
    await this.#bucket(id)
    for await (const page of this.#s3.pages(this.#objectKey(id, ''), { size: 1 })) {
      if (page.length > 0) throw bucketNotEmpty({ bucket: id })
    }
    await this.#s3.delete(this.#bucketKey(id))
  }

  async put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    options: PutOptions = {},
  ): Promise<ObjectInfo> {
    checkKey(key)
    checkHeaders(options)
    // Sequential, because a missing bucket is the more useful error.
    await this.#bucket(bucket)
    if (!options.upsert && (await this.#head(bucket, key))) throw objectExists({ bucket, key })
    const described = {
      contentType: options.contentType ?? DEFAULT_CONTENT_TYPE,
      cacheControl: options.cacheControl ?? DEFAULT_CACHE_CONTROL,
      metadata: options.metadata ?? {},
    }
    const measured = { size: 0 }
    const mark = randomUUID()
    const headers = {
      ContentType: described.contentType,
      CacheControl: described.cacheControl,
      Metadata: { terrane: encodeMetadata(described.metadata), upload: mark },
      ...(!options.upsert && { IfNoneMatch: '*' }),
    }
    const counted = measure(body, options, measured)
    const place = this.#objectKey(bucket, key)
    const upload = this.#s3.upload(place, counted, headers, options.signal ?? this.#s3.signal)
    const etag = await upload.catch(async (error: unknown) => {
      // After a lost answer the service refuses the retry because the object exists: the mark shows whether it is ours.
      const { cause } = error as Error
      const status = cause === undefined ? null : statusOf(cause)
      if (status === null) throw error
      const there = await this.#s3.head(place).catch(() => null)
      if (there?.Metadata?.['upload'] === mark) return there.ETag ?? '""'
      throw status === 412 ? objectExists({ bucket, key }) : error
    })
    const now = new Date()
    return { bucket, key, size: measured.size, ...described, etag, createdAt: now, updatedAt: now }
  }

  async head(bucket: string, key: string): Promise<ObjectInfo | null> {
    checkKey(key)
    const info = await this.#head(bucket, key)
    if (!info) await this.#bucket(bucket)
    return info
  }

  async get(
    bucket: string,
    key: string,
    options: { range?: ByteRange; signal?: AbortSignal } = {},
  ): Promise<ObjectBody> {
    checkKey(key)
    const { range } = options
    const signal = options.signal ?? this.#s3.signal
    const place = this.#objectKey(bucket, key)
    const answer = await this.#s3.get(place, { ...(range && { range }), signal })
    if (!answer?.Body) {
      await this.#bucket(bucket)
      throw objectNotFound({ bucket, key })
    }
    const info = infoOf(bucket, key, answer)
    const { attempts, idleMs } = this.#s3.options.bounds
    const resume = async (read: number) => {
      const left = { ...range, start: (range?.start ?? 0) + read }
      const rest = await this.#s3.get(place, { range: left, etag: info.etag, signal })
      if (!rest?.Body) throw objectNotFound({ bucket, key })
      return rest.Body as Readable
    }
    const body = readBody(answer.Body as Readable, answer.ContentLength ?? 0, resume, { attempts, idleMs, signal })
    return { info, body: explained(body, signal) }
  }

  async *list(bucket: string, prefix: string, options: ListOptions = {}): AsyncGenerator<ListedObject> {
    for await (const entry of this.#listed(bucket, prefix, false, options)) if ('key' in entry) yield entry
  }

  listFolder(bucket: string, prefix: string, options: ListOptions = {}): AsyncGenerator<ListedObject | ListedFolder> {
    return this.#listed(bucket, prefix, true, options)
  }

  async *#listed(
    bucket: string,
    prefix: string,
    flat: boolean,
    { after, pageSize }: ListOptions,
  ): AsyncGenerator<ListedObject | ListedFolder> {
    await this.#bucket(bucket)
    const root = this.#objectKey(bucket, '')
    const options = { after: after && root + after, flat, size: pageSize }
    for await (const page of this.#s3.pages(root + prefix, options)) {
      for (const one of page) {
        const key = one.key.slice(root.length)
        if (one.modified === undefined) yield { folder: key }
        else yield { bucket, key, size: one.size, etag: one.etag, createdAt: one.modified, updatedAt: one.modified }
      }
    }
  }

  async describe(bucket: string, listed: readonly ListedObject[]): Promise<ObjectInfo[]> {
    return (await mapBounded(listed, WIDTH, ({ key }) => this.#head(bucket, key))).filter((info) => info !== null)
  }

  async copy(from: ObjectAddress, to: ObjectAddress, options: { upsert?: boolean } = {}): Promise<ObjectInfo> {
    checkKey(to.key)
    await this.#bucket(to.bucket)
    if (!options.upsert && (await this.#head(to.bucket, to.key))) throw objectExists(to)
    const source = await this.head(from.bucket, from.key)
    if (!source) throw objectNotFound(from)
    const etag = await this.#s3.copy(this.#objectKey(from.bucket, from.key), this.#objectKey(to.bucket, to.key))
    const now = new Date()
    return { ...source, ...to, etag: etag ?? source.etag, createdAt: now, updatedAt: now }
  }

  async move(from: ObjectAddress, to: ObjectAddress, options: { upsert?: boolean } = {}): Promise<ObjectInfo> {
    if (from.bucket === to.bucket && from.key === to.key) {
      const info = await this.head(from.bucket, from.key)
      if (!info) throw objectNotFound(from)
      return info
    }
    const info = await this.copy(from, to, options)
    await this.#s3.delete(this.#objectKey(from.bucket, from.key))
    return info
  }

  async remove(bucket: string, keys: readonly string[]): Promise<ObjectInfo[]> {
    for (const key of keys) checkKey(key)
    const found = (await mapBounded(keys, WIDTH, (key) => this.#head(bucket, key))).filter((info) => info !== null)
    if (found.length < keys.length) await this.#bucket(bucket)
    await mapBounded(found, WIDTH, ({ key }) => this.#s3.delete(this.#objectKey(bucket, key)))
    return found
  }

  async #bucket(id: string): Promise<Bucket> {
    const bucket = await this.getBucket(id)
    if (!bucket) throw bucketNotFound({ bucket: id })
    return bucket
  }

  async #writeBucket(bucket: Bucket): Promise<Bucket> {
    await this.#s3.writeJson(this.#bucketKey(bucket.id), bucket)
    return bucket
  }

  async #head(bucket: string, key: string): Promise<ObjectInfo | null> {
    const answer = await this.#s3.head(this.#objectKey(bucket, key))
    return answer && infoOf(bucket, key, answer)
  }

  #bucketKey(id: string): string {
    return `${this.#root}buckets/${id}.json`
  }

  #objectKey(bucket: string, key: string): string {
    checkBucketName(bucket)
    return `${this.#root}objects/${bucket}/${key}`
  }
}

/** Counts a body's bytes and enforces its limit. */
async function* measure(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, signal }: PutOptions,
  measured: { size: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    signal?.throwIfAborted()
    measured.size += chunk.byteLength
    if (maxBytes !== undefined && measured.size > maxBytes) throw objectTooLarge({ limit: maxBytes })
    yield chunk
  }
}

async function* explained(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
  try {
    yield* body
  } catch (error) {
    throw explain(error, 'GET', signal)
  }
}
