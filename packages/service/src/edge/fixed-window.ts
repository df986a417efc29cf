import { LRUCache } from 'lru-cache'

/** Most subjects that are counted at once; the longest unseen one is forgotten first. */
const MAX_SUBJECTS = 100_000

interface Count {
  points: number
  readonly endsAt: number
}

/** Counts events of subjects in windows of a fixed length. A window begins with the first event of its subject. */
export class FixedWindow {
  readonly #limit: number
  readonly #windowMs: number
  readonly #counts = new LRUCache<string, Count>({ max: MAX_SUBJECTS })

  /** @param limit events of one subject in a window */
  constructor(limit: number, windowMs: number) {
    this.#limit = limit
    this.#windowMs = windowMs
  }

  /** Counts one event. Returns 0 while the subject is within the limit, else the milliseconds until its window ends. */
  consume(subject: string): number {
    const now = Date.now()
    const count = this.#counts.get(subject)
    if (!count || now >= count.endsAt) {
      this.#counts.set(subject, { points: 1, endsAt: now + this.#windowMs })
      return 0
    }
    return ++count.points > this.#limit ? count.endsAt - now : 0
  }

  /** Milliseconds until a subject that has reached the limit may go on; 0 for others. Counts nothing. */
  wait(subject: string): number {
    const count = this.#counts.get(subject)
    return count && count.points >= this.#limit ? Math.max(0, count.endsAt - Date.now()) : 0
  }
}
