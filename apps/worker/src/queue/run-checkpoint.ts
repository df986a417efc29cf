import { dropCheckpoint, keepCheckpoint, takeOver, type Database, type JobRun } from '@terrane/database'
import type { Checkpoint } from '../jobs/task.ts'

/** The checkpoint of one run: what an earlier run kept, and what this one keeps for a later one. */
export class RunCheckpoint implements Checkpoint {
  /** Whether there is something from which another run could go on. */
  isThere: boolean
  readonly #database: Database
  readonly #run: JobRun
  readonly #everyMs: number
  #kept: unknown
  #keptAt = performance.now()

  private constructor(database: Database, run: JobRun, everyMs: number, kept: unknown) {
    this.#database = database
    this.#run = run
    this.#everyMs = everyMs
    this.#kept = kept
    this.isThere = kept !== null
  }

  /** Takes over what an earlier run of the job kept, and drops what else was left of it. */
  static async open(database: Database, run: JobRun, everyMs: number): Promise<RunCheckpoint> {
    return new RunCheckpoint(database, run, everyMs, await takeOver(database, run))
  }

  take(): unknown {
    const kept = this.#kept
    this.#kept = null
    return kept
  }

  get isDue(): boolean {
    return performance.now() - this.#keptAt >= this.#everyMs
  }

  async keep(state: unknown): Promise<void> {
    await keepCheckpoint(this.#database, this.#run, state)
    this.isThere = true
    this.#keptAt = performance.now()
  }

  async drop(): Promise<void> {
    this.isThere = false
    await dropCheckpoint(this.#database, this.#run.jobId)
  }
}
