import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  bucketExists,
  bucketNotEmpty,
  bucketNotFound,
  objectExists,
  objectNotFound,
  objectTooLarge,
  storageUnavailable,
} from './errors.ts'
import { fullOr, toInfo, writeJson, type Entry } from './file-entry.ts'
import { fileName, readJson, readdirOrEmpty, walk } from './file-walk.ts'
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
} from './object-store.ts'
import { mapBounded } from './parallel.ts'

/**
 * Objects in a folder: `buckets/{id}.json` (rules), `entries/{bucket}/…` (one JSON file per object, in folders as the
 * key has parts) and `bytes/{bucket}/{first two characters of the version}/{version}` (content, never changed once
 * written). New content becomes visible when its entry is renamed or linked; several processes may share the folder.
 */
export class FileStore implements ObjectStore {
  readonly #root: string
  readonly #signal: AbortSignal | undefined

  constructor(root: string, signal?: AbortSignal) {
    this.#root = root
    this.#signal = signal
  }

  withSignal(signal: AbortSignal): FileStore {
    return new FileStore(this.#root, signal)
  }

  async ready(): Promise<void> {
    await mkdir(this.#root, { recursive: true }).catch((cause: unknown) => {
      throw storageUnavailable({ operation: 'mkdir' }, { cause })
    })
  }

  async createBucket(id: string, rules: BucketRules): Promise<Bucket> {
    checkBucketName(id)
    const now = new Date()
    const bucket: Bucket = { id, ...rules, createdAt: now, updatedAt: now }
    if (!(await writeJson(this.#root, this.#bucketFile(id), bucket, false))) throw bucketExists({ bucket: id })
    return bucket
  }

  async getBucket(id: string): Promise<Bucket | null> {
    checkBucketName(id)
    const stored = (await readJson(this.#bucketFile(id))) as Bucket | null
    return stored && { ...stored, createdAt: new Date(stored.createdAt), updatedAt: new Date(stored.updatedAt) }
  }

  async listBuckets(): Promise<Bucket[]> {
    const names = await readdirOrEmpty(join(this.#root, 'buckets'))
    const ids = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))
    const buckets = await Promise.all(ids.toSorted().map((id) => this.getBucket(id)))
    return buckets.filter((bucket) => bucket !== null)
  }

  async updateBucket(id: string, rules: Partial<BucketRules>): Promise<Bucket> {
    const bucket = { ...(await this.#bucket(id)), ...rules, updatedAt: new Date() }
    await writeJson(this.#root, this.#bucketFile(id), bucket, true)
    return bucket
  }

  async deleteBucket(id: string): Promise<void> {
    await this.#bucket(id)
    for await (const _ of this.list(id, '')) throw bucketNotEmpty({ bucket: id })
    await rm(this.#bucketFile(id), { force: true })
    await rm(join(this.#root, 'entries', id), { recursive: true, force: true })
    await rm(join(this.#root, 'bytes', id), { recursive: true, force: true })
  }

  async put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    options: PutOptions = {},
  ): Promise<ObjectInfo> {
    checkKey(key)
    checkHeaders(options)
    await this.#bucket(bucket)
    if (!options.upsert && (await this.#entry(bucket, key))) throw objectExists({ bucket, key })
    const version = randomUUID()
    const path = this.#bytesFile(bucket, version)
    const signal = options.signal ?? this.#signal
    await mkdir(dirname(path), { recursive: true })
    const hash = createHash('md5')
    let size = 0
    try {
      await using file = await open(path, 'wx')
      for await (const chunk of body) {
        signal?.throwIfAborted()
        size += chunk.byteLength
        if (options.maxBytes !== undefined && size > options.maxBytes) throw objectTooLarge({ limit: options.maxBytes })
        hash.update(chunk)
        let at = 0
        while (at < chunk.byteLength) at += (await file.write(chunk, at)).bytesWritten
      }
      await file.sync()
      signal?.throwIfAborted()
    } catch (error) {
      await rm(path, { force: true })
      throw fullOr(error)
    }
    const now = new Date().toISOString()
    return this.#install(bucket, options.upsert ?? false, {
      key,
      version,
      size,
      contentType: options.contentType ?? DEFAULT_CONTENT_TYPE,
      cacheControl: options.cacheControl ?? DEFAULT_CACHE_CONTROL,
      etag: `"${hash.digest('hex')}"`,
      metadata: options.metadata ?? {},
      createdAt: now,
      updatedAt: now,
    })
  }

  async head(bucket: string, key: string): Promise<ObjectInfo | null> {
    checkKey(key)
    await this.#bucket(bucket)
    const entry = await this.#entry(bucket, key)
    return entry && toInfo(bucket, entry)
  }

  async get(
    bucket: string,
    key: string,
    options: { range?: ByteRange; signal?: AbortSignal } = {},
  ): Promise<ObjectBody> {
    checkKey(key)
    await this.#bucket(bucket)
    const signal = options.signal ?? this.#signal
    for (let attempt = 0; ; attempt++) {
      const entry = await this.#entry(bucket, key)
      if (!entry) throw objectNotFound({ bucket, key })
      try {
        // Opened before it is handed out: content that is replaced from now on is still read to its end.
        const file = await open(this.#bytesFile(bucket, entry.version), 'r')
        const stream = createReadStream('', {
          fd: file,
          ...options.range,
          ...(signal && { signal }),
        })
        return { info: toInfo(bucket, entry), body: stream as AsyncIterable<Uint8Array> }
      } catch (error) {
        // Replaced between the two reads: the entry names the new content by now.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt > 2) throw error
      }
    }
  }

  async *list(bucket: string, prefix: string, options: ListOptions = {}): AsyncGenerator<ObjectInfo> {
    for await (const entry of this.#walk(bucket, prefix, false, options)) if (isWhole(entry)) yield entry
  }

  listFolder(bucket: string, prefix: string, options: ListOptions = {}): AsyncGenerator<ListedObject | ListedFolder> {
    return this.#walk(bucket, prefix, true, options)
  }

  async *#walk(
    bucket: string,
    prefix: string,
    flat: boolean,
    { after = '' }: ListOptions,
  ): AsyncGenerator<ObjectInfo | ListedFolder> {
    await this.#bucket(bucket)
    for await (const { key, file } of walk(join(this.#root, 'entries', bucket), { prefix, after, flat })) {
      this.#signal?.throwIfAborted()
      if (file === null) yield { folder: key }
      else {
        const entry = (await readJson(file)) as Entry | null
        if (entry) yield toInfo(bucket, entry)
      }
    }
  }

  async describe(bucket: string, listed: readonly ListedObject[]): Promise<ObjectInfo[]> {
    // A listing reads the whole entry of each object.
    return listed.every(isWhole) ? [...listed] : this.#heads(bucket, listed)
  }

  async #heads(bucket: string, listed: readonly ListedObject[]): Promise<ObjectInfo[]> {
    return (await mapBounded(listed, 24, ({ key }) => this.head(bucket, key))).filter((info) => info !== null)
  }

  async copy(from: ObjectAddress, to: ObjectAddress, options: { upsert?: boolean } = {}): Promise<ObjectInfo> {
    const { info, body } = await this.get(from.bucket, from.key)
    return this.put(to.bucket, to.key, body, { ...info, upsert: options.upsert ?? false })
  }

  async move(from: ObjectAddress, to: ObjectAddress, options: { upsert?: boolean } = {}): Promise<ObjectInfo> {
    checkKey(from.key)
    checkKey(to.key)
    await this.#bucket(from.bucket)
    await this.#bucket(to.bucket)
    const entry = await this.#entry(from.bucket, from.key)
    if (!entry) throw objectNotFound(from)
    if (from.bucket === to.bucket && from.key === to.key) return toInfo(to.bucket, entry)
    const version = randomUUID()
    const target = this.#bytesFile(to.bucket, version)
    await mkdir(dirname(target), { recursive: true })
    await link(this.#bytesFile(from.bucket, entry.version), target)
    const info = await this.#install(to.bucket, options.upsert ?? false, { ...entry, key: to.key, version })
    await this.remove(from.bucket, [from.key])
    return info
  }

  async remove(bucket: string, keys: readonly string[]): Promise<ObjectInfo[]> {
    await this.#bucket(bucket)
    const removed: ObjectInfo[] = []
    for (const key of keys) {
      checkKey(key)
      const entry = await this.#entry(bucket, key)
      if (!entry) continue
      await rm(this.#entryFile(bucket, key), { force: true })
      await rm(this.#bytesFile(bucket, entry.version), { force: true })
      removed.push(toInfo(bucket, entry))
    }
    return removed
  }

  /** Makes written bytes the content of their key, and deletes the bytes they replace. */
  async #install(bucket: string, upsert: boolean, entry: Entry): Promise<ObjectInfo> {
    const before = await this.#entry(bucket, entry.key)
    const merged = before ? { ...entry, createdAt: before.createdAt } : entry
    if (!(await writeJson(this.#root, this.#entryFile(bucket, entry.key), merged, upsert))) {
      await rm(this.#bytesFile(bucket, entry.version), { force: true })
      throw objectExists({ bucket, key: entry.key })
    }
    if (before) await rm(this.#bytesFile(bucket, before.version), { force: true })
    return toInfo(bucket, merged)
  }

  async #bucket(id: string): Promise<Bucket> {
    this.#signal?.throwIfAborted()
    const bucket = await this.getBucket(id)
    if (!bucket) throw bucketNotFound({ bucket: id })
    return bucket
  }

  async #entry(bucket: string, key: string): Promise<Entry | null> {
    return (await readJson(this.#entryFile(bucket, key))) as Entry | null
  }

  #bucketFile(id: string): string {
    return join(this.#root, 'buckets', `${id}.json`)
  }

  #entryFile(bucket: string, key: string): string {
    return `${join(this.#root, 'entries', bucket, ...key.split('/').map(fileName))}.json`
  }

  #bytesFile(bucket: string, version: string): string {
    return join(this.#root, 'bytes', bucket, version.slice(0, 2), version)
  }
}

function isWhole(listed: ListedObject | ListedFolder): listed is ObjectInfo {
  return 'contentType' in listed
}
