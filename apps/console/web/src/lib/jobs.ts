import type { EmbeddingsResult, Job, JobWarning } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { formatNumber } from './format.ts'
import { get, projectPath, request } from './api.ts'

export type { Job } from '@terrane/contracts'

type EmbeddingSources = NonNullable<EmbeddingsResult['sources']>

/** A page of one task's jobs, newest first. */
export interface JobPage {
  readonly data: readonly Job[]
  readonly next_cursor: string | null
}

export function readJobs(
  ref: string,
  task: string,
  options: { status?: string; cursor?: string | null; limit?: number },
  signal?: AbortSignal,
): Promise<JobPage> {
  const query = new URLSearchParams({ limit: String(options.limit ?? 20) })
  if (options.status) query.set('status', options.status)
  if (options.cursor) query.set('cursor', options.cursor)
  return get(projectPath(ref, `/jobs/${encodeURIComponent(task)}?${query}`), signal)
}

export function submitJob(ref: string, task: string, body: unknown): Promise<Job> {
  return request('POST', projectPath(ref, `/jobs/${encodeURIComponent(task)}`), body)
}

/** Interval of looks for the end of a job. */
const LOOK_MS = 500

/** Waits until a job has succeeded. @throws the error of a job that failed or was cancelled */
export async function endOfJob(ref: string, begun: Job, signal: AbortSignal): Promise<Job> {
  const path = projectPath(ref, `/jobs/${encodeURIComponent(begun.taskName)}/${begun.job_id}`)
  let job = begun
  while (!job.terminal) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    job = await get<Job>(path, signal)
  }
  if (job.status === 'success') return job
  const { code = 'JOB_FAILED', message = 'The job failed', hint, details } = job.error ?? {}
  throw new TerraneError(code, 'invalid', message, { ...(hint && { hint }), ...(details && { details }) })
}

export function cancelJob(ref: string, job: Job): Promise<Job> {
  return request('DELETE', projectPath(ref, `/jobs/${encodeURIComponent(job.taskName)}/${job.job_id}`))
}

/** Queues a failed job's request again; returns a new job. */
export function retryJob(ref: string, job: Job): Promise<Job> {
  return request('POST', projectPath(ref, `/jobs/${encodeURIComponent(job.taskName)}/${job.job_id}/retry`))
}

/** State of a job for display. A cancelled job is `failed` in the record. */
export function jobState(job: Job): 'pending' | 'running' | 'success' | 'failed' | 'cancelled' {
  return job.status === 'failed' && job.error?.code === 'cancelled' ? 'cancelled' : job.status
}

/** The warnings of a job's result. The page adds one for a job that made tables without rows and has no warning. */
export function jobWarnings({ status, result }: Job): readonly JobWarning[] {
  if (status !== 'success' || result === null) return []
  const told = Array.isArray(result['warnings']) ? (result['warnings'] as JobWarning[]) : []
  return told.length === 0 && madeNothing(result) ? [NOTHING_MADE] : told
}

const NOTHING_MADE: JobWarning = {
  code: 'NOTHING_MADE',
  message: 'No rows were created: the source has no data that matches the request.',
}

function madeNothing({ tables, rows }: Readonly<Record<string, unknown>>): boolean {
  if (Array.isArray(tables) && tables.length > 0)
    return tables.every((table) => (table as { rows?: number }).rows === 0)
  return rows === 0
}

/** Outcome for the files of a job that made one table of many files. */
export interface JobSources {
  /** Summary of the outcome in a sentence. */
  readonly said: string
  readonly failures: readonly { readonly name: string; readonly message: string }[]
  /** Number of failures that the result does not name. */
  readonly unnamed: number
}

/** Null for a job with a single file. */
export function jobSources({ result }: Job): JobSources | null {
  const sources = result?.['sources'] as Partial<EmbeddingSources> | undefined
  if (typeof sources?.total !== 'number') return null
  const { total, done = 0, unchanged = 0, failed = 0, failures = [] } = sources
  const parts = [
    `${formatNumber(done)} of ${total === 1 ? 'one file' : `${formatNumber(total)} files`} embedded`,
    ...(unchanged > 0 ? [`${formatNumber(unchanged)} unchanged since they were embedded before`] : []),
    ...(failed > 0 ? [`${formatNumber(failed)} failed`] : []),
  ]
  return { said: `${parts.join(', ')}.`, failures, unnamed: failed - failures.length }
}

/** Short name of a job: a name from its input, the name of a shard's file, or the beginning of its id. */
export function jobSubject(job: Job): string {
  const { input } = job
  for (const name of ['tableName', 'table', 'areaName', 'tablePrefix']) {
    const value = input[name]
    if (typeof value === 'string' && value !== '') return value
  }
  const part = input['shard'] as { readonly name?: string } | undefined
  return part?.name ?? job.job_id.slice(0, 8)
}

/** Seconds a job has been running, or ran. */
export function jobSeconds(job: Job, now = Date.now()): number | null {
  if (job.started_at === null) return null
  const end = job.finished_at === null ? now : new Date(job.finished_at).getTime()
  return Math.max(0, (end - new Date(job.started_at).getTime()) / 1000)
}
