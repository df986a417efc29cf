import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { appliedResult, dropStaging } from '@terrane/database'
import type { GuardedFetch, Logger } from '@terrane/service'
import type { Task } from '../jobs/task.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import type { JobRow } from './job-store.ts'
import type { ProgressWriter } from './progress-writer.ts'

/** What every run of a task is given. */
export interface ExecuteOptions {
  readonly projects: ProjectDirectory
  readonly fetch: GuardedFetch
  readonly workdir: string
}

/** Runs a task in its folder and project, and cleans both up. A job that took effect before is not run again. */
export async function execute(
  options: ExecuteOptions,
  task: Task,
  row: JobRow,
  run: {
    readonly attempt: number
    readonly signal: AbortSignal
    readonly logger: Logger
    readonly progress: ProgressWriter
  },
): Promise<unknown> {
  const { attempt, signal, logger, progress } = run
  const workdir = join(options.workdir, row.id)
  await rm(workdir, { recursive: true, force: true })
  await mkdir(workdir)
  let opened: OpenProject | null = null
  try {
    const { input, project } = await options.projects.open(row)
    opened = project
    const database = project.database
    const before = await appliedResult(database, row.id)
    if (before !== null) return before
    await dropStaging(database, row.id)
    try {
      return await task.run(input, {
        jobId: row.id,
        attempt,
        project: {
          ref: row.project_ref,
          database: database.withSignal(signal),
          store: project.store.withSignal(signal),
        },
        signal,
        logger,
        fetch: options.fetch,
        workdir,
        progress: (step) => progress.report(step),
      })
    } catch (error) {
      // A cancellation that came while the effect was being committed came too late.
      const applied = await appliedResult(database, row.id)
      if (applied !== null) return applied
      if (!isLost(signal)) await dropStaging(database, row.id)
      throw error
    }
  } finally {
    await opened?.[Symbol.asyncDispose]()
    if (!isLost(signal)) await rm(workdir, { recursive: true, force: true })
  }
}

/** Another worker runs the job by now: staging tables and folder are its own. */
function isLost({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as { code?: unknown }).code === 'worker_lost'
}
