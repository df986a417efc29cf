import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import type { CopyObjectCommandInput, HeadObjectCommandOutput, PutObjectCommandInput } from '@aws-sdk/client-s3'
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
  checkKey,
  type Bucket,
  type BucketRules,
  type ByteRange,
  type ListedObject,
  type ObjectAddress,
  type ObjectBody,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
} from '../object-store.ts'
import { mapBounded } from '../parallel.ts'
import { boundedBody } from './bounds.ts'
import { BoundedS3, type S3Options } from './client.ts'
import { explain, statusOf } from './explain.ts'
import { readBody } from './read-body.ts'

/** Requests for the metadata of objects that are on the way at once. */
const WIDTH = 24
/** A part of an upload, in bytes: S3 takes 10,000 of them. Memory holds one in the making and those on the way. */
const PART_BYTES = 8 << 20
const PARTS_AT_ONCE = 2

/**
 * Objects in one S3 bucket: `{prefix}/objects/{bucket}/{key}`, and the rules of each bucket in `{prefix}/buckets/{id}.json`.
 * Small uploads are one PUT, large ones parts that become an object at the end: either appears whole.
 */
export class S3Store implements ObjectStore {
  readonly #options: S3Options
  readonly #s3: BoundedS3
  readonly #root: string
  readonly #signal: AbortSignal | undefined

  constructor(options: S3Options, s3 = new BoundedS3(options), signal?: AbortSignal) {
    this.#options = options
    this.#s3 = s3
    this.#root = options.prefix ? `${options.prefix.replace(/^\/+|\/+$/g, '')}/` : ''
    this.#signal = signal
  }

  withSignal(signal: AbortSignal): S3Store {
    return new S3Store(this.#options, this.#s3, signal)
  }

  async ready(): Promise<void> {
    await this.#s3.run('HEAD', this.#signal, async ({ client, sdk }, abortSignal) => {
      const command = new sdk.HeadBucketCommand({ Bucket: this.#options.bucket })
      await client.send(command, { abortSignal }).catch((error: unknown) => {
        // Who may read and write objects need not be allowed to ask for the bucket.
        if (statusOf(error) !== 403) throw error
      })
    })
  }

  async createBucket(id: string, rules: BucketRules): Promise<Bucket> {
    checkBucketName(id)
    if (await this.getBucket(id)) throw bucketExists({ bucket: id })
    const now = new Date()
    return this.#writeBucket({ id, ...rules, createdAt: now, updatedAt: now })
  }

  async getBucket(id: string): Promise<Bucket | null> {
    checkBucketName(id)
    const found = await this.#run('GET', async ({ client, sdk }, abortSignal) => {
      const command = new sdk.GetObjectCommand({ Bucket: this.#options.bucket, Key: this.#bucketKey(id) })
      const answer = await orMissing(client.send(command, { abortSignal }))
      return answer && (await textOf(boundedBody(answer.Body as Readable)))
    })
    if (found === null) return null
    const stored = JSON.parse(found) as Bucket
    return { ...stored, createdAt: new Date(stored.createdAt), updatedAt: new Date(stored.updatedAt) }
  }

  async listBuckets(): Promise<Bucket[]> {
    const prefix = `${this.#root}buckets/`
    const ids: string[] = []
    for await (const page of this.#pages(prefix)) {
      ids.push(...page.map(({ key }) => key.slice(prefix.length, -'.json'.length)))
    }
    return (await mapBounded(ids, WIDTH, (id) => this.getBucket(id))).filter((bucket) => bucket !== null)
  }

  async updateBucket(id: string, rules: Partial<BucketRules>): Promise<Bucket> {
    return this.#writeBucket({ ...(await this.#bucket(id)), ...rules, updatedAt: new Date() })
  }

  async deleteBucket(id: string): Promise<void> {
    await this.#bucket(id)
    for await (const page of this.#pages(this.#objectKey(id, ''))) {
      if (page.length > 0) throw bucketNotEmpty({ bucket: id })
    }
    await this.#delete(this.#bucketKey(id))
  }

  async put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    options: PutOptions = {},
  ): Promise<ObjectInfo> {
    checkKey(key)
    // One after the other: a missing bucket is the more telling error.
    await this.#bucket(bucket)
    if (!options.upsert && (await this.#head(bucket, key))) throw objectExists({ bucket, key })
    const described = {
      contentType: options.contentType ?? DEFAULT_CONTENT_TYPE,
      cacheControl: options.cacheControl ?? DEFAULT_CACHE_CONTROL,
      metadata: options.metadata ?? {},
    }
    const measured = { size: 0 }
    const mark = randomUUID()
    const etag = await this.#upload(measure(body, options, measured), options.signal ?? this.#signal, {
      Bucket: this.#options.bucket,
      Key: this.#objectKey(bucket, key),
      ContentType: described.contentType,
      CacheControl: described.cacheControl,
      Metadata: { terrane: encodeMetadata(described.metadata), upload: mark },
      ...(!options.upsert && { IfNoneMatch: '*' }),
    }).catch(async (error: unknown) => {
      // When an answer was lost, the service refuses the second try, whose work is done: the mark tells by whom.
      const { cause } = error as Error
      const status = cause === undefined ? null : statusOf(cause)
      if (status === null) throw error
      const there = await this.#ask(bucket, key).catch(() => null)
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
    const signal = options.signal ?? this.#signal
    const address = { Bucket: this.#options.bucket, Key: this.#objectKey(bucket, key) }
    const open = (first: number | null, last: number | null, etag?: string) =>
      this.#s3.run('GET', signal, async ({ client, sdk }, abortSignal) => {
        const Range = first === null ? undefined : `bytes=${first}-${last ?? ''}`
        const command = new sdk.GetObjectCommand({ ...address, Range, IfMatch: etag })
        return orMissing(client.send(command, { abortSignal }))
      })
    const answer = await open(range?.start ?? null, range?.end ?? null)
    if (!answer?.Body) {
      await this.#bucket(bucket)
      throw objectNotFound({ bucket, key })
    }
    const info = infoOf(bucket, key, answer)
    const { attempts, idleMs } = this.#options.bounds
    const resume = async (read: number) => {
      const rest = await open((range?.start ?? 0) + read, range?.end ?? null, info.etag)
      if (!rest?.Body) throw objectNotFound({ bucket, key })
      return rest.Body as Readable
    }
    const body = readBody(answer.Body as Readable, answer.ContentLength ?? 0, resume, { attempts, idleMs, signal })
    return { info, body: explained(body, signal) }
  }

  async *list(bucket: string, prefix: string): AsyncGenerator<ListedObject> {
    await this.#bucket(bucket)
    const root = this.#objectKey(bucket, '')
    for await (const page of this.#pages(root + prefix)) {
      for (const { key, size, etag, modified } of page) {
        yield { bucket, key: key.slice(root.length), size, etag, createdAt: modified, updatedAt: modified }
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
    const input: CopyObjectCommandInput = {
      Bucket: this.#options.bucket,
      Key: this.#objectKey(to.bucket, to.key),
      CopySource: [this.#options.bucket, ...this.#objectKey(from.bucket, from.key).split('/')]
        .map(encodeURIComponent)
        .join('/'),
    }
    const etag = await this.#run('COPY', async ({ client, sdk }, abortSignal) => {
      const { CopyObjectResult } = await client.send(new sdk.CopyObjectCommand(input), { abortSignal })
      return CopyObjectResult?.ETag
    })
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
    await this.#delete(this.#objectKey(from.bucket, from.key))
    return info
  }

  async remove(bucket: string, keys: readonly string[]): Promise<ObjectInfo[]> {
    for (const key of keys) checkKey(key)
    const found = (await mapBounded(keys, WIDTH, (key) => this.#head(bucket, key))).filter((info) => info !== null)
    if (found.length < keys.length) await this.#bucket(bucket)
    await mapBounded(found, WIDTH, ({ key }) => this.#delete(this.#objectKey(bucket, key)))
    return found
  }

  #run<T>(operation: string, work: Parameters<typeof BoundedS3.prototype.run<T>>[2]): Promise<T> {
    return this.#s3.run(operation, this.#signal, work)
  }

  async #bucket(id: string): Promise<Bucket> {
    const bucket = await this.getBucket(id)
    if (!bucket) throw bucketNotFound({ bucket: id })
    return bucket
  }

  async #writeBucket(bucket: Bucket): Promise<Bucket> {
    await this.#run('PUT', async ({ client, sdk }, abortSignal) => {
      const command = new sdk.PutObjectCommand({
        Bucket: this.#options.bucket,
        Key: this.#bucketKey(bucket.id),
        Body: JSON.stringify(bucket),
        ContentType: 'application/json',
      })
      await client.send(command, { abortSignal })
    })
    return bucket
  }

  async #head(bucket: string, key: string): Promise<ObjectInfo | null> {
    const answer = await this.#ask(bucket, key)
    return answer && infoOf(bucket, key, answer)
  }

  #ask(bucket: string, key: string): Promise<HeadObjectCommandOutput | null> {
    const address = { Bucket: this.#options.bucket, Key: this.#objectKey(bucket, key) }
    return this.#run('HEAD', ({ client, sdk }, abortSignal) =>
      orMissing(client.send(new sdk.HeadObjectCommand(address), { abortSignal })),
    )
  }

  #delete(key: string): Promise<void> {
    return this.#run('DELETE', async ({ client, sdk }, abortSignal) => {
      await client.send(new sdk.DeleteObjectCommand({ Bucket: this.#options.bucket, Key: key }), { abortSignal })
    })
  }

  /** Uploads a body whose length is not known; returns the ETag. Parts of an upload that fails are removed. */
  async #upload(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal | undefined,
    params: Omit<PutObjectCommandInput, 'Body'>,
  ): Promise<string> {
    try {
      signal?.throwIfAborted()
      const [{ client }, { Upload }] = await Promise.all([this.#s3.open(), import('@aws-sdk/lib-storage')])
      const upload = new Upload({
        client,
        params: { ...params, Body: Readable.from(body, { objectMode: false }) },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      })
      const stop = () => void upload.abort().catch(ignore)
      signal?.addEventListener('abort', stop)
      try {
        const { ETag } = await upload.done()
        return ETag ?? '""'
      } finally {
        signal?.removeEventListener('abort', stop)
      }
    } catch (error) {
      throw explain(error, 'PUT', signal)
    }
  }

  /** Every key under a prefix, page by page. */
  async *#pages(prefix: string) {
    let token: string | undefined
    do {
      const ContinuationToken = token
      const answer = await this.#run('LIST', ({ client, sdk }, abortSignal) =>
        client.send(new sdk.ListObjectsV2Command({ Bucket: this.#options.bucket, Prefix: prefix, ContinuationToken }), {
          abortSignal,
        }),
      )
      yield (answer.Contents ?? []).map(({ Key = '', Size = 0, ETag = '""', LastModified = new Date(0) }) => {
        return { key: Key, size: Size, etag: ETag, modified: LastModified }
      })
      token = answer.IsTruncated ? answer.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  #bucketKey(id: string): string {
    return `${this.#root}buckets/${id}.json`
  }

  #objectKey(bucket: string, key: string): string {
    checkBucketName(bucket)
    return `${this.#root}objects/${bucket}/${key}`
  }
}

/** Null instead of the error that something is not there. */
async function orMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket') return null
    throw error
  }
}

/** Counts a body's bytes and holds it to its limit. */
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

function infoOf(
  bucket: string,
  key: string,
  answer: HeadObjectCommandOutput & { readonly ContentRange?: string | undefined },
): ObjectInfo {
  const total = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? answer.ContentLength ?? 0
  const modified = answer.LastModified ?? new Date(0)
  return {
    bucket,
    key,
    size: Number(total),
    contentType: answer.ContentType ?? DEFAULT_CONTENT_TYPE,
    cacheControl: answer.CacheControl ?? DEFAULT_CACHE_CONTROL,
    etag: answer.ETag ?? '""',
    metadata: decodeMetadata(answer.Metadata?.['terrane']),
    createdAt: modified,
    updatedAt: modified,
  }
}

/** Header values are ASCII; metadata is any JSON. */
function encodeMetadata(metadata: Readonly<Record<string, unknown>>): string {
  return Buffer.from(JSON.stringify(metadata)).toString('base64')
}

function decodeMetadata(text: string | undefined): Record<string, unknown> {
  return text === undefined ? {} : (JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as Record<string, unknown>)
}

function ignore(): void {}
