/** Runs a limited number of works concurrently, the latest request first. Hurried work begins at once. */
export class LatestFirst {
  readonly #most: number
  readonly #waiting = new Map<string, () => void>()
  #running = 0

  /** @param most maximum number of concurrent works, besides hurried ones */
  constructor(most: number) {
    this.#most = most
  }

  /** Runs the work when its turn comes. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.set(name, resolve))
    this.#running++
    try {
      return await work()
    } finally {
      this.#running--
      const next = [...this.#waiting.keys()].at(-1)
      if (next !== undefined && this.#running < this.#most) this.hurry(next)
    }
  }

  /** Starts the waiting work of this name at once. */
  hurry(name: string): void {
    const begin = this.#waiting.get(name)
    this.#waiting.delete(name)
    begin?.()
  }

  /** Starts all waiting work at once. */
  hurryAll(): void {
    for (const name of this.#waiting.keys()) this.hurry(name)
  }
}
