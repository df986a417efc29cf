/** Minimum rate at which a body is read, after a grace period. */
export interface LeastPace {
  readonly graceMs: number
  readonly bytesPerMs: number
}

/**
 * Passes a body on and reports when its reader is too slow: when the total time it took exceeds the allowance for its
 * bytes. The time for producing the body and after its last chunk does not count.
 */
export async function* paced(
  body: AsyncIterable<Uint8Array>,
  { graceMs, bytesPerMs }: LeastPace,
  onLate: () => void,
): AsyncGenerator<Uint8Array> {
  let allowed = graceMs
  for await (const chunk of body) {
    allowed += chunk.byteLength / bytesPerMs
    const since = performance.now()
    const timer = setTimeout(onLate, allowed)
    try {
      yield chunk
    } finally {
      clearTimeout(timer)
    }
    allowed -= performance.now() - since
  }
}
