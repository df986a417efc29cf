import type { Database } from '@terrane/database'
import { dropCheckpoint, dropStaging, keepCheckpoint, takeOver, type JobRun } from '@terrane/database/staging'
import type { Checkpoint, Identity, KeepOptions } from '../jobs/task.ts'

/** A checkpoint's row in the database. */
interface Note {
  readonly version: number
  readonly identity: string
  readonly state: unknown
}

export interface CheckpointOptions {
  /** Minimum interval between two checkpoints. */
  readonly everyMs: number
  readonly version: number
}

/** The checkpoint of one run: reads the state of an earlier run, and stores the state for a later one. */
export class RunCheckpoint implements Checkpoint {
  readonly #database: Database
  readonly #run: JobRun
  readonly #options: CheckpointOptions
  #note: Note | null
  #keptAt = performance.now()

  private constructor(database: Database, run: JobRun, options: CheckpointOptions, note: Note | null) {
    this.#database = database
    this.#run = run
    this.#options = options
    this.#note = note
  }

  /** Takes over an earlier run's checkpoint unless it is of another version; drops other staging tables. */
  static async open(database: Database, run: JobRun, options: CheckpointOptions): Promise<RunCheckpoint> {
    const note = (await takeOver(database, run)) as Note | null
    const checkpoint = new RunCheckpoint(database, run, options, note)
    if (note !== null && note.version !== options.version) await checkpoint.clear()
    return checkpoint
  }

  get isThere(): boolean {
    return this.#note !== null
  }

  async take<State>(identity: Identity): Promise<State | null> {
    return this.#note !== null && this.#note.identity === (await identity()) ? (this.#note.state as State) : null
  }

  async clear(): Promise<void> {
    if (this.#note === null) return
    await this.drop()
    await dropStaging(this.#database, this.#run.jobId, { of: this.#run })
  }

  get isDue(): boolean {
    return performance.now() - this.#keptAt >= this.#options.everyMs
  }

  async keep(identity: Identity, state: unknown, { session, rowsFollow = false }: KeepOptions = {}): Promise<void> {
    const note: Note = { version: this.#options.version, identity: await identity(), state }
    await keepCheckpoint(session ?? this.#database, this.#run, note, { rowsFollow })
    this.#note = note
    this.#keptAt = performance.now()
  }

  /** Deletes the checkpoint; the caller drops the tables. */
  async drop(): Promise<void> {
    this.#note = null
    await dropCheckpoint(this.#database, this.#run.jobId)
  }
}
