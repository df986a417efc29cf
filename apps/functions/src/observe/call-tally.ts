import { MinuteRing } from './minute-ring.ts'

/** Upper bounds of the buckets of durations, in seconds. */
export const DURATION_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Outcome of a call. */
export interface CallOutcome {
  readonly status: number
  /** Why the answer is the host's; empty when it is the function's. */
  readonly problem: string
  readonly ms: number
}

/** Number of calls with one status and problem. */
export interface OutcomeCount {
  readonly status: number
  readonly problem: string
  count: number
}

/**
 * Counters of the calls of one function since the host started. A call only increments numbers; metrics are made when
 * they are read.
 */
export class CallTally {
  readonly project: string
  readonly name: string
  /** Calls by duration; the last one is beyond all bounds. */
  readonly buckets = new Float64Array(DURATION_BOUNDS.length + 1)
  seconds = 0
  readonly minutes = new MinuteRing(DURATION_BOUNDS)
  readonly #answered = new Map<number, OutcomeCount>()
  readonly #refused = new Map<string, OutcomeCount>()

  constructor(project: string, name: string) {
    this.project = project
    this.name = name
  }

  add({ status, problem, ms }: CallOutcome): void {
    const seconds = ms / 1000
    this.seconds += seconds
    const bucket = bucketOf(seconds)
    this.buckets[bucket]!++
    this.minutes.call(bucket, status >= 500)
    let count = problem === '' ? this.#answered.get(status) : this.#refused.get(`${status} ${problem}`)
    if (!count) {
      count = { status, problem, count: 0 }
      if (problem === '') this.#answered.set(status, count)
      else this.#refused.set(`${status} ${problem}`, count)
    }
    count.count++
  }

  *outcomes(): Generator<OutcomeCount> {
    yield* this.#answered.values()
    yield* this.#refused.values()
  }
}

/** Index of the bucket of a duration. */
function bucketOf(seconds: number): number {
  let at = 0
  while (at < DURATION_BOUNDS.length && seconds > DURATION_BOUNDS[at]!) at++
  return at
}
