import { finished, type Writable } from 'node:stream'
import { slowClient } from './errors.ts'

/** Bytes per write, small enough to notice that a client reads within a batch. */
const PIECE_BYTES = 1 << 16

export interface StallLimits {
  /** Maximum milliseconds in which a client reads nothing. */
  readonly stallMs: number
  /** Minimum rate; the allowed time of a slower client shrinks with each wait. */
  readonly bytesPerSecond: number
}

/** A client's time for reading: waiting uses it up, read bytes restore it. Time in the database does not count. */
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

  /** Counts bytes that a client took after a wait. */
  took(bytes: number, waitedMs: number): void {
    const { stallMs, bytesPerSecond } = this.#limits
    this.#leftMs = Math.min(stallMs, this.#leftMs - waitedMs + (bytes * 1000) / bytesPerSecond)
  }
}

/** Writes bytes as fast as the client reads them. @throws CLIENT_TOO_SLOW, and the reason of the signal */
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

/** Destroys an answer whose last bytes the client does not read in time. */
export function endBySoon(answer: Writable, timeout: StallTimeout): void {
  const timer = setTimeout(() => answer.destroy(slowClient()), Math.max(1, timeout.leftMs))
  finished(answer, () => clearTimeout(timer))
}

/** Waits until more may be written. Returns the duration. */
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
