/** Shortest delay of starts after failures, in milliseconds. */
export const BACKOFF_MS = 250
const MAX_BACKOFF_MS = 30_000

/** Delay of further starts after failures: none after a single one, then doubled with each in a row. */
export class StartBackoff {
  #failures = 0
  #blockedUntil = 0

  /** Milliseconds until the next start; 0 when it may begin now. */
  get remainingMs(): number {
    return Math.max(0, this.#blockedUntil - performance.now())
  }

  /** Counts a failure, and returns the delay in milliseconds. */
  failed(): number {
    this.#failures++
    if (this.#failures > 1)
      this.#blockedUntil = performance.now() + Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** (this.#failures - 2))
    return this.remainingMs
  }

  /** Ends a row of failures; a delay that runs is kept. */
  reset(): void {
    this.#failures = 0
  }
}
