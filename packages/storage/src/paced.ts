/** Minimum rate at which a body is read, after a grace period. */
export interface LeastPace {
  readonly graceMs: number
  readonly bytesPerMs: number
}

/** Passes a body on and reports a reader that takes longer than its bytes allow; making them does not count. */
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
