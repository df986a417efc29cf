import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { unauthorized, type Principal } from '@terrane/auth'
import { keysUnavailable } from './errors.ts'

/** Result of a key lookup. */
export interface FoundKey {
  readonly id: string
  readonly sha256: string
  readonly principal: Principal
  readonly revoked: boolean
  /** Milliseconds until it expires, by the clock of the database; null when it does not. */
  readonly endsInMs: number | null
}

export interface KeyringOptions {
  /** Looks up a key in the control plane. */
  readonly find: (sha256: string) => Promise<FoundKey | null>
  /** Cache time of a result, in milliseconds. */
  readonly cacheMs: number
  /** Additional time in milliseconds for which a valid key is accepted while look-ups fail. */
  readonly graceMs: number
  /** Called at each use of a key. */
  readonly onUsed?: (id: string) => void
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

/** Maximum cache time of unknown keys in milliseconds, and so the maximum delay before a new key is accepted. */
const UNKNOWN_MS = 5000
/** Maximum cached keys, and maximum cached unknown keys. */
const MAX_ENTRIES = 10_000
/** Time in milliseconds after a failed look-up before the next one. */
const RETRY_MS = 1000

interface Entry {
  readonly key: FoundKey
  readonly checkedAt: number
  /** Time at which it expires; null when it does not. */
  readonly endsAt: number | null
  /** Time until which no new look-up is needed. */
  freshUntil: number
}

/**
 * Caches keys for a short time, so that a known key costs no query. Expiry is exact. A revocation takes effect after at
 * most `cacheMs`, or at once after {@link forget}. While look-ups fail, a cached key is accepted for `graceMs` more,
 * and every other key is refused with KEYS_UNAVAILABLE.
 */
export class Keyring {
  readonly #options: KeyringOptions
  readonly #now: () => number
  readonly #known = new LRUCache<string, Entry>({ max: MAX_ENTRIES })
  readonly #unknown = new LRUCache<string, number>({ max: MAX_ENTRIES })
  readonly #loading = new Map<string, Promise<Entry | null>>()

  constructor(options: KeyringOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** The principal of a key; null for an unknown one. @throws UNAUTHORIZED for an ended one, KEYS_UNAVAILABLE */
  async find(sha256: string): Promise<Principal | null> {
    const now = this.#now()
    const entry = this.#known.get(sha256)
    if (entry && now < entry.freshUntil) return this.#answer(entry, sha256)
    if (now < (this.#unknown.get(sha256) ?? 0)) return null
    const loaded = await this.#load(sha256, entry)
    return loaded && this.#answer(loaded, sha256)
  }

  /** Drops the cache of a changed key, or of all keys. */
  forget(sha256?: string): void {
    const maps = [this.#known, this.#unknown, this.#loading]
    for (const map of maps) {
      if (sha256 === undefined) map.clear()
      else map.delete(sha256)
    }
  }

  #answer({ key, endsAt }: Entry, sha256: string): Principal | null {
    if (!timingSafeEqual(Buffer.from(key.sha256, 'hex'), Buffer.from(sha256, 'hex'))) return null
    if (key.revoked) throw unauthorized({ reason: 'revoked' })
    if (endsAt !== null && this.#now() >= endsAt) throw unauthorized({ reason: 'expired' })
    this.#options.onUsed?.(key.id)
    return key.principal
  }

  /** Runs one look-up per key at a time. A result is not cached if the key was dropped meanwhile. */
  #load(sha256: string, former: Entry | undefined): Promise<Entry | null> {
    const running = this.#loading.get(sha256)
    if (running) return running
    const loading: Promise<Entry | null> = this.#look(
      sha256,
      former,
      () => this.#loading.get(sha256) === loading,
    ).finally(() => {
      if (this.#loading.get(sha256) === loading) this.#loading.delete(sha256)
    })
    this.#loading.set(sha256, loading)
    return loading
  }

  async #look(sha256: string, former: Entry | undefined, isCurrent: () => boolean): Promise<Entry | null> {
    const { cacheMs, graceMs } = this.#options
    // Taken before the query, so that the result is at least as recent.
    const checkedAt = this.#now()
    let key: FoundKey | null
    try {
      key = await this.#options.find(sha256)
    } catch (cause) {
      const now = this.#now()
      if (!former || now >= former.checkedAt + cacheMs + graceMs) throw keysUnavailable(undefined, { cause })
      former.freshUntil = Math.min(now + RETRY_MS, former.checkedAt + cacheMs + graceMs)
      return former
    }
    // Expiry counts from the end of the query: a key is never refused early, and at most the query's duration late.
    const endsAt = key && key.endsInMs !== null ? this.#now() + key.endsInMs : null
    const entry = key && { key, checkedAt, endsAt, freshUntil: checkedAt + cacheMs }
    if (isCurrent()) this.#remember(sha256, entry, checkedAt)
    return entry
  }

  #remember(sha256: string, entry: Entry | null, at: number): void {
    this.#known.delete(sha256)
    this.#unknown.delete(sha256)
    if (entry) this.#known.set(sha256, entry)
    else this.#unknown.set(sha256, at + Math.min(UNKNOWN_MS, this.#options.cacheMs))
  }
}
