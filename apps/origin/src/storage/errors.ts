import { STATUS_CODES } from 'node:http'
import { TerraneError } from '@terrane/core'
import { toProblem } from '@terrane/service'

/** Problem details, with the members that storage-js reads: `error`, and the HTTP status as text in `statusCode`. */
export interface StorageProblem {
  readonly status: number
  readonly body: ReturnType<typeof toProblem> & { readonly statusCode: string; readonly error: string }
}

const STATUS: Readonly<Record<string, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  invalid: 400,
  too_slow: 408,
  rate_limited: 429,
  unavailable: 503,
}

/** The storage API's own `error` and `code` for known errors; storage-js depends on some of them. */
const NAMES: Readonly<Record<string, readonly [error: string, code: string]>> = {
  BUCKET_NOT_FOUND: ['Bucket not found', 'NoSuchBucket'],
  OBJECT_NOT_FOUND: ['not_found', 'NoSuchKey'],
  BUCKET_EXISTS: ['Duplicate', 'ResourceAlreadyExists'],
  OBJECT_EXISTS: ['Duplicate', 'KeyAlreadyExists'],
  OBJECT_TOO_LARGE: ['Payload too large', 'EntityTooLarge'],
  INVALID_KEY: ['InvalidKey', 'InvalidKey'],
  INVALID_BUCKET_NAME: ['InvalidBucketName', 'InvalidBucketName'],
  INVALID_MIME_TYPE: ['invalid_mime_type', 'InvalidMimeType'],
  UNAUTHORIZED: ['Unauthorized', 'InvalidJWT'],
  FORBIDDEN: ['Unauthorized', 'AccessDenied'],
}

/** Any error in the form of the storage API. */
export function toStorageProblem(thrown: unknown, instance: string): StorageProblem {
  const [status, error, code, message] = wordsOf(thrown)
  const body = {
    ...toProblem(thrown, instance),
    type: `urn:terrane:problem:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    code,
    message,
    statusCode: String(status),
    error,
  }
  return { status, body }
}

function wordsOf(thrown: unknown): readonly [status: number, error: string, code: string, message: string] {
  if (thrown instanceof TerraneError) {
    const [error, name] = NAMES[thrown.code] ?? [thrown.code, thrown.code]
    return [STATUS[thrown.kind] ?? 500, error, name, thrown.message]
  }
  const { statusCode, code } = thrown as { statusCode?: number; code?: string }
  if (statusCode === 413 || code === 'FST_REQ_FILE_TOO_LARGE') {
    return [413, 'Payload too large', 'EntityTooLarge', 'The object exceeded the maximum allowed size']
  }
  if (statusCode !== undefined && statusCode < 500)
    return [400, 'invalid_request', 'InvalidRequest', (thrown as Error).message]
  return [500, 'internal', 'InternalError', 'Something went wrong on our side']
}
