import { createHash, randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import {
  bucketExists,
  bucketNotEmpty,
  bucketNotFound,
  objectExists,
  objectNotFound,
  objectTooLarge,
  storageFailed,
} from './errors.ts'
import {
  DEFAULT_CACHE_CONTROL,
  DEFAULT_CONTENT_TYPE,
  checkBucketName,
  checkKey,
  type Bucket,
  type BucketRules,
  type ByteRange,
  type ObjectAddress,
  type ObjectBody,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
} from './object-store.ts'

export interface S3Options {
  /** The S3 bucket that holds everything. */
  readonly bucket: string
  /** Put before every key; ends without a slash. */
  readonly prefix?: string
  /** Base URL of the service, e.g. of MinIO; AWS when absent. */
  readonly endpoint?: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/**
 * Objects in one S3 bucket: `{prefix}/objects/{bucket}/{key}`, and the rules of each bucket in `{prefix}/buckets/{id}.json`.
 * An upload is first written to a temporary file, because S3 wants its length beforehand; the PUT itself is atomic.
 */
export class S3Store implements ObjectStore {
  private readonly client: AwsClient
  private readonly base: string
  private readonly root: string

  constructor(options: S3Options) {
    this.client = new AwsClient({
      accessKeyId: options.accessKeyId,
      secretAccessKey: options.secretAccessKey,
      ...(options.sessionToken && { sessionToken: options.sessionToken }),
      region: options.region,
      service: 's3',
      retries: 3,
    })
    const endpoint = options.endpoint?.replace(/\/+$/, '') ?? `https://s3.${options.region}.amazonaws.com`
    this.base = `${endpoint}/${encodeURIComponent(options.bucket)}`
    this.root = options.prefix ? `${options.prefix.replace(/^\/+|\/+$/g, '')}/` : ''
  }

  async createBucket(id: string, rules: BucketRules): Promise<Bucket> {
    checkBucketName(id)
    if (await this.getBucket(id)) throw bucketExists({ bucket: id })
    const now = new Date()
    return this.writeBucket({ id, ...rules, createdAt: now, updatedAt: now })
  }

  async getBucket(id: string): Promise<Bucket | null> {
    checkBucketName(id)
    const response = await this.send('GET', this.url(this.bucketKey(id)), {}, [404])
    if (response.status === 404) return null
    const stored = (await response.json()) as Bucket
    return { ...stored, createdAt: new Date(stored.createdAt), updatedAt: new Date(stored.updatedAt) }
  }

  async listBuckets(): Promise<Bucket[]> {
    const prefix = `${this.root}buckets/`
    const buckets: Bucket[] = []
    for await (const { key } of this.pages(prefix)) {
      const bucket = await this.getBucket(key.slice(prefix.length, -'.json'.length))
      if (bucket) buckets.push(bucket)
    }
    return buckets
  }

  async updateBucket(id: string, rules: Partial<BucketRules>): Promise<Bucket> {
    return this.writeBucket({ ...(await this.bucket(id)), ...rules, updatedAt: new Date() })
  }

  async deleteBucket(id: string): Promise<void> {
    await this.bucket(id)
    for await (const _ of this.pages(this.objectKey(id, ''))) throw bucketNotEmpty({ bucket: id })
    await this.send('DELETE', this.url(this.bucketKey(id)))
  }

  async put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    options: PutOptions = {},
  ): Promise<ObjectInfo> {
    checkKey(key)
    await this.bucket(bucket)
    if (!options.upsert && (await this.head(bucket, key))) throw objectExists({ bucket, key })
    const path = join(tmpdir(), `terrane-upload-${randomUUID()}`)
    try {
      const { size, md5 } = await spool(path, body, options)
      await this.send('PUT', this.url(this.objectKey(bucket, key)), {
        headers: {
          'content-type': options.contentType ?? DEFAULT_CONTENT_TYPE,
          'cache-control': options.cacheControl ?? DEFAULT_CACHE_CONTROL,
          'content-length': String(size),
          'content-md5': md5.toString('base64'),
          'x-amz-meta-terrane': encodeMetadata(options.metadata ?? {}),
          'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
          ...(options.upsert ? {} : { 'if-none-match': '*' }),
        },
        body: await openAsBlob(path),
        ...(options.signal && { signal: options.signal }),
      })
    } finally {
      await rm(path, { force: true })
    }
    const info = await this.head(bucket, key)
    if (!info) throw objectNotFound({ bucket, key })
    return info
  }

  async head(bucket: string, key: string): Promise<ObjectInfo | null> {
    checkKey(key)
    const response = await this.send('HEAD', this.url(this.objectKey(bucket, key)), {}, [404])
    if (response.status === 404) {
      await this.bucket(bucket)
      return null
    }
    return infoOf(bucket, key, response.headers)
  }

  async get(
    bucket: string,
    key: string,
    options: { range?: ByteRange; signal?: AbortSignal } = {},
  ): Promise<ObjectBody> {
    checkKey(key)
    const { range, signal } = options
    const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {}
    const response = await this.send(
      'GET',
      this.url(this.objectKey(bucket, key)),
      { headers, ...(signal && { signal }) },
      [404],
    )
    if (response.status === 404 || !response.body) {
      await this.bucket(bucket)
      throw objectNotFound({ bucket, key })
    }
    return { info: infoOf(bucket, key, response.headers), body: response.body }
  }

  async *list(bucket: string, prefix: string): AsyncGenerator<ObjectInfo> {
    await this.bucket(bucket)
    const root = this.objectKey(bucket, '')
    for await (const found of this.pages(root + prefix)) {
      const info = await this.head(bucket, found.key.slice(root.length))
      if (info) yield info
    }
  }

  async copy(from: ObjectAddress, to: ObjectAddress, options: { upsert?: boolean } = {}): Promise<ObjectInfo> {
    checkKey(to.key)
    await this.bucket(to.bucket)
    if (!options.upsert && (await this.head(to.bucket, to.key))) throw objectExists(to)
    if (!(await this.head(from.bucket, from.key))) throw objectNotFound(from)
    const source = new URL(this.url(this.objectKey(from.bucket, from.key))).pathname
    await this.send('PUT', this.url(this.objectKey(to.bucket, to.key)), { headers: { 'x-amz-copy-source': source } })
    const info = await this.head(to.bucket, to.key)
    if (!info) throw objectNotFound(to)
    return info
  }

  async move(from: ObjectAddress, to: ObjectAddress, options: { upsert?: boolean } = {}): Promise<ObjectInfo> {
    const info = await this.copy(from, to, options)
    if (from.bucket !== to.bucket || from.key !== to.key) await this.remove(from.bucket, [from.key])
    return info
  }

  async remove(bucket: string, keys: readonly string[]): Promise<ObjectInfo[]> {
    const removed: ObjectInfo[] = []
    for (const key of keys) {
      const info = await this.head(bucket, key)
      if (!info) continue
      await this.send('DELETE', this.url(this.objectKey(bucket, key)))
      removed.push(info)
    }
    return removed
  }

  private async bucket(id: string): Promise<Bucket> {
    const bucket = await this.getBucket(id)
    if (!bucket) throw bucketNotFound({ bucket: id })
    return bucket
  }

  private async writeBucket(bucket: Bucket): Promise<Bucket> {
    const body = JSON.stringify(bucket)
    await this.send('PUT', this.url(this.bucketKey(bucket.id)), {
      headers: { 'content-type': 'application/json' },
      body,
    })
    return bucket
  }

  /** Every key under a prefix with ListObjectsV2, page by page. Keys come URL-encoded, so the XML needs no parser. */
  private async *pages(prefix: string): AsyncGenerator<{ key: string }> {
    let token: string | undefined
    do {
      const url = new URL(this.base)
      url.searchParams.set('list-type', '2')
      url.searchParams.set('encoding-type', 'url')
      url.searchParams.set('prefix', prefix)
      if (token !== undefined) url.searchParams.set('continuation-token', token)
      const xml = await (await this.send('GET', url.href)).text()
      for (const [, encoded = ''] of xml.matchAll(/<Contents>[^]*?<Key>([^<]*)<\/Key>[^]*?<\/Contents>/g)) {
        yield { key: decodeURIComponent(encoded.replaceAll('+', ' ')) }
      }
      token = /<NextContinuationToken>([^<]*)</.exec(xml)?.[1]?.replaceAll('&amp;', '&')
    } while (token !== undefined)
  }

  private async send(
    method: string,
    url: string,
    init: RequestInit = {},
    accept: readonly number[] = [],
  ): Promise<Response> {
    const response = await this.client.fetch(url, { ...init, method })
    if (response.ok || accept.includes(response.status)) return response
    await response.body?.cancel()
    throw storageFailed({ operation: method, status: response.status })
  }

  private url(key: string): string {
    return `${this.base}/${key.split('/').map(encodeURIComponent).join('/')}`
  }

  private bucketKey(id: string): string {
    return `${this.root}buckets/${id}.json`
  }

  private objectKey(bucket: string, key: string): string {
    checkBucketName(bucket)
    return `${this.root}objects/${bucket}/${key}`
  }
}

/** Writes a body to a temporary file and measures it. */
async function spool(
  path: string,
  body: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<{ size: number; md5: Buffer }> {
  const hash = createHash('md5')
  let size = 0
  await using file = await open(path, 'wx', 0o600)
  for await (const chunk of body) {
    options.signal?.throwIfAborted()
    size += chunk.byteLength
    if (options.maxBytes !== undefined && size > options.maxBytes) throw objectTooLarge({ limit: options.maxBytes })
    hash.update(chunk)
    let at = 0
    while (at < chunk.byteLength) at += (await file.write(chunk, at)).bytesWritten
  }
  return { size, md5: hash.digest() }
}

function infoOf(bucket: string, key: string, headers: Headers): ObjectInfo {
  const total = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] ?? headers.get('content-length')
  const modified = new Date(headers.get('last-modified') ?? 0)
  return {
    bucket,
    key,
    size: Number(total),
    contentType: headers.get('content-type') ?? DEFAULT_CONTENT_TYPE,
    cacheControl: headers.get('cache-control') ?? DEFAULT_CACHE_CONTROL,
    etag: headers.get('etag') ?? '""',
    metadata: decodeMetadata(headers.get('x-amz-meta-terrane')),
    createdAt: modified,
    updatedAt: modified,
  }
}

/** Header values are ASCII; metadata is any JSON. */
function encodeMetadata(metadata: Readonly<Record<string, unknown>>): string {
  return Buffer.from(JSON.stringify(metadata)).toString('base64')
}

function decodeMetadata(text: string | null): Record<string, unknown> {
  return text === null ? {} : (JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as Record<string, unknown>)
}
