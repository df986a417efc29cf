import { mkdir, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { dropCollection } from '@terrane/database/collections'
import { appliedResult, beginRun, dropStaging } from '@terrane/database/staging'
import { tracedCalls, type GuardedFetch, type Logger } from '@terrane/service'
import type { Task } from '../jobs/task.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import { toShowable } from '../errors.ts'
import { CHECKPOINT_MS, endingOf } from './job-life.ts'
import type { JobRow } from './job-row.ts'
import type { ProgressWriter } from './progress-writer.ts'
import { RunCheckpoint } from './run-checkpoint.ts'
import { removeRunFolders, runFolder } from './run-folders.ts'
import { WAITS, runTask, type ShardOptions } from './shards.ts'

/** Dependencies of every run of a task. */
export interface ExecuteOptions {
  readonly projects: ProjectDirectory
  readonly fetch: GuardedFetch
  readonly workdir: string
  /** Minimum interval between two checkpoints of a run; {@link CHECKPOINT_MS} when absent. */
  readonly checkpointMs?: number
  /** Options with which shards are queued. */
  readonly shards: ShardOptions
}

/** One run of a job: its number, and the attempt that it counts as. */
interface CurrentRun {
  readonly attempt: number
  readonly number: number
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly progress: ProgressWriter
}

/** Runs a task in its folder and project, and cleans both up. A job whose effect is committed is not run again. */
export async function execute(options: ExecuteOptions, task: Task, row: JobRow, run: CurrentRun): Promise<unknown> {
  const { attempt, signal, logger, progress } = run
  const workdir = runFolder(options.workdir, row.id, run.number)
  await mkdir(workdir)
  let opened: OpenProject | null = null
  try {
    const { input, project } = await options.projects.open(row)
    opened = project
    const database = project.database
    // From here on no earlier run can take effect.
    const current = await beginRun(database, row.id, run.number)
    await removeRunFolders(options.workdir, row.id, run.number)
    const before = await appliedResult(database, row.id)
    if (before !== null) return before
    const { checkpointMs: everyMs = CHECKPOINT_MS } = options
    const checkpoint = await RunCheckpoint.open(database, current, { everyMs, version: task.version })
    try {
      const result = await runTask(options.shards, task, row, input, {
        run: current,
        attempt,
        project: {
          ref: row.project_ref,
          database: database.withSignal(signal),
          store: tracedCalls('storage', project.store.withSignal(signal)),
        },
        signal,
        logger,
        fetch: options.fetch,
        workdir,
        checkpoint,
        progress: (step) => progress.report(step),
      })
      if (result === WAITS) return result
      await dropStaging(database, row.id).catch(ignore)
      return result
    } catch (thrown) {
      const error = await withFigures(thrown, workdir)
      // A cancellation during the commit of the effect is too late.
      const applied = await appliedResult(database, row.id)
      if (applied !== null) return applied
      const ending = endingOf(toShowable(signal.aborted ? signal.reason : error), attempt)
      // Another run continues from the checkpoint and its tables.
      if (checkpoint.isThere && ending !== 'failed') throw error
      await checkpoint.drop()
      await dropStaging(database, row.id, { of: current })
      // When the job is run again, its shards keep filling the shared table.
      if (ending === 'failed') await dropCollection(database, current).catch(ignore)
      throw error
    }
  } finally {
    await opened?.[Symbol.asyncDispose]()
    await rm(workdir, { recursive: true, force: true })
  }
}

/** Adds the free space to an error of a full disk, measured after the job's files are deleted; returns any other error unchanged. */
async function withFigures(thrown: unknown, workdir: string): Promise<unknown> {
  if (toShowable(thrown).code !== 'DISK_FULL') return thrown
  await rm(workdir, { recursive: true, force: true })
  const folder = dirname(workdir)
  const disk = await statfs(folder).catch(() => null)
  if (disk === null) return thrown
  return toShowable(thrown, { folder, freeBytes: disk.bavail * disk.bsize, totalBytes: disk.blocks * disk.bsize })
}

function ignore(): void {}
