import { pipeline, Transform, type Readable } from 'node:stream'

/** How long storage may take before an operation ends with STORAGE_UNAVAILABLE. */
export interface Bounds {
  /** For a connection, each time. */
  readonly connectMs: number
  /** Without a byte in either direction. */
  readonly idleMs: number
  /** For an operation of small answers, with its retries; transfers of objects are bounded by idleMs alone. */
  readonly totalMs: number
  /** Tries of one request. */
  readonly attempts: number
}

export const BOUNDS: Bounds = { connectMs: 3000, idleMs: 10_000, totalMs: 20_000, attempts: 3 }

/** A signal that aborts with the caller's, and when an operation has taken too long. */
export function boundedOperation(bounds: Bounds, signal: AbortSignal | undefined): AbortSignal {
  signal?.throwIfAborted()
  const timeout = AbortSignal.timeout(bounds.totalMs)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

/** Maximum bytes of an answer other than an object's content: a list of 1,000 keys has about 2 MiB at most. */
export const MAX_ANSWER_BYTES = 8 << 20

/** An answer had more than {@link MAX_ANSWER_BYTES}. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** Passes a body on up to a bound; beyond it the body is cancelled and its reader gets {@link AnswerTooLarge}. */
export function boundedBody(body: Readable, most = MAX_ANSWER_BYTES): Readable {
  let read = 0
  const bound = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      read += chunk.byteLength
      if (read > most) done(new AnswerTooLarge(`more than ${most} bytes`))
      else done(null, chunk)
    },
  })
  // Errors of either side reach the reader.
  pipeline(body, bound, () => {})
  return bound
}
