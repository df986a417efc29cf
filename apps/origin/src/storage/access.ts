import { forbidden, unauthorized, type CheckRevoked, type Principal } from '@terrane/auth'
import { TerraneError } from '@terrane/core'
import { bucketNotFound, objectNotFound, type Bucket, type ObjectInfo, type ObjectStore } from '@terrane/storage'
import { rateSubject, type RateLimits } from '@terrane/service'
import type { FastifyRequest } from 'fastify'

export interface StorageDeps {
  readonly store: ObjectStore
  /** The caller, or null when no key was sent. */
  readonly identify: (request: FastifyRequest) => Promise<Principal | null>
  /** Signs and verifies URLs. */
  readonly jwtSecret: string
  /** Checks the tokens of signed URLs for revocation. */
  readonly checkRevoked?: CheckRevoked
  readonly maxObjectBytes: number
  readonly limits: RateLimits
  /** Storage of unfinished uploads, which callers cannot reach as a bucket. */
  readonly uploads: ObjectStore
}

/** Routes that only read but have a request body; they need only the right to read. */
const READS: ReadonlySet<string> = new Set(['/storage/v1/object/list/:bucket', '/storage/v1/object/list-v2/:bucket'])
/** Uploads that are authorised by their URL. */
const SIGNED_UPLOAD = '/storage/v1/object/upload/sign/:bucket/*'
/** Resumable uploads check the caller themselves, before they accept a part. */
const RESUMABLE = '/storage/v1/upload/resumable'
/** Routes without authentication. */
const OPEN: ReadonlySet<string> = new Set([
  '/storage/v1/object/public/:bucket/*',
  '/storage/v1/object/info/public/:bucket/*',
  '/storage/v1/object/sign/:bucket/*',
])

/**
 * Access check of every route, before a byte of the body is read. Changes need the service role, unless a signed URL
 * grants them. Reads need any key, unless they are public.
 *
 * @throws UNAUTHORIZED, FORBIDDEN, RATE_LIMITED
 */
export async function passDoor(deps: StorageDeps, request: FastifyRequest): Promise<void> {
  const { method } = request
  const { url: route = '' } = request.routeOptions
  const reads = method === 'GET' || method === 'HEAD'
  const principal = await deps.identify(request)
  const isSecret = principal?.role === 'service_role'
  deps.limits.count(rateSubject(request, isSecret))
  if (route.startsWith(RESUMABLE)) return
  if (reads ? OPEN.has(route) : method === 'PUT' && route === SIGNED_UPLOAD) return
  if (!principal) throw unauthorized({ reason: 'missing' })
  if (!reads && !isSecret && !(method === 'POST' && READS.has(route))) throw forbidden({ need: 'the service role key' })
}

/** Requires the service role, which alone may change buckets and objects. @throws UNAUTHORIZED, FORBIDDEN */
export async function requireService(deps: StorageDeps, request: FastifyRequest): Promise<void> {
  const principal = await deps.identify(request)
  if (!principal) throw unauthorized({ reason: 'missing' })
  if (principal.role !== 'service_role') throw forbidden({ need: 'the service role key' })
}

/** A bucket that the caller may read; other private ones look missing. @throws UNAUTHORIZED, BUCKET_NOT_FOUND */
export async function readableBucket(deps: StorageDeps, request: FastifyRequest, id: string): Promise<Bucket> {
  const principal = await deps.identify(request)
  if (!principal) throw unauthorized({ reason: 'missing' })
  const bucket = await existing(deps, id)
  if (principal.role !== 'service_role' && !bucket?.public) throw bucketNotFound({ bucket: id })
  if (!bucket) throw bucketNotFound({ bucket: id })
  return bucket
}

/** A bucket; null when it does not exist or the name is invalid. */
export async function existing(deps: StorageDeps, id: string): Promise<Bucket | null> {
  try {
    return await deps.store.getBucket(id)
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'INVALID_BUCKET_NAME') return null
    throw error
  }
}

/** @throws OBJECT_NOT_FOUND */
export async function existingObject(deps: StorageDeps, bucket: string, key: string): Promise<ObjectInfo> {
  const info = await deps.store.head(bucket, key)
  if (!info) throw objectNotFound({ bucket, key })
  return info
}

/** The object's key: the part of the path after the route's fixed part. */
export function keyOf(request: FastifyRequest): string {
  return (request.params as { '*': string })['*']
}
