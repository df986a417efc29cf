import { JobFailed, TerraneProblem } from './errors.ts'
import type { AnyJob, InputOf, JobOf, JobProgress, ResultOf, TaskName } from './tasks.ts'

/** Sends a request to the worker. @throws TerraneProblem when it is refused */
export type Ask = (method: string, path: string, options?: AskOptions) => Promise<unknown>

/** A request's parts besides method and path. */
export interface AskOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export interface SubmitOptions {
  /** The same key and input within 24 hours give the same job. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export interface RunOptions extends SubmitOptions {
  /** Called when the record of the job has changed and states progress. */
  readonly onProgress?: (progress: JobProgress, job: AnyJob) => void
}

export interface ListOptions {
  readonly status?: AnyJob['status']
  readonly limit?: number
  readonly cursor?: string
}

/** The jobs of a project. Every call throws `TerraneProblem` when the worker refuses it. */
export interface JobsClient {
  /** Queues a job, waits for its end and gives the result. An abort cancels the job. @throws JobFailed, the signal's reason */
  run<Name extends TaskName>(task: Name, input: InputOf<Name>, options?: RunOptions): Promise<ResultOf<Name>>
  /** Queues a job. */
  submit<Name extends TaskName>(task: Name, input: InputOf<Name>, options?: SubmitOptions): Promise<JobOf<Name>>
  /** Waits for the end of a job. An abort ends the waiting and leaves the job. @throws JobFailed, the signal's reason */
  wait<Name extends TaskName>(task: Name, id: string, options?: RunOptions): Promise<ResultOf<Name>>
  get<Name extends TaskName>(task: Name, id: string): Promise<JobOf<Name>>
  list<Name extends TaskName>(
    task: Name,
    options?: ListOptions,
  ): Promise<{ readonly data: readonly JobOf<Name>[]; readonly next_cursor: string | null }>
  cancel<Name extends TaskName>(task: Name, id: string): Promise<JobOf<Name>>
  /** Queues the request of a failed job again, as a new job. */
  retry<Name extends TaskName>(task: Name, id: string): Promise<JobOf<Name>>
}

/** Milliseconds between polls of a job: the first interval, which grows to the longest. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 2000
/** Number of failed polls in a row after which waiting ends: a worker needs less time to restart. */
const MOST_FAILED_LOOKS = 30

export function makeJobs(ask: Ask, projectRef: string | undefined): JobsClient {
  const jobs: JobsClient = {
    async run(task, input, options = {}) {
      const { id } = await jobs.submit(task, input, options)
      try {
        return await jobs.wait(task, id, options)
      } catch (error) {
        if (options.signal?.aborted) await jobs.cancel(task, id)
        throw error
      }
    },
    submit: (task, input, { idempotencyKey, signal } = {}) =>
      ask('POST', `/jobs/${task}`, {
        body: projectRef === undefined ? input : { projectTarget: { projectRef }, ...input },
        ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
        signal,
      }) as never,
    async wait(task, id, { onProgress, signal } = {}) {
      let wait = FIRST_WAIT_MS
      let failed = 0
      let seen = ''
      for (;;) {
        try {
          const job = (await ask('GET', pathOf(task, id), { signal })) as AnyJob
          failed = 0
          if (job.progress && job.updated_at !== seen) onProgress?.(job.progress, job)
          seen = job.updated_at
          if (job.status === 'success') return job.result as never
          if (job.status === 'failed') throw new JobFailed(job)
        } catch (error) {
          signal?.throwIfAborted()
          if (!isPassing(error) || ++failed > MOST_FAILED_LOOKS) throw error
        }
        await pause(wait, signal)
        wait = Math.min(wait * 1.5, LONGEST_WAIT_MS)
      }
    },
    get: (task, id) => ask('GET', pathOf(task, id)) as never,
    list: (task, options = {}) => ask('GET', `/jobs/${task}`, { query: { ...options } }) as never,
    cancel: (task, id) => ask('DELETE', pathOf(task, id)) as never,
    retry: (task, id) => ask('POST', `${pathOf(task, id)}/retry`) as never,
  }
  return jobs
}

function pathOf(task: string, id: string): string {
  return `/jobs/${task}/${encodeURIComponent(id)}`
}

/** True when the worker is unreachable, busy or restarting; the job continues meanwhile. */
function isPassing(error: unknown): boolean {
  if (error instanceof TerraneProblem) return error.status === 429 || error.status >= 500
  return error instanceof TypeError
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      if (signal?.aborted) reject(signal.reason as Error)
      else resolve()
    }
  })
}
