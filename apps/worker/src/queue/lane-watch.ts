import { lanesStuck } from '../errors.ts'

/** Milliseconds without a look for jobs after which an idle lane counts as stuck. */
const LONGEST_SILENCE_MS = 60_000

/** One lane: runs jobs of one task, one after the other. */
export interface Lane {
  /** The lane has looked for a job, and the database has answered. */
  looked(): void
  /** Runs a job; the lane does not look for jobs meanwhile. */
  work(job: () => Promise<void>): Promise<void>
}

/** Records when each lane of a worker has last looked for jobs. */
export class LaneWatch {
  readonly #now: () => number
  readonly #lanes: { readonly task: string; lookedAt: number; isBusy: boolean }[] = []

  /** @param now a monotonic clock in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  open(task: string): Lane {
    const lane = { task, lookedAt: this.#now(), isBusy: false }
    this.#lanes.push(lane)
    const looked = () => {
      lane.lookedAt = this.#now()
    }
    return {
      looked,
      work: async (job) => {
        lane.isBusy = true
        try {
          await job()
        } finally {
          lane.isBusy = false
          looked()
        }
      },
    }
  }

  /** @throws WORKER_LANES_STUCK */
  check(): void {
    const since = this.#now() - LONGEST_SILENCE_MS
    const tasks = this.#lanes.filter(({ isBusy, lookedAt }) => !isBusy && lookedAt < since).map(({ task }) => task)
    if (tasks.length > 0) throw lanesStuck({ tasks: [...new Set(tasks)], seconds: LONGEST_SILENCE_MS / 1000 })
  }
}
