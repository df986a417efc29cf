/** Values that were made lately, up to a total cost; what was asked for longest ago goes first. */
export class Kept<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly cost: number; readonly until: number }>()
  readonly #most: number
  readonly #costOf: (value: T) => number
  readonly #ms: number
  #held = 0

  /**
   * @param most total of the costs
   * @param ms how long a value is good; for ever when absent
   */
  constructor(most: number, costOf: (value: T) => number, ms = Infinity) {
    this.#most = most
    this.#costOf = costOf
    this.#ms = ms
  }

  /** `undefined` for one that is not here, or no longer good. */
  get(name: string): T | undefined {
    const known = this.#entries.get(name)
    if (known === undefined) return undefined
    if (known.until <= performance.now()) {
      this.delete(name)
      return undefined
    }
    this.#entries.delete(name)
    this.#entries.set(name, known)
    return known.value
  }

  set(name: string, value: T): void {
    this.delete(name)
    if (this.#ms <= 0) return
    const cost = this.#costOf(value)
    this.#entries.set(name, { value, cost, until: performance.now() + this.#ms })
    this.#held += cost
    for (const oldest of this.#entries.keys()) {
      if (this.#held <= this.#most) return
      this.delete(oldest)
    }
  }

  delete(name: string): void {
    const known = this.#entries.get(name)
    if (known === undefined) return
    this.#entries.delete(name)
    this.#held -= known.cost
  }
}

/** What a picture or a tile holds, with its name; null for one that shows nothing. */
export function bytesHeld(bytes: Uint8Array | null): number {
  return 200 + (bytes?.byteLength ?? 0)
}
