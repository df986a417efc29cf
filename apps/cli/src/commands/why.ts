import type { AnyJob } from '@terrane/client'
import { ask, type Connection } from '../connection.ts'
import { ofProject, readLog, type LogLine } from './job-log.ts'

/** Events of a job's log that explain why it is not done yet. */
const DELAYS = new Set(['retry', 'lost', 'handed_over'])

/** Explains the state of a job in lines of text, with a remedy. */
export async function reasonOf(connection: Connection, job: AnyJob): Promise<string[]> {
  if (job.status === 'success') return ['It has succeeded.']
  if (job.status === 'failed') return failure(job)
  const attempt = `attempt ${job.attempt} of ${job.max_attempts}`
  const delay = (await readLog(connection, job.taskName, job.id)).findLast(({ event }) => DELAYS.has(event))
  const past = delay === undefined ? [] : [`Before, at ${delay.at}: ${said(delay)}`]
  if (job.status === 'running') {
    const stopping = job.cancel_requested ? ['Its cancellation was requested.'] : []
    return [`It runs, ${attempt}: ${job.progress?.message ?? 'it has just begun'}.`, ...stopping, ...past]
  }
  return [...(await waiting(connection, job)), ...past]
}

/** The reason why a job in the queue waits. */
async function waiting(connection: Connection, job: AnyJob): Promise<string[]> {
  const list = (status: string) =>
    ask(
      connection,
      `/worker/jobs/${job.taskName}?status=${status}&order=created_at.asc&limit=100${ofProject(connection)}`,
    ) as Promise<{ data: readonly AnyJob[] }>
  const [ahead, running, capacity] = await Promise.all([
    list('pending'),
    list('running'),
    ask(connection, `/worker/capacity?${ofProject(connection)}`) as Promise<{ queued: number; running: number }>,
  ])
  const place = ahead.data.findIndex(({ id }) => id === job.id)
  const before = place < 0 ? `${ahead.data.length} or more` : String(place)
  const lines = [
    job.attempt === 0
      ? `It has been queued since ${job.created_at}.`
      : `It waits for its next attempt: ${job.attempt} of ${job.max_attempts} attempts are used. The next attempt starts within a minute, if a worker is free.`,
    `Of this project's jobs of ${job.taskName}, ${before} are ahead of it and ${running.data.length} run; over all tasks and projects ${capacity.queued} wait and ${capacity.running} run.`,
  ]
  if (running.data.length > 0)
    return [
      ...lines,
      'A project runs at most TERRANE_PROJECT_CONCURRENCY jobs of a task at once, so it waits for these.',
    ]
  if (capacity.running > 0) return [...lines, 'Workers are busy with other jobs: it waits for a free worker.']
  return [...lines, 'No job is running. `terrane doctor` checks that a worker runs.']
}

function failure(job: AnyJob): string[] {
  const { code, message, hint, details, retryable } = job.error ?? { code: 'failed', message: 'It has failed' }
  const lines = [
    `${code}: ${message}`,
    job.attempt > 1 && `It was tried ${job.attempt} times.`,
    details,
    hint,
    retryable && `A retry may succeed: terrane jobs retry ${job.id}`,
  ]
  return lines.filter((line) => typeof line === 'string')
}

function said({ code, message }: LogLine): string {
  return code ? `${code}: ${message}` : message
}
