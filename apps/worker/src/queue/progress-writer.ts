import type { JobProgress as Stored } from '@terrane/contracts'
import type { JobProgress } from '../jobs/task.ts'
import type { JobStore } from './job-store.ts'

/** Least time between two writes. */
const INTERVAL_MS = 500

/** Writes a job's progress at most twice a second: the first step at once, then always the latest. */
export class ProgressWriter {
  private readonly store: JobStore
  private readonly id: string
  private readonly attempt: number
  private readonly onLost: () => void
  private latest: Stored | null = null
  private writing: Promise<void> | null = null
  private timer: NodeJS.Timeout | undefined
  private lastWrite = 0

  /** @param onLost called when the job runs elsewhere by now, so that this run must stop */
  constructor(store: JobStore, id: string, attempt: number, onLost: () => void) {
    this.store = store
    this.id = id
    this.attempt = attempt
    this.onLost = onLost
  }

  report(step: JobProgress): void {
    const { done, total } = step
    this.latest = {
      percent: total !== null && total > 0 ? Math.min(100, Math.round((done / total) * 1000) / 10) : null,
      phase: step.phase,
      message: step.message ?? step.phase,
      done: Math.round(done),
      total: total === null ? null : Math.round(total),
      unit: step.unit,
      eta_seconds: step.etaSeconds === undefined ? null : Math.max(0, Math.round(step.etaSeconds * 10) / 10),
    }
    if (this.timer || this.writing) return
    this.timer = setTimeout(() => this.write(), Math.max(0, this.lastWrite + INTERVAL_MS - Date.now()))
  }

  /** Ends the writing; what was reported last is written. */
  async close(): Promise<void> {
    await this.writing
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.latest) this.write()
    await this.writing
  }

  private write(): void {
    this.timer = undefined
    const step = this.latest
    if (!step) return
    this.latest = null
    this.lastWrite = Date.now()
    this.writing = this.store
      .progress(this.id, this.attempt, step)
      .then((current) => (current ? undefined : this.onLost()))
      // The next step is written anyway, and the end of the job does not depend on it.
      .catch(() => {})
      .finally(() => {
        this.writing = null
        if (this.latest && !this.timer) this.timer = setTimeout(() => this.write(), INTERVAL_MS)
      })
  }
}
