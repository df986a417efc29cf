import { forbidden, unauthorized, type Principal } from '@terrane/auth'
import { TerraneError } from '@terrane/core'
import { bucketNotFound, objectNotFound, type Bucket, type ObjectInfo, type ObjectStore } from '@terrane/storage'
import type { FastifyRequest } from 'fastify'

export interface StorageDeps {
  readonly store: ObjectStore
  /** The caller, or null when no key was sent. */
  readonly identify: (request: FastifyRequest) => Promise<Principal | null>
  /** Signs and verifies URLs. */
  readonly jwtSecret: string
  readonly maxObjectBytes: number
  /** Folder of uploads that are under way. */
  readonly uploadDir: string
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
 * Lets a caller read a bucket. A private bucket and a missing one look the same to those who may not see it.
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
