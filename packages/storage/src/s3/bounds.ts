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
