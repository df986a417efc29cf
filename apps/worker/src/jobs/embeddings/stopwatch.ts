/** Seconds per phase of a job. */
export class Stopwatch {
  readonly #phases = new Map<string, number>()
  readonly #started = performance.now()

  /** Waits for the work and adds its time to the phase. */
  async time<T>(phase: string, work: Promise<T>): Promise<T> {
    const from = performance.now()
    try {
      return await work
    } finally {
      this.#phases.set(phase, (this.#phases.get(phase) ?? 0) + performance.now() - from)
    }
  }

  /** Every phase and the total so far, in seconds with three decimals. */
  seconds(): Record<string, number> {
    const all = [...this.#phases, ['total', performance.now() - this.#started] as const]
    return Object.fromEntries(all.map(([phase, ms]) => [phase, Math.round(ms) / 1000]))
  }
}
