import type { JobProgress as Stored } from '@terrane/contracts'
import { Phases } from '@terrane/service'
import type { JobProgress } from '../jobs/task.ts'
import type { NewLine } from './job-log.ts'
import type { JobStore } from './job-store.ts'
import { RunSteps } from './run-steps.ts'

/** Minimum interval between two writes. */
const INTERVAL_MS = 500

/** Maximum lines that wait to be written; further ones are replaced by one line with their number. */
const MOST_WAITING = 100

/** Writes a job's progress at most twice a second, and a line of its log for each step. */
export class ProgressWriter {
  readonly #store: JobStore
  readonly #id: string
  readonly #attempt: number
  readonly #onLost: () => void
  #latest: Stored | null = null
  #writing: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #lastWrite = 0
  readonly #steps = new RunSteps()
  readonly #phases = new Phases()
  #lines: (NewLine & { readonly at: number })[] = []
  #skipped = 0

  /** @param onLost called when the job runs elsewhere by now, so that this run must stop */
  constructor(store: JobStore, id: string, attempt: number, onLost: () => void) {
    this.#store = store
    this.#id = id
    this.#attempt = attempt
    this.#onLost = onLost
  }

  report(step: JobProgress): void {
    const { done, total } = step
    this.#phases.now(step.phase)
    this.#latest = {
      percent: total !== null && total > 0 ? Math.min(100, Math.round((done / total) * 1000) / 10) : null,
      phase: step.phase,
      message: step.message ?? step.phase,
      done: Math.round(done),
      total: total === null ? null : Math.round(total),
      unit: step.unit,
      eta_seconds: step.etaSeconds === undefined ? null : Math.max(0, Math.round(step.etaSeconds * 10) / 10),
    }
    this.#note((now) => this.#steps.line(step, now))
    if (this.#timer || this.#writing) return
    this.#timer = setTimeout(() => this.#write(), Math.max(0, this.#lastWrite + INTERVAL_MS - Date.now()))
  }

  /** Ends the writing after the latest progress is written. */
  async close(): Promise<void> {
    this.#phases.now(null)
    await this.#writing
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#note((now) => this.#steps.times(now))
    if (this.#latest || this.#lines.length > 0) this.#write()
    await this.#writing
  }

  #note(lineAt: (now: number) => NewLine | null): void {
    const at = Date.now()
    const line = lineAt(at)
    if (!line) return
    if (this.#lines.length < MOST_WAITING) this.#lines.push({ ...line, at })
    else this.#skipped++
  }

  #write(): void {
    this.#timer = undefined
    const step = this.#latest
    const now = Date.now()
    if (this.#skipped > 0) this.#lines.push({ event: 'step', message: `and ${this.#skipped} more steps`, at: now })
    const noted = this.#lines
    const lines = noted.map(({ at, ...line }) => ({ ...line, ageMs: now - at }))
    this.#latest = null
    this.#lines = []
    this.#skipped = 0
    this.#lastWrite = now
    this.#writing = this.#store
      .progress(this.#id, this.#attempt, step, lines)
      .then((current) => (current ? undefined : this.#onLost()))
      // After an error the lines are written with the next step; the end of the job does not depend on them.
      .catch(() => {
        this.#lines = [...noted, ...this.#lines]
      })
      .finally(() => {
        this.#writing = null
        if (this.#latest && !this.#timer) this.#timer = setTimeout(() => this.#write(), INTERVAL_MS)
      })
  }
}
