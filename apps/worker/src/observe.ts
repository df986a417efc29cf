import { resolve } from 'node:path'
import type { Database } from '@terrane/database'
import { Gauge, onScrape, showDisks, showPool, type Registry } from '@terrane/service'
import type { WorkerConfig } from './config.ts'
import type { Task } from './jobs/task.ts'
import { showQueues } from './queue/job-metrics.ts'
import type { JobStore } from './queue/job-store.ts'
import type { Runner } from './queue/runner.ts'

interface Observed {
  readonly registry: Registry
  readonly database: Database
  readonly store: JobStore
  readonly runner: Runner
  readonly tasks: readonly Task[]
}

/** Metrics of queues, connections, disks and running jobs. */
export function observe(config: WorkerConfig, { registry, database, store, runner, tasks }: Observed): void {
  showQueues(registry, database, store, tasks.map(({ name }) => name)) // prettier-ignore
  showPool(registry, () => database.connections())
  showDisks(registry, { work: resolve(config.TERRANE_WORK_DIR), cache: resolve(config.TERRANE_CACHE_DIR) })
  const here = new Gauge({
    name: 'terrane_jobs_running_here',
    help: 'Jobs that this process runs now.',
    registers: [registry],
  })
  onScrape(here, () => here.set(runner.running))
}
