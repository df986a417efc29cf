import type { Scrapes, Series } from './evaluate.ts'

/** Half an hour without a fault, then an hour with it; one sample per 30 seconds. */
export const CALM_SECONDS = 1800
export const END = CALM_SECONDS + 3600
export const STEP = 30

type Course = (seconds: number) => number
/** One value before the fault and another one during it. */
const steps =
  (calm: number, fault: number): Course =>
  (t) =>
    t < CALM_SECONDS ? calm : fault
/** A counter that grows by this number per minute. */
const grows =
  (calm: number, fault: number): Course =>
  (t) =>
    (Math.min(t, CALM_SECONDS) * calm + Math.max(0, t - CALM_SECONDS) * fault) / 60
/** A counter that stays at zero until the fault. */
const jumps =
  (to: number): Course =>
  (t) =>
    t < CALM_SECONDS + 60 ? 0 : to

const series = (labels: Readonly<Record<string, string>>, course: Course): Series => ({
  labels: { job: labels['app'] ?? 'worker', instance: '10.0.0.1:9464', ...labels },
  samples: Array.from({ length: END / STEP + 1 }, (_, i) => [i * STEP, course(i * STEP)] as const),
})

/** Every alert that can be evaluated here, with a fault that fires it, in the metrics of the apps. */
export const FAULTS: Readonly<
  Record<string, { readonly scrapes: Scrapes; readonly names: Readonly<Record<string, string>> }>
> = {
  TerraneAppDown: {
    scrapes: { up: [series({ app: 'origin' }, steps(1, 0)), series({ app: 'worker' }, steps(1, 1))] },
    names: { job: 'origin' },
  },
  TerraneNotReady: {
    scrapes: {
      terrane_ready: [
        series({ app: 'origin', check: 'database' }, steps(1, 1)),
        series({ app: 'origin', check: 'storage' }, steps(1, 0)),
        // A router that builds its first graph has no fault.
        series({ app: 'router', check: 'graph' }, steps(1, 0.5)),
      ],
    },
    names: { app: 'origin', check: 'storage' },
  },
  TerraneAnswersErrors: {
    scrapes: {
      http_request_duration_seconds_count: [
        series({ app: 'origin', status: '200' }, grows(600, 600)),
        series({ app: 'origin', status: '404' }, grows(60, 60)),
        series({ app: 'origin', status: '503' }, grows(1, 300)),
      ],
    },
    names: { app: 'origin' },
  },
  TerraneEventLoopLags: {
    scrapes: { nodejs_eventloop_lag_p99_seconds: [series({ app: 'worker' }, steps(0.01, 2))] },
    names: { app: 'worker' },
  },
  TerraneDescriptorsRunOut: {
    scrapes: {
      process_open_fds: [series({ app: 'origin' }, steps(100, 900))],
      process_max_fds: [series({ app: 'origin' }, steps(1024, 1024))],
    },
    names: { app: 'origin' },
  },
  TerraneJobsFail: {
    scrapes: {
      terrane_job_ends_total: [
        series({ app: 'worker', task: 't', code: 'success' }, grows(1, 0)),
        series({ app: 'worker', task: 't', code: 'VALIDATION_FAILED' }, grows(5, 5)),
        series({ app: 'worker', task: 't', code: 'STORAGE_UNAVAILABLE' }, jumps(3)),
      ],
    },
    names: { task: 't', code: 'STORAGE_UNAVAILABLE' },
  },
  TerraneWorkersLost: {
    scrapes: {
      terrane_job_retries_total: [
        series({ app: 'worker', task: 't', reason: 'lost' }, jumps(1)),
        series({ app: 'worker', task: 't', reason: 'handed_over' }, grows(1, 1)),
      ],
    },
    names: { task: 't' },
  },
  TerraneSchedulesLate: {
    scrapes: { terrane_schedules_late_seconds: [series({ app: 'worker' }, (t) => Math.max(1, t - CALM_SECONDS))] },
    names: {},
  },
  TerraneWebhooksFail: {
    scrapes: {
      terrane_webhook_attempts_total: [
        series({ app: 'worker', outcome: 'delivered' }, grows(2, 0)),
        series({ app: 'worker', outcome: 'failed' }, grows(0, 5)),
      ],
    },
    names: {},
  },
  TerraneEventsDie: {
    scrapes: {
      terrane_event_attempts_total: [
        series({ app: 'worker', outcome: 'failed' }, grows(1, 1)),
        series({ app: 'worker', outcome: 'dead' }, jumps(1)),
      ],
    },
    names: {},
  },
  TerraneDatabaseConnectionsRunOut: {
    scrapes: { terrane_database_connections: [series({ app: 'worker', state: 'waiting' }, steps(3, 40))] },
    names: { app: 'worker' },
  },
  TerraneStorageFails: {
    scrapes: {
      terrane_storage_seconds_count: [
        series({ app: 'origin', operation: 'get', outcome: 'ok' }, grows(60, 0)),
        series({ app: 'origin', operation: 'get', outcome: 'failed' }, grows(0, 60)),
      ],
    },
    names: { app: 'origin' },
  },
  TerraneDiskFills: {
    scrapes: {
      terrane_disk_free_bytes: [series({ app: 'worker', folder: 'work' }, steps(50e9, 2e9))],
      terrane_disk_size_bytes: [series({ app: 'worker', folder: 'work' }, steps(100e9, 100e9))],
    },
    names: { app: 'worker', folder: 'work' },
  },
  TerraneBackupOld: {
    scrapes: { terrane_backup_age_seconds: [series({ app: 'worker', place: 's3' }, steps(80_000, 180_000))] },
    names: {},
  },
  TerraneMetricsOld: {
    scrapes: { terrane_metric_age_seconds: [series({ app: 'worker', metric: 'terrane_jobs' }, (t) => Math.max(0, t - CALM_SECONDS))] }, // prettier-ignore
    names: { app: 'worker', metric: 'terrane_jobs' },
  },
  TerraneJobsStandStill: {
    scrapes: {
      terrane_jobs: [
        series({ app: 'worker', task: 't', state: 'pending' }, steps(0, 20)),
        series({ app: 'worker', task: 't', state: 'running' }, steps(1, 0)),
        // A task with more jobs than places is busy.
        series({ app: 'worker', task: 'busy', state: 'pending' }, steps(30, 30)),
        series({ app: 'worker', task: 'busy', state: 'running' }, steps(2, 2)),
      ],
    },
    names: { task: 't' },
  },
  TerraneJobsPileUp: {
    scrapes: {
      terrane_jobs: [
        series({ app: 'worker', task: 't', state: 'pending' }, (t) => 10 + Math.max(0, t - CALM_SECONDS) / 10),
        series({ app: 'worker', task: 't', state: 'running' }, steps(2, 2)),
        // A long queue that is being processed is not a fault.
        series({ app: 'worker', task: 'shrinks', state: 'pending' }, (t) => 900 - t / 10),
        series({ app: 'worker', task: 'shrinks', state: 'running' }, steps(2, 2)),
      ],
    },
    names: { task: 't' },
  },
  TerraneGraphFails: {
    scrapes: { routing_graphs_total: [series({ app: 'router', outcome: 'failed' }, jumps(1))] },
    names: {},
  },
  TerraneRoutesWait: {
    scrapes: { routing_waiting_requests: [series({ app: 'router' }, steps(0, 500))] },
    names: {},
  },
  TerraneThreadsLost: {
    scrapes: { routing_threads_lost_total: [series({ app: 'router', reason: 'crash' }, grows(0, 2))] },
    names: { reason: 'crash' },
  },
  TerraneFunctionsKilled: {
    scrapes: { terrane_function_exits_total: [series({ project: 'p', function: 'f', reason: 'memory' }, grows(0, 1))] }, // prettier-ignore
    names: { project: 'p', function: 'f', reason: 'memory' },
  },
  TerraneFunctionsDoNotStart: {
    scrapes: { terrane_function_boot_failures_total: [series({ project: 'p', function: 'f' }, jumps(1))] },
    names: { project: 'p', function: 'f' },
  },
  TerraneFunctionsUnbuilt: {
    scrapes: { terrane_function_unbuilt: [series({ project: 'p', function: 'f', reason: 'imports' }, steps(0, 1))] },
    names: { project: 'p', function: 'f', reason: 'imports' },
  },
  TerraneFunctionCallsWait: {
    scrapes: { terrane_function_calls_queued: [series({ app: 'functions' }, steps(0, 50))] },
    names: {},
  },
}
