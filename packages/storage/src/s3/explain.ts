import { TerraneError } from '@terrane/core'
import { storageAnswerTooLarge, storageFailed, storageUnavailable } from '../errors.ts'
import { AnswerTooLarge, MAX_ANSWER_BYTES } from './bounds.ts'

/** Node's error codes for a connection that is lost, refused or silent. */
const LOST: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
])
/** Names of timeouts in the SDK and the platform. */
const LATE: ReadonlySet<string> = new Set(['TimeoutError', 'AbortError', 'RequestTimeout'])

/** Whether the connection failed or was lost, so that a retry may help. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  if (LATE.has(error.name) || (typeof code === 'string' && LOST.has(code))) return true
  return /socket hang up|^aborted$|Premature close/.test(error.message) || isLost(error.cause)
}

/** The status that the service answered with, or null. */
export function statusOf(error: unknown): number | null {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }
  return $metadata?.httpStatusCode ?? null
}

/** Converts an error of the SDK to an error of the stores. */
export function explain(error: unknown, operation: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof TerraneError) return error
  if (error instanceof AnswerTooLarge) return storageAnswerTooLarge({ operation, limit: MAX_ANSWER_BYTES })
  if (isLost(error)) return storageUnavailable({ operation }, { cause: error })
  const status = statusOf(error)
  if (status === null) return error
  if (status === 503 || status === 429) return storageUnavailable({ operation }, { cause: error })
  return storageFailed({ operation, status }, { cause: error })
}
