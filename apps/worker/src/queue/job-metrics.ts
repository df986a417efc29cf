import { Counter, Gauge, Histogram, onScrape, type Registry } from '@terrane/service'
import type { Database } from '@terrane/database'

/** A job that has ended. */
export interface JobEnd {
  readonly task: string
  /** `success`, or the code of its error. */
  readonly code: string
  /** From the request to the first run; null of a job that never ran. */
  readonly waitSeconds: number | null
  readonly runSeconds: number | null
}

/** Listener for the ends of jobs, and for runs that will be repeated. */
export interface JobObserver {
  ended(end: JobEnd): void
  again(task: string, reason: string): void
}

const WAIT_BUCKETS = [1, 5, 15, 60, 300, 1800, 7200]
const RUN_BUCKETS = [1, 5, 15, 60, 300, 1800, 7200, 43_200]

/** Codes and reasons of alerts. They start at 0: Prometheus sees no increase in a counter that starts at 1. */
const FROM_ZERO = {
  codes: ['success', 'INTERNAL', 'worker_lost', 'timed_out'],
  reasons: ['retry', 'lost', 'handed_over'],
}

/** Counts the outcomes of jobs on this worker. */
export function countJobs(registry: Registry, tasks: readonly string[]): JobObserver {
  const registers = [registry]
  const ends = new Counter({
    name: 'terrane_job_ends_total',
    help: 'Jobs that ended, by success or the code of the error.',
    labelNames: ['task', 'code'],
    registers,
  })
  const again = new Counter({
    name: 'terrane_job_retries_total',
    help: 'Runs of jobs that are made again: retry, lost, handed_over.',
    labelNames: ['task', 'reason'],
    registers,
  })
  const waits = new Histogram({
    name: 'terrane_job_wait_seconds',
    help: 'Time from the request of a job to its first run.',
    labelNames: ['task'],
    buckets: WAIT_BUCKETS,
    registers,
  })
  const runs = new Histogram({
    name: 'terrane_job_run_seconds',
    help: 'Time from the last start of a job to its end.',
    labelNames: ['task'],
    buckets: RUN_BUCKETS,
    registers,
  })
  for (const task of tasks) {
    for (const code of FROM_ZERO.codes) ends.inc({ task, code }, 0)
    for (const reason of FROM_ZERO.reasons) again.inc({ task, reason }, 0)
  }
  return {
    ended({ task, code, waitSeconds, runSeconds }) {
      ends.inc({ task, code })
      if (waitSeconds !== null) waits.observe({ task }, waitSeconds)
      if (runSeconds !== null) runs.observe({ task }, runSeconds)
    },
    again: (task, reason) => again.inc({ task, reason }),
  }
}

/** Counts delivered and failed messages of webhooks. */
export function countAttempts(registry: Registry): (isDelivered: boolean) => void {
  const attempts = new Counter({
    name: 'terrane_webhook_attempts_total',
    help: 'Messages to webhooks, by outcome: delivered, failed.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of ['delivered', 'failed']) attempts.inc({ outcome }, 0)
  return (isDelivered) => attempts.inc({ outcome: isDelivered ? 'delivered' : 'failed' })
}

interface Load {
  load(): Promise<readonly { task: string; status: 'pending' | 'running'; jobs: number }[]>
}

/** Shows open jobs, late schedules and the age of the last backup, from the database: the same for every worker. */
export function showQueues(registry: Registry, database: Database, store: Load, tasks: readonly string[]): void {
  const registers = [registry]
  const jobs = new Gauge({
    name: 'terrane_jobs',
    help: 'Jobs that have not ended, over all workers.',
    labelNames: ['task', 'state'],
    registers,
  })
  onScrape(jobs, async () => {
    const load = await store.load()
    for (const task of tasks) {
      for (const state of ['pending', 'running'] as const) {
        const found = load.find((entry) => entry.task === task && entry.status === state)
        jobs.set({ task, state }, found?.jobs ?? 0)
      }
    }
  })
  const late = new Gauge({
    name: 'terrane_schedules_late_seconds',
    help: 'Time by which the longest waiting schedule is overdue.',
    registers,
  })
  const backup = new Gauge({
    name: 'terrane_backup_age_seconds',
    help: 'Time since the last backup ended; absent where none was made by terrane backup.',
    labelNames: ['place'],
    registers,
  })
  onScrape(late, async () => {
    const { rows } = await database.query<{ late: number; place: string | null; age: number | null }>(
      `select (select coalesce(extract(epoch from clock_timestamp() - min(next_at)), 0)::float8 from terrane.schedules
           where next_at < clock_timestamp() and not paused) as late,
         b.place, extract(epoch from clock_timestamp() - b.ended_at)::float8 as age
       from (select 1) one left join lateral (select * from terrane.backups order by ended_at desc limit 1) b on true`,
    )
    const [row] = rows
    late.set(Math.max(0, row?.late ?? 0))
    backup.reset()
    if (row?.place != null) backup.set({ place: row.place }, row.age ?? 0)
  })
}
