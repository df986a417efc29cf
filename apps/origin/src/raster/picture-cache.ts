/** Pictures that were asked for last, up to a number of bytes; null for one that shows nothing. */
export class PictureCache {
  readonly #kept = new Map<string, Uint8Array | null>()
  readonly #maxBytes: number
  #held = 0

  constructor(maxBytes = 48 * 1024 * 1024) {
    this.#maxBytes = maxBytes
  }

  /** `undefined` for one that is not here. */
  get(name: string): Uint8Array | null | undefined {
    const known = this.#kept.get(name)
    if (known === undefined) return undefined
    this.#kept.delete(name)
    this.#kept.set(name, known)
    return known
  }

  set(name: string, picture: Uint8Array | null): void {
    this.#drop(name)
    this.#kept.set(name, picture)
    this.#held += cost(picture)
    for (const oldest of this.#kept.keys()) {
      if (this.#held <= this.#maxBytes) return
      this.#drop(oldest)
    }
  }

  #drop(name: string): void {
    const known = this.#kept.get(name)
    if (known === undefined) return
    this.#kept.delete(name)
    this.#held -= cost(known)
  }
}

/** What a picture holds, with its name. */
function cost(picture: Uint8Array | null): number {
  return 200 + (picture?.byteLength ?? 0)
}
