/** Runs work concurrently, up to a maximum, and remembers the first failure. */
export class Lanes {
  readonly #atOnce: number
  readonly #running = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | null = null

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /** Starts work once a lane is free; throws when earlier work failed. */
  async start(work: () => Promise<unknown>): Promise<void> {
    while (this.#running.size >= this.#atOnce) await Promise.race(this.#running)
    if (this.#failure) throw this.#failure.error
    const run: Promise<void> = work()
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .then(() => void this.#running.delete(run))
    this.#running.add(run)
  }

  /** Waits until no work is running, whether it succeeded or not. */
  async settle(): Promise<void> {
    await Promise.all(this.#running)
  }

  /** Waits for the running work; throws when any work failed. */
  async finish(): Promise<void> {
    await this.settle()
    if (this.#failure) throw this.#failure.error
  }
}
