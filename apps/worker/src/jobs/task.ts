import type { Capacity, JobError, JobStatus, TaskName } from '@terrane/contracts'
import type { Progress } from '@terrane/core'
import type { Database, Session } from '@terrane/database'
import type { JobRun } from '@terrane/database/staging'
import type { GuardedFetch, Logger } from '@terrane/service'
import type { ArtifactStore } from '@terrane/storage'
import type { TObject } from 'typebox'

/** The project a job works for: its database and its storage. */
export interface Project {
  readonly ref: string
  readonly database: Database
  readonly store: ArtifactStore
}

/** Dependencies of a task's checks at submit. */
export interface SubmitContext {
  readonly project: Project
  /**
   * Refuses a URL that no fetch of this worker would follow; `path` is where it stands in the request.
   *
   * @throws URL_REFUSED
   */
  readonly checkUrl: (url: string, path: string) => void
}

/** How far a job is; `etaSeconds` is an estimate of what is left. */
export type JobProgress = Progress & { readonly etaSeconds?: number }

/**
 * What a run keeps so that a later run of the job can go on where it was: a note about its staging tables, which become
 * those of the later run, as they were when it was kept.
 */
export interface Checkpoint {
  /**
   * What an earlier run kept under the same identity, and with it its tables; null when there is nothing.
   *
   * @param identity of all that the rows are made of; asked for only when something was kept
   */
  take<State>(identity: Identity): Promise<State | null>
  /** Begins anew: drops the tables that were taken over, if any. */
  clear(): Promise<void>
  /** Something is kept, of this run or an earlier one. */
  readonly isThere: boolean
  /** Enough time has passed since the last one. */
  readonly isDue: boolean
  /**
   * Call it when all that the state speaks of is committed, and nothing is on its way into the tables.
   *
   * @param state JSON
   * @throws RUN_SUPERSEDED when a later run has begun
   */
  keep(identity: Identity, state: unknown, options?: KeepOptions): Promise<void>
}

/** Returns a text that identifies the input of the rows. It may be costly, so it is called late and cached. */
export type Identity = () => Promise<string>

export interface KeepOptions {
  /** More rows are to come: rows after the last checkpoint are removed when a later run takes the tables over. */
  readonly rowsFollow?: boolean
  /** A transaction that changes the tables, which the state speaks of once it is committed. */
  readonly session?: Session
}

/** Identity of tables that are loaded: whatever they were made of is not asked for any more. */
export const LOADED: Identity = () => Promise.resolve('loaded')

/** For runs outside the queue, which are never continued. */
export const NO_CHECKPOINT: Checkpoint = {
  take: () => Promise.resolve(null),
  clear: () => Promise.resolve(),
  isThere: false,
  isDue: false,
  keep: () => Promise.resolve(),
}

/** A part of a job: a job of the same task, which any worker may run. */
export interface Shard {
  readonly id: string
  readonly status: JobStatus
  /** Input of the shard, without secrets. */
  readonly input: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>> | null
  readonly error: JobError | null
}

/**
 * How a task works in parts. A first run of the job plans, then no worker holds the job while its shards run, and when they
 * have ended another run publishes. Each of the three runs at least once and takes effect once.
 */
export interface Sharding<Input = unknown> {
  /** Whether a request is worked on in parts. */
  divides(input: Input): boolean
  /** Inputs of the shards, in order; a member `shard.name` is what people know a shard by. None: there is nothing to do. */
  plan(input: Input, context: JobContext): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Runs one of them. */
  run(
    input: Readonly<Record<string, unknown>>,
    context: JobContext,
    parentId: string,
  ): Promise<Readonly<Record<string, unknown>>>
  /** Does the job's effect when all shards have ended, and returns the public result. */
  publish(input: Input, shards: readonly Shard[], context: JobContext): Promise<Readonly<Record<string, unknown>>>
}

/** Dependencies of a running job. A task has no globals. */
export interface JobContext {
  /** Names the job's staging tables and uploads; the swap wants it. */
  readonly run: JobRun
  /** 1 for the first run; more after a worker was lost. */
  readonly attempt: number
  readonly project: Project
  /** Aborts on cancel, timeout and shutdown; a task must stop within a second and clean up what only it knows of. */
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly fetch: GuardedFetch
  /** An empty folder of the job's own, removed afterwards. */
  readonly workdir: string
  readonly checkpoint: Checkpoint
  /** Call it as often as you like. */
  progress(progress: JobProgress): void
}

/**
 * A kind of job. Tasks run at least once and take effect exactly once: they write into staging tables named after the run
 * and end with `swapIn`, which only the latest run passes and whose record a further run finds.
 */
export interface Task<Input = unknown> {
  readonly name: TaskName
  readonly summary: string
  readonly description: string
  /** Closed schema of the body; it has no `$ref`. */
  readonly body: TObject
  /** Longest run in seconds. */
  readonly expireSeconds: number
  /**
   * Raise it with a change after which a run writes other rows from the same source, or keeps another state: what a run
   * of another version kept is dropped.
   */
  readonly version: number
  /** Checks before the job is queued: name taken, bucket missing, area too large. Throws catalogue errors. */
  checkSubmit(input: Input, context: SubmitContext): Promise<void>
  /** Choices of a request; told by `GET /capacity`. */
  offers?(): Promise<Pick<Capacity, 'models'>>
  /** Does the work and returns the public result. */
  run(input: Input, context: JobContext): Promise<Readonly<Record<string, unknown>>>
  /** For requests that are worked on in parts. */
  readonly sharding?: Sharding<Input>
}
