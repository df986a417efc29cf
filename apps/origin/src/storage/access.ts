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
  /** Asked of the tokens of signed URLs. */
  readonly checkRevoked?: CheckRevoked
  readonly maxObjectBytes: number
  readonly limits: RateLimits
  /** Uploads that are under way; no bucket of it is anyone's. */
  readonly uploads: ObjectStore
}

/** Routes with a request body that only read: the right to read is enough. */
const READS: ReadonlySet<string> = new Set(['/storage/v1/object/list/:bucket', '/storage/v1/object/list-v2/:bucket'])
/** Uploads that bring their right in their URL. */
const SIGNED_UPLOAD = '/storage/v1/object/upload/sign/:bucket/*'
/** Resumable uploads check the caller themselves, before they accept a part. */
const RESUMABLE = '/storage/v1/upload/resumable'
/** Answered to anybody. */
const OPEN: ReadonlySet<string> = new Set([
  '/storage/v1/object/public/:bucket/*',
  '/storage/v1/object/info/public/:bucket/*',
  '/storage/v1/object/sign/:bucket/*',
])

/**
 * The door of every route, passed before a byte of a body is read: what changes something wants the service role unless a
 * signed URL carries the right, what reads wants any key unless it is public.
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

/**
 * Only the service role changes buckets and objects; everybody else reads what lies in public buckets, or what a signed
 * URL names.
 *
 * @throws UNAUTHORIZED, FORBIDDEN
 */
export async function requireService(deps: StorageDeps, request: FastifyRequest): Promise<void> {
  const principal = await deps.identify(request)
  if (!principal) throw unauthorized({ reason: 'missing' })
  if (principal.role !== 'service_role') throw forbidden({ need: 'the service role key' })
}

/**
 * Lets a caller read a bucket. Without the right to see it a private bucket looks like a missing one.
 *
 * @throws UNAUTHORIZED, BUCKET_NOT_FOUND
 */
export async function readableBucket(deps: StorageDeps, request: FastifyRequest, id: string): Promise<Bucket> {
  const principal = await deps.identify(request)
  if (!principal) throw unauthorized({ reason: 'missing' })
  const bucket = await existing(deps, id)
  if (principal.role !== 'service_role' && !bucket?.public) throw bucketNotFound({ bucket: id })
  if (!bucket) throw bucketNotFound({ bucket: id })
  return bucket
}

/** A bucket, or null also for a name that no bucket can have. */
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

/** The object's key: everything after the route's fixed part. */
export function keyOf(request: FastifyRequest): string {
  return (request.params as { '*': string })['*']
}
