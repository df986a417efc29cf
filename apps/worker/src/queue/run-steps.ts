import type { JobProgress } from '../jobs/task.ts'
import type { NewLine } from './job-log.ts'

/** Interval of further lines about a step that is still running. */
const STILL_MS = 60_000

interface Step {
  readonly phase: string
  readonly message: string
}

/** Makes lines of a run's progress: one per step, one a minute during a step, and one with all phases at the end. */
export class RunSteps {
  readonly #seconds = new Map<string, number>()
  #step: Step | null = null
  #toldAt = 0
  #countedAt = 0

  /** The log line for a report of progress at a time in milliseconds, or null when there is none. */
  line(progress: JobProgress, now: number): NewLine | null {
    const { phase, message = phase } = progress
    this.#count(now)
    const isNew = this.#step?.phase !== phase || !isSame(this.#step.message, message)
    if (!isNew && now - this.#toldAt < STILL_MS) return null
    this.#step = { phase, message }
    this.#toldAt = now
    return { event: 'step', phase, message: isNew ? message : `${message}: ${amount(progress)}` }
  }

  /** Log line with the duration of each phase up to a time in milliseconds; null without phases. */
  times(now: number): NewLine | null {
    this.#count(now)
    if (this.#seconds.size === 0) return null
    const times = [...this.#seconds].map(([phase, seconds]) => `${phase} ${seconds.toFixed(1)} s`)
    return { event: 'times', message: times.join(', ') }
  }

  /** Adds the time since the last report to the current phase. */
  #count(now: number): void {
    const seconds = (now - this.#countedAt) / 1000
    this.#countedAt = now
    if (this.#step) this.#seconds.set(this.#step.phase, (this.#seconds.get(this.#step.phase) ?? 0) + seconds)
  }
}

/** Messages that differ in digits only are the same step. */
function isSame(a: string, b: string): boolean {
  return a.replaceAll(/\d/g, '') === b.replaceAll(/\d/g, '')
}

function amount({ done, total, unit }: JobProgress): string {
  return `${Math.round(done)}${total === null ? '' : ` of ${Math.round(total)}`} ${unit}`.trim()
}
