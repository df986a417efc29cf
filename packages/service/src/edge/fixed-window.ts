/** Most subjects of a generation. Two generations are held, so the memory is bounded for any number of callers. */
const MAX_SUBJECTS = 50_000

interface Count {
  points: number
  /** In milliseconds of `performance.now()`: a system clock that is set back does not lengthen a window. */
  readonly endsAt: number
}

/** Counts events of subjects in windows of a fixed length. A window begins with the first event of its subject. */
export class FixedWindow {
  readonly #limit: number
  readonly #windowMs: number
  #newer = new Map<string, Count>()
  /** Windows that began before the newer generation. */
  #older = new Map<string, Count>()
  #newerSince = performance.now()

  /** @param limit events of one subject in a window */
  constructor(limit: number, windowMs: number) {
    this.#limit = limit
    this.#windowMs = windowMs
  }

  /** Number of windows that are held. */
  get size(): number {
    return this.#newer.size + this.#older.size
  }

  /** Counts one event. Returns 0 while the subject is within the limit, else the milliseconds until its window ends. */
  consume(subject: string): number {
    const now = performance.now()
    const count = this.#find(subject)
    if (count && now < count.endsAt) return ++count.points > this.#limit ? count.endsAt - now : 0
    // A window later all older ones have ended; too many subjects drop them earlier.
    if (now - this.#newerSince >= this.#windowMs || this.#newer.size >= MAX_SUBJECTS) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#newerSince = now
    }
    this.#newer.set(subject, { points: 1, endsAt: now + this.#windowMs })
    return 0
  }

  /** Milliseconds until a subject at the limit may send again; 0 for others. Does not count a request. */
  wait(subject: string): number {
    const count = this.#find(subject)
    return count && count.points >= this.#limit ? Math.max(0, count.endsAt - performance.now()) : 0
  }

  #find(subject: string): Count | undefined {
    return this.#newer.get(subject) ?? this.#older.get(subject)
  }
}
