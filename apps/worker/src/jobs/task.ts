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
  /** Refuses a URL that this worker would not fetch; `path` is its place in the request. @throws URL_REFUSED */
  readonly checkUrl: (url: string, path: string) => void
}

/** Progress of a job; `etaSeconds` is the estimated remaining time. */
export type JobProgress = Progress & { readonly etaSeconds?: number }

/** State that lets a later run continue: a note, and the staging tables as they were when it was stored. */
export interface Checkpoint {
  /** State of an earlier run with this identity, and its tables; else null. `identity` is called only if needed. */
  take<State>(identity: Identity): Promise<State | null>
  /** Starts again: drops staging tables of an earlier run. */
  clear(): Promise<void>
  /** True when this run or an earlier one has stored a checkpoint. */
  readonly isThere: boolean
  /** True when enough time has passed since the last checkpoint. */
  readonly isDue: boolean
  /**
   * Stores a checkpoint. Call it when everything that the state covers is committed, and no write to the tables is
   * pending.
   *
   * @param state JSON
   * @throws RUN_SUPERSEDED when a later run has begun
   */
  keep(identity: Identity, state: unknown, options?: KeepOptions): Promise<void>
}

/** Returns a text that identifies the inputs of the rows. It may be costly, so it is called late and cached. */
export type Identity = () => Promise<string>

export interface KeepOptions {
  /** More rows will follow: rows after the last checkpoint are removed when a later run takes the tables over. */
  readonly rowsFollow?: boolean
  /** A transaction that changes the tables; the checkpoint is stored in it. */
  readonly session?: Session
}

/** Identity of completely loaded tables, for which the inputs no longer matter. */
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

/** How a task is split: a run plans, the shards run without it, then another run publishes; each takes effect once. */
export interface Sharding<Input = unknown> {
  /** Whether a request is split into shards. */
  divides(input: Input): boolean
  /** Inputs of the shards, in order; `shard.name` is what users see. Empty: there is nothing to do. */
  plan(input: Input, context: JobContext): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Runs one shard. */
  run(
    input: Readonly<Record<string, unknown>>,
    context: JobContext,
    parentId: string,
  ): Promise<Readonly<Record<string, unknown>>>
  /** Publishes the effect of the job when all shards have ended, and returns the public result. */
  publish(input: Input, shards: readonly Shard[], context: JobContext): Promise<Readonly<Record<string, unknown>>>
}

/** Dependencies of a running job. A task has no globals. */
export interface JobContext {
  /** Run that names the job's staging tables and uploads; `swapIn` needs it. */
  readonly run: JobRun
  /** 1 for the first run; more after a worker was lost. */
  readonly attempt: number
  readonly project: Project
  /** Aborts on cancel, timeout and shutdown; the task then stops within a second and removes its other resources. */
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly fetch: GuardedFetch
  /** An empty folder of the job's own, removed afterwards. */
  readonly workdir: string
  readonly checkpoint: Checkpoint
  /** Reports progress; it may be called at any rate. */
  progress(progress: JobProgress): void
}

/** A kind of job. It runs at least once but takes effect once: by staging tables of the run, at last `swapIn`. */
export interface Task<Input = unknown> {
  readonly name: TaskName
  readonly summary: string
  readonly description: string
  /** Closed schema of the body; it has no `$ref`. */
  readonly body: TObject
  /** Longest run in seconds. */
  readonly expireSeconds: number
  /** Increment it when a change makes other rows or stores another state: checkpoints of other versions are dropped. */
  readonly version: number
  /** Checks before the job is queued: name taken, bucket missing, area too large. Throws catalogue errors. */
  checkSubmit(input: Input, context: SubmitContext): Promise<void>
  /** Choices of a request; listed by `GET /capacity`. */
  offers?(): Promise<Pick<Capacity, 'models'>>
  /** Does the work and returns the public result. */
  run(input: Input, context: JobContext): Promise<Readonly<Record<string, unknown>>>
  /** For requests that are split into shards. */
  readonly sharding?: Sharding<Input>
}
