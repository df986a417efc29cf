import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import type { GetObjectCommandOutput, HeadObjectCommandOutput, PutObjectCommandInput } from '@aws-sdk/client-s3'
import { compareKeys } from '../key-order.ts'
import type { ByteRange } from '../object-store.ts'
import { boundedBody } from './bounds.ts'
import { BoundedS3, type S3Options } from './client.ts'
import { explain, statusOf } from './explain.ts'

/** A part of an upload, in bytes: S3 takes 10,000 of them. Memory holds the one being filled and those being sent. */
const PART_BYTES = 8 << 20
const PARTS_AT_ONCE = 2

/** Headers and metadata of an upload. */
export type Headers = Pick<PutObjectCommandInput, 'ContentType' | 'CacheControl' | 'Metadata' | 'IfNoneMatch'>

/** Maximum number of keys in an answer of S3. */
const MAX_KEYS = 1000
const LAST_CHARACTER = '\u{10FFFF}'

interface PageOptions {
  /** Only keys after this one. */
  readonly after?: string | undefined
  /** Lists only up to the next slash. */
  readonly flat?: boolean
  /** Maximum keys per page. */
  readonly size?: number | undefined
}

/** An object of a listing; a folder has only a prefix. */
type Listed =
  | { readonly key: string; readonly size: number; readonly etag: string; readonly modified: Date }
  | { readonly key: string; readonly modified?: undefined }

/** Requests to one bucket of an S3 service, each with timeouts and an abort signal. */
export class S3Bucket {
  readonly options: S3Options
  readonly #s3: BoundedS3
  readonly signal: AbortSignal | undefined

  constructor(options: S3Options, s3 = new BoundedS3(options), signal?: AbortSignal) {
    this.options = options
    this.#s3 = s3
    this.signal = signal
  }

  withSignal(signal: AbortSignal): S3Bucket {
    return new S3Bucket(this.options, this.#s3, signal)
  }

  async ready(): Promise<void> {
    await this.#run('HEAD', async ({ client, sdk }, abortSignal) => {
      const command = new sdk.HeadBucketCommand({ Bucket: this.options.bucket })
      await client.send(command, { abortSignal }).catch((error: unknown) => {
        // A key may read and write objects without the right to query the bucket.
        if (statusOf(error) !== 403) throw error
      })
    })
  }

  head(key: string): Promise<HeadObjectCommandOutput | null> {
    return this.#run('HEAD', ({ client, sdk }, abortSignal) =>
      orMissing(client.send(new sdk.HeadObjectCommand(this.#at(key)), { abortSignal })),
    )
  }

  /** Opens an object, a range of it, or the same content as before. */
  get(
    key: string,
    {
      range,
      etag,
      signal = this.signal,
    }: { range?: Partial<ByteRange>; etag?: string; signal?: AbortSignal | undefined },
  ): Promise<GetObjectCommandOutput | null> {
    const Range = range && `bytes=${range.start ?? 0}-${range.end ?? ''}`
    return this.#s3.run('GET', signal, ({ client, sdk }, abortSignal) => {
      const command = new sdk.GetObjectCommand({ ...this.#at(key), Range, IfMatch: etag })
      return orMissing(client.send(command, { abortSignal }))
    })
  }

  /** Reads a small object. */
  readText(key: string): Promise<string | null> {
    return this.#run('GET', async ({ client, sdk }, abortSignal) => {
      const answer = await orMissing(client.send(new sdk.GetObjectCommand(this.#at(key)), { abortSignal }))
      return answer && (await textOf(boundedBody(answer.Body as Readable)))
    })
  }

  async writeJson(key: string, value: unknown): Promise<void> {
    const content = { Body: JSON.stringify(value), ContentType: 'application/json' }
    await this.#run('PUT', ({ client, sdk }, abortSignal) =>
      client.send(new sdk.PutObjectCommand({ ...this.#at(key), ...content }), { abortSignal }),
    )
  }

  /** Copies within the bucket; returns the ETag of the copy. */
  copy(from: string, to: string): Promise<string | undefined> {
    const CopySource = [this.options.bucket, ...from.split('/')].map(encodeURIComponent).join('/')
    return this.#run('COPY', async ({ client, sdk }, abortSignal) => {
      const command = new sdk.CopyObjectCommand({ ...this.#at(to), CopySource })
      return (await client.send(command, { abortSignal })).CopyObjectResult?.ETag
    })
  }

  async delete(key: string): Promise<void> {
    await this.#run('DELETE', ({ client, sdk }, abortSignal) =>
      client.send(new sdk.DeleteObjectCommand(this.#at(key)), { abortSignal }),
    )
  }

  /** Uploads a body whose length is not known; returns the ETag. Parts of an upload that fails are removed. */
  async upload(
    key: string,
    body: AsyncIterable<Uint8Array>,
    headers: Headers,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    try {
      signal?.throwIfAborted()
      const [{ client }, { Upload }] = await Promise.all([this.#s3.open(), import('@aws-sdk/lib-storage')])
      const upload = new Upload({
        client,
        params: { ...this.#at(key), ...headers, Body: Readable.from(body, { objectMode: false }) },
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

  /** Every key under a prefix by code points, in pages; with `flat` a folder replaces the keys below it. */
  async *pages(Prefix: string, { after, flat = false, size }: PageOptions = {}) {
    let ContinuationToken: string | undefined
    do {
      const input = {
        Bucket: this.options.bucket,
        Prefix,
        ContinuationToken,
        MaxKeys: Math.min(size ?? MAX_KEYS, MAX_KEYS),
        // Services differ in whether a folder comes after its own name, so all keys in the folder are skipped.
        StartAfter: after?.endsWith('/') ? after + LAST_CHARACTER : after,
        ...(flat && { Delimiter: '/' }),
      }
      const answer = await this.#run('LIST', ({ client, sdk }, abortSignal) =>
        client.send(new sdk.ListObjectsV2Command(input), { abortSignal }),
      )
      const objects = (answer.Contents ?? []).map(
        ({ Key = '', Size = 0, ETag = '""', LastModified = new Date(0) }): Listed => {
          return { key: Key, size: Size, etag: ETag, modified: LastModified }
        },
      )
      const folders = (answer.CommonPrefixes ?? []).map((one): Listed => ({ key: one.Prefix ?? '' }))
      yield [...objects, ...folders].toSorted((a, b) => compareKeys(a.key, b.key))
      ContinuationToken = answer.IsTruncated ? answer.NextContinuationToken : undefined
    } while (ContinuationToken !== undefined)
  }

  #at(Key: string) {
    return { Bucket: this.options.bucket, Key }
  }

  #run<T>(operation: string, work: Parameters<typeof BoundedS3.prototype.run<T>>[2]): Promise<T> {
    return this.#s3.run(operation, this.signal, work)
  }
}

/** Returns null instead of throwing a not-found error. */
async function orMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket') return null
    throw error
  }
}

function ignore(): void {}
