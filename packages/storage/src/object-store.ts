import { invalidBucketName, invalidHeader, invalidKey } from './errors.ts'

/** A bucket and its rules. */
export interface Bucket {
  readonly id: string
  /** Anyone may read its objects. */
  readonly public: boolean
  /** Largest object in bytes; null for no limit of its own. */
  readonly fileSizeLimit: number | null
  /** Content types that may be uploaded (`image/*` allowed); null for any. */
  readonly allowedMimeTypes: readonly string[] | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type BucketRules = Pick<Bucket, 'public' | 'fileSizeLimit' | 'allowedMimeTypes'>

/** Metadata of an object, known without reading it. */
export interface ObjectInfo {
  readonly bucket: string
  readonly key: string
  readonly size: number
  readonly contentType: string
  readonly cacheControl: string
  /** Quoted, as in the HTTP header; changes with the content. */
  readonly etag: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Metadata of an object in a listing; {@link ObjectStore.describe} has the rest. */
export type ListedObject = Pick<ObjectInfo, 'bucket' | 'key' | 'size' | 'etag' | 'createdAt' | 'updatedAt'>

/** Keys with a common prefix up to a slash. */
export interface ListedFolder {
  /** The beginning of its keys, with the slash. */
  readonly folder: string
}

export interface ListOptions {
  /** Only keys and folders after this one. */
  readonly after?: string
  /** Number of entries that the caller will read; at most this many are fetched at once. */
  readonly pageSize?: number
}

export interface PutOptions {
  readonly contentType?: string
  readonly cacheControl?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Replaces an object of the same key; without it an existing key is a conflict. */
  readonly upsert?: boolean
  readonly maxBytes?: number
  /** Size of the body in bytes, if known: a server can refuse it before it reads. */
  readonly size?: number
  readonly signal?: AbortSignal
}

/** Bytes `start` to `end`, both included, as in HTTP. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ObjectBody {
  readonly info: ObjectInfo
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Buckets and objects. Writes are atomic: readers see the old content until the new one is complete. Missing buckets
 * and objects are errors (BUCKET_NOT_FOUND, OBJECT_NOT_FOUND) for operations on them; methods that look them up return
 * null.
 */
export interface ObjectStore {
  /** Resolves when the storage answers. @throws STORAGE_UNAVAILABLE */
  ready(): Promise<void>
  /** The same store bound to a signal: when it aborts, operations in progress end with its reason. */
  withSignal(signal: AbortSignal): ObjectStore
  createBucket(id: string, rules: BucketRules): Promise<Bucket>
  getBucket(id: string): Promise<Bucket | null>
  listBuckets(): Promise<Bucket[]>
  updateBucket(id: string, rules: Partial<BucketRules>): Promise<Bucket>
  /** Removes an empty bucket. */
  deleteBucket(id: string): Promise<void>

  put(bucket: string, key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<ObjectInfo>
  head(bucket: string, key: string): Promise<ObjectInfo | null>
  /** The range must lie within the object. */
  get(bucket: string, key: string, options?: { range?: ByteRange; signal?: AbortSignal }): Promise<ObjectBody>
  /** Every object whose key starts with the prefix, by key in code point order. */
  list(bucket: string, prefix: string, options?: ListOptions): AsyncIterable<ListedObject>
  /** The same up to the next slash after the prefix: deeper keys are listed as one folder. */
  listFolder(bucket: string, prefix: string, options?: ListOptions): AsyncIterable<ListedObject | ListedFolder>
  /** Metadata of listed objects, in their order; objects deleted since are left out. */
  describe(bucket: string, listed: readonly ListedObject[]): Promise<ObjectInfo[]>
  copy(from: ObjectAddress, to: ObjectAddress, options?: { upsert?: boolean }): Promise<ObjectInfo>
  move(from: ObjectAddress, to: ObjectAddress, options?: { upsert?: boolean }): Promise<ObjectInfo>
  /** Removes existing keys and returns their objects. */
  remove(bucket: string, keys: readonly string[]): Promise<ObjectInfo[]>
}

export interface ObjectAddress {
  readonly bucket: string
  readonly key: string
}

/** Operations with which a job publishes files; every backend has them, also a remote storage API. */
export type ArtifactStore = Pick<
  ObjectStore,
  'getBucket' | 'createBucket' | 'put' | 'head' | 'get' | 'list' | 'move' | 'remove'
> & { withSignal(signal: AbortSignal): ArtifactStore }

export const DEFAULT_CONTENT_TYPE = 'application/octet-stream'
export const DEFAULT_CACHE_CONTROL = 'no-cache'

/** @throws INVALID_BUCKET_NAME */
export function checkBucketName(id: string): void {
  if (!/^[a-z0-9][a-z0-9_.-]{0,99}$/.test(id) || id.includes('..')) throw invalidBucketName()
}

/** @throws INVALID_KEY */
export function checkKey(key: string): void {
  if (key === '') throw invalidKey({ reason: 'it is empty' })
  if (Buffer.byteLength(key) > 1024) throw invalidKey({ reason: 'it is longer than 1024 bytes' })
  // oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(key)) throw invalidKey({ reason: 'it has control characters' })
  if (!key.isWellFormed()) throw invalidKey({ reason: 'it has half of a character (a lone surrogate)' })
  for (const segment of key.split('/')) {
    if (segment === '') throw invalidKey({ reason: 'it has an empty part' })
    if (segment === '.' || segment === '..') throw invalidKey({ reason: 'it has a part that is . or ..' })
  }
}

const MAX_HEADER = 1024

/** Whether a text can be sent as the value of an HTTP header. */
export function isHeaderValue(text: string): boolean {
  return text.length <= MAX_HEADER && /^[\x20-\x7e]*$/.test(text)
}

/** Refuses values that a later download could not send as headers. @throws INVALID_HEADER_VALUE */
export function checkHeaders({ contentType = '', cacheControl = '' }: PutOptions): void {
  if (!isHeaderValue(contentType)) throw invalidHeader({ name: 'contentType', limit: MAX_HEADER })
  if (!isHeaderValue(cacheControl)) throw invalidHeader({ name: 'cacheControl', limit: MAX_HEADER })
}

/** Maximum wait for the removal of an abandoned upload, because a cancelled job waits for it. */
const DISCARD_MS = 1500

export interface UploadOptions extends PutOptions {
  /** Name within the temporary key; random when absent. */
  readonly temporaryName?: string
  /** Names of earlier uploads that may have been abandoned; their objects are removed. */
  readonly abandonedNames?: readonly string[]
}

/** An uploaded file that does not have its final key yet. */
export interface Upload {
  /** Moves it to its final key. */
  place(): Promise<ObjectInfo>
  /** Removes it, unless it was placed. */
  discard(): Promise<void>
}

/** Uploads under a temporary key until it is placed, so that the final key never has half a file. */
export async function upload(
  store: ArtifactStore,
  address: ObjectAddress,
  body: AsyncIterable<Uint8Array>,
  { temporaryName = crypto.randomUUID(), abandonedNames = [], ...options }: UploadOptions = {},
): Promise<Upload> {
  const { bucket } = address
  const temporary = { bucket, key: temporaryKey(temporaryName) }
  // Also when it is the signal of the store that ends the upload.
  const discard = () =>
    store.withSignal(AbortSignal.timeout(DISCARD_MS)).remove(bucket, [temporary.key]).then(ignore, ignore)
  try {
    if (abandonedNames.length > 0) await store.remove(bucket, abandonedNames.map(temporaryKey))
    await store.put(bucket, temporary.key, body, { ...options, upsert: true })
    options.signal?.throwIfAborted()
  } catch (error) {
    await discard()
    throw error
  }
  return { place: () => store.move(temporary, address, { upsert: options.upsert ?? false }), discard }
}

function temporaryKey(name: string): string {
  return `.uploading/${name}`
}

function ignore(): void {}
