import type { Logger } from '@terrane/service'
import type { JobRow } from './job-row.ts'
import type { JobStore } from './job-store.ts'

const POLL_MS = 500

interface Watcher {
  revision: number
  readonly onChange: (row: JobRow) => void
}

/**
 * Reports changes of jobs to watchers: one query for all of them, twice a second and when a job has ended here, while
 * there are any.
 */
export class EventHub {
  readonly #store: JobStore
  readonly #logger: Logger
  readonly #watchers = new Map<string, Set<Watcher>>()
  #timer: NodeJS.Timeout | null = null
  #busy = false
  #lookAgain = false

  constructor(store: JobStore, logger: Logger) {
    this.#store = store
    this.#logger = logger
  }

  /** Calls `onChange` for each change of the job after `revision`. Returns a function that ends it. */
  watch(id: string, revision: number, onChange: (row: JobRow) => void): () => void {
    const watcher = { revision, onChange }
    const set = this.#watchers.get(id) ?? new Set()
    this.#watchers.set(id, set.add(watcher))
    this.#timer ??= setInterval(() => void this.#poll(), POLL_MS)
    return () => {
      // Called again, it must not remove a later set of the job.
      if (!set.delete(watcher)) return
      if (set.size === 0) this.#watchers.delete(id)
      if (this.#watchers.size === 0 && this.#timer) {
        clearInterval(this.#timer)
        this.#timer = null
      }
    }
  }

  /** Looks for changes of a watched job now instead of at the next poll. */
  look(id: string): void {
    if (!this.#watchers.has(id)) return
    this.#lookAgain = this.#busy
    void this.#poll()
  }

  async #poll(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    try {
      const known = new Map<string, number>()
      for (const [id, set] of this.#watchers) known.set(id, Math.min(...[...set].map((watcher) => watcher.revision)))
      for (const row of await this.#store.changedSince(known)) {
        for (const watcher of this.#watchers.get(row.id) ?? []) {
          if (row.revision <= watcher.revision) continue
          watcher.revision = row.revision
          watcher.onChange(row)
        }
      }
    } catch (error) {
      this.#logger.warn({ err: error }, 'watching jobs failed')
    } finally {
      this.#busy = false
    }
    if (!this.#lookAgain) return
    this.#lookAgain = false
    void this.#poll()
  }
}
