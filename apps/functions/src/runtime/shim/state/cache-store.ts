import { Store, type Commit, type Range, type StoredEntry } from './store.ts'

/** Parts of bodies that an instance reads or writes at the same time; each is in memory several times meanwhile. */
const PARTS_AT_ONCE = 4

/**
 * The store of a function's caches. Programs do not expect a cache to fail, so an unreachable one finds and keeps
 * nothing, and logs that once per instance.
 */
export class CacheStore extends Store {
  readonly #warn: (text: string) => void
  #hasWarned = false
  #free = PARTS_AT_ONCE
  readonly #waiting: (() => void)[] = []

  constructor(send: typeof fetch, warn: (text: string) => void) {
    super(send, ['cache', ''])
    this.#warn = warn
  }

  override get(keys: readonly string[]): Promise<Map<string, StoredEntry>> {
    return super.get(keys).catch((error: unknown) => this.#miss(error, new Map<string, StoredEntry>()))
  }

  override list(range: Range): Promise<readonly StoredEntry[]> {
    return super.list(range).catch((error: unknown) => this.#miss(error, []))
  }

  /** Null where nothing has been written. */
  override write(commit: Commit): Promise<string | null> {
    return super.write(commit).catch((error: unknown) => this.#miss(error, null))
  }

  /** Waits for a place among the parts that are read or written. */
  async part<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resume) => this.#waiting.push(resume))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  #miss<T>(error: unknown, instead: T): T {
    if (!this.#hasWarned) this.#warn(`caches: nothing was found or kept: ${(error as Error).message}`)
    this.#hasWarned = true
    return instead
  }
}
