import { finished, type Writable } from 'node:stream'
import { slowClient } from './errors.ts'

/** Written at once, so that a client is seen to read within a batch, too. */
const PIECE_BYTES = 1 << 16

export interface StallLimits {
  /** Longest time that a client may take nothing. */
  readonly stallMs: number
  /** A client that reads more slowly uses its time up bit by bit. */
  readonly bytesPerSecond: number
}

/**
 * The time that a client has to take what is ready for it. Waiting spends it, and what is taken earns it back at the minimum
 * rate, up to the longest stall. Time spent in the database does not count as a stall.
 */
export class StallTimeout {
  readonly #limits: StallLimits
  #leftMs: number

  constructor(limits: StallLimits) {
    this.#limits = limits
    this.#leftMs = limits.stallMs
  }

  get leftMs(): number {
    return this.#leftMs
  }

  /** A client took bytes after it was waited for. */
  took(bytes: number, waitedMs: number): void {
    const { stallMs, bytesPerSecond } = this.#limits
    this.#leftMs = Math.min(stallMs, this.#leftMs - waitedMs + (bytes * 1000) / bytesPerSecond)
  }
}

/**
 * Passes bytes on as fast as they are taken.
 *
 * @throws CLIENT_TOO_SLOW, and the reason of the signal
 */
export async function pump(
  bytes: AsyncIterable<Uint8Array | string>,
  body: Writable,
  timeout: StallTimeout,
  signal: AbortSignal,
): Promise<void> {
  for await (const given of bytes) {
    const whole = typeof given === 'string' ? Buffer.from(given) : given
    for (let at = 0; at < whole.length; at += PIECE_BYTES) {
      const piece = whole.subarray(at, at + PIECE_BYTES)
      if (!body.write(piece)) timeout.took(piece.length, await within(timeout, body, signal))
    }
  }
}

/** Ends an answer whose last bytes the client does not read in time. */
export function endBySoon(answer: Writable, timeout: StallTimeout): void {
  const timer = setTimeout(() => answer.destroy(slowClient()), Math.max(1, timeout.leftMs))
  finished(answer, () => clearTimeout(timer))
}

/** Waits until more may be written. Returns for how long. */
async function within(timeout: StallTimeout, body: Writable, signal: AbortSignal): Promise<number> {
  const begun = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(slowClient()), Math.max(1, timeout.leftMs))
  const leave = () => reject((signal.reason ?? new DOMException('the caller is gone', 'AbortError')) as Error)
  const drained = () => resolve()
  body.once('drain', drained)
  body.once('close', leave)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  try {
    await promise
  } finally {
    clearTimeout(timer)
    body.off('drain', drained)
    body.off('close', leave)
    signal.removeEventListener('abort', leave)
  }
  return performance.now() - begun
}
