/** The least pace at which a body is taken, after a time that is always given. */
export interface LeastPace {
  readonly graceMs: number
  readonly bytesPerMs: number
}

/**
 * Passes a body on and tells when its reader has waited longer in all than the bytes that it took may take. The time in
 * which the body is made is not counted, and neither is what comes after its last chunk.
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
