import { setImmediate } from 'node:timers/promises'

const TURN_MS = 25

/** Yields to other work of the process during long computations, and throws when they are aborted. */
export class Yielder {
  readonly #signal: AbortSignal | undefined
  #turnEnds = performance.now() + TURN_MS

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  /** Whether it is time to `yield`. */
  isDue(): boolean {
    return performance.now() >= this.#turnEnds
  }

  /** @throws the reason of the signal */
  async yield(): Promise<void> {
    await setImmediate()
    this.#signal?.throwIfAborted()
    this.#turnEnds = performance.now() + TURN_MS
  }
}
