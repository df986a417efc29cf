const MINUTES = 60
/** Numbers of a minute: the minute since 1970, errors, CPU seconds, memory in MB, and calls by duration. */
const [ERRORS, CPU, MEMORY, CALLS] = [1, 2, 3, 4]

/** Calls of a program in one minute, and its use of the machine. */
export interface Minute {
  readonly time: string
  readonly calls: number
  readonly errors: number
  /** Null without a call. */
  readonly p95_ms: number | null
  readonly cpu_s: number
  readonly memory_mb: number
}

/** The calls of a program in each of the last 60 minutes, and its CPU time and memory, in an array of fixed size. */
export class MinuteRing {
  readonly #bounds: readonly number[]
  readonly #width: number
  readonly #numbers: Float64Array

  /** @param bounds upper bounds of the buckets of durations in seconds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#width = CALLS + bounds.length + 1
    this.#numbers = new Float64Array(MINUTES * this.#width)
  }

  /**
   * Counts a call that ended.
   *
   * @param bucket index of the first bound that its duration does not exceed; the number of bounds if it exceeds all
   */
  call(bucket: number, isError: boolean): void {
    const at = this.#now()
    this.#numbers[at + CALLS + bucket]!++
    if (isError) this.#numbers[at + ERRORS]!++
  }

  /** Adds CPU seconds, and raises the memory. */
  use(cpuSeconds: number, memoryMb: number): void {
    const at = this.#now()
    this.#numbers[at + CPU]! += cpuSeconds
    this.#numbers[at + MEMORY] = Math.max(memoryMb, this.#numbers[at + MEMORY]!)
  }

  /** The minutes, oldest first; the last one is the current minute. */
  read(): Minute[] {
    const now = minuteNow()
    return Array.from({ length: MINUTES }, (_, i) => this.#read(now - MINUTES + 1 + i))
  }

  #read(minute: number): Minute {
    const at = (minute % MINUTES) * this.#width
    const isKnown = this.#numbers[at] === minute
    const own = isKnown ? this.#numbers.subarray(at, at + this.#width) : new Float64Array(this.#width)
    const buckets = own.subarray(CALLS)
    const calls = buckets.reduce((sum, count) => sum + count, 0)
    return {
      time: new Date(minute * 60_000).toISOString(),
      calls,
      errors: own[ERRORS]!,
      p95_ms: calls === 0 ? null : this.#quantile(buckets, 0.95 * calls) * 1000,
      cpu_s: own[CPU]!,
      memory_mb: own[MEMORY]!,
    }
  }

  /** Offset of the current minute in the array. */
  #now(): number {
    const minute = minuteNow()
    const at = (minute % MINUTES) * this.#width
    if (this.#numbers[at] !== minute) {
      this.#numbers.fill(0, at, at + this.#width)
      this.#numbers[at] = minute
    }
    return at
  }

  /**
   * The duration in seconds that `rank` calls do not exceed, interpolated within a bucket like Prometheus'
   * `histogram_quantile`.
   */
  #quantile(buckets: Float64Array, rank: number): number {
    let before = 0
    for (const [at, bound] of this.#bounds.entries()) {
      const count = buckets[at]!
      const lower = at === 0 ? 0 : this.#bounds[at - 1]!
      if (before + count >= rank) return lower + ((bound - lower) * (rank - before)) / count
      before += count
    }
    return this.#bounds.at(-1)!
  }
}

function minuteNow(): number {
  return Math.floor(Date.now() / 60_000)
}
