import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { Projects, mergeCredentials, registerLocal } from '@terrane/control'
import { migrate, openDatabase, type Database } from '@terrane/database'
import { splitList } from '@terrane/core'
import {
  checkUrl,
  createGuardedFetch,
  createLogger,
  createRegistry,
  createSealer,
  deriveSecretsKey,
  onScrape,
  parseSecretsKey,
  resolvePublicHost,
  showDisks,
  showPool,
  showStorageCalls,
  tracedFetch,
  Gauge,
  type Logger,
  type Registry,
  type Sealer,
  readEdge,
} from '@terrane/service'
import { observeStore, openStore } from '@terrane/storage'
import type { AppDeps } from './app.ts'
import type { WorkerConfig } from './config.ts'
import { secretsKeyMissing } from './errors.ts'
import { openDoor } from './keys.ts'
import type { Task } from './jobs/task.ts'
import { QueryEmbedder } from './embed/query-embedder.ts'
import { FileInspector } from './inspect/file-inspector.ts'
import { engineOf, makeTasks, openModels } from './jobs/tasks.ts'
import { Geocoder } from './places/geocoder.ts'
import { localProject } from './projects/local-project.ts'
import type { ProjectDirectory } from './projects/project-directory.ts'
import { sharedProjects, storeCache } from './projects/shared-projects.ts'
import { startBoss } from './queue/boss.ts'
import { EventHub } from './queue/event-hub.ts'
import { countAttempts, countJobs, showQueues } from './queue/job-metrics.ts'
import { JobStore } from './queue/job-store.ts'
import { ensureQueue } from './queue/queues.ts'
import { Runner } from './queue/runner.ts'
import { Submitter } from './queue/submit.ts'
import { ScheduleStore } from './schedules/schedule-store.ts'
import { Scheduler } from './schedules/scheduler.ts'
import { WebhookStore } from './webhooks/webhook-store.ts'
import { Webhooks } from './webhooks/webhooks.ts'

/** The open worker; disposing of it closes everything in reverse order. */
export interface Deps extends AppDeps, AsyncDisposable {
  /** Gives running jobs the time to end, then hands them over. */
  drain(budgetMs: number): Promise<void>
}

/**
 * Opens the database, the queue, the runner and what the tasks need.
 *
 * @param overrides tasks instead of the real ones, and how often they keep checkpoints, for tests of the machinery
 */
export async function openDeps(
  config: WorkerConfig,
  overrides: { tasks?: readonly Task[]; checkpointMs?: number } = {},
): Promise<Deps> {
  await using opening = new AsyncDisposableStack()
  const logger = createLogger({ name: 'worker', level: config.LOG_LEVEL })
  const registry = createRegistry('worker')
  const onError = (error: Error) => logger.warn({ err: error }, 'database connection lost')
  const database = opening.use(
    await openDatabase({
      url: config.DATABASE_URL,
      max: config.DATABASE_POOL_SIZE,
      applicationName: 'terrane worker',
      onError,
    }),
  )
  const applied = await migrate(database, config.TERRANE_MODE === 'local' ? ['control', 'project'] : ['control'])
  if (applied.length > 0) logger.info({ applied }, 'migrated')

  const sealer = createSealer(secretsKey(config))
  const policy = {
    allowHosts: splitList(config.TERRANE_FETCH_ALLOW_HOSTS),
    allowHttp: config.TERRANE_FETCH_ALLOW_HTTP,
    userAgent: 'Terrane (+https://github.com/terrane)',
  }
  const fetch = tracedFetch(createGuardedFetch(policy))
  const onStorageCall = showStorageCalls(registry)
  const storeOf = storeCache((setting, aws) => observeStore(openStore(setting, aws), onStorageCall), config)
  const projects = await openProjects(config, database, sealer, storeOf, fetch, onError, policy, logger)
  const door = opening.use(openDoor(config, database, logger))
  const geocoder = new Geocoder({
    url: config.TERRANE_GEOCODER_URL,
    cacheFolder: join(resolve(config.TERRANE_CACHE_DIR), 'geocoder'),
  })
  const onClose = (close: () => Promise<void>) => opening.defer(close)
  const models = await openModels(config, fetch, onClose)
  const queries = new QueryEmbedder({ ...models, workdir: resolve(config.TERRANE_WORK_DIR) })
  onClose(() => queries.close())
  const inspector = new FileInspector({ engine: engineOf(config), fetch, workdir: resolve(config.TERRANE_WORK_DIR) })
  const tasks = overrides.tasks ?? makeTasks(config, { fetch, geocoder, models })

  const boss = await startBoss(database, logger)
  opening.defer(() => boss.stop({ graceful: false, close: false }))
  for (const task of tasks) await ensureQueue(boss, task)
  const hooks = new WebhookStore(database)
  const webhooks = new Webhooks({ boss, store: hooks, fetch, sealer, logger, onAttempt: countAttempts(registry) })
  await webhooks.open()
  const store = new JobStore(
    database,
    webhooks,
    countJobs(
      registry,
      tasks.map(({ name }) => name),
    ),
  )
  const queueing = { boss, database, store, sealer, onEnqueued: (task: string) => runner.nudge(task) }
  const submitter = new Submitter(queueing)
  const schedules = new ScheduleStore(database)
  const checkAddress: AppDeps['checkUrl'] = (url, path) => checkUrl(url, path, policy)
  const scheduling = { database, schedules, submitter, projects, tasks, sealer, logger, checkUrl: checkAddress }
  const runner: Runner = new Runner({
    boss,
    database,
    store,
    tasks,
    projects,
    shards: queueing,
    fetch,
    logger,
    workdir: resolve(config.TERRANE_WORK_DIR),
    scheduler: new Scheduler(scheduling),
    ...(overrides.checkpointMs !== undefined && { checkpointMs: overrides.checkpointMs }),
    concurrency: config.TERRANE_WORKER_CONCURRENCY,
    projectConcurrency: config.TERRANE_PROJECT_CONCURRENCY,
    retentionDays: config.jobRetentionDays,
    workerId: `${hostname()}:${config.PORT}`,
  })
  const runs = config.TERRANE_WORKER_CONCURRENCY > 0
  let drained: Promise<unknown> | null = null
  const drain = async (budgetMs: number) => {
    drained ??= Promise.all([runner.stop(budgetMs), webhooks.stop()])
    await drained
  }
  if (runs) {
    await Promise.all([runner.start(), webhooks.start()])
    // A drain that has run out of its time goes on: jobs are handed over before the pool closes.
    onClose(() => drain(0).catch((error: unknown) => logger.warn({ err: error }, 'jobs were not handed over')))
  }
  observe(registry, { database, store, runner }, tasks, {
    work: resolve(config.TERRANE_WORK_DIR),
    cache: resolve(config.TERRANE_CACHE_DIR),
  })

  const all = opening.move()
  return {
    logger,
    registry,
    edge: readEdge(config),
    verify: door.verify,
    projects,
    tasks,
    store,
    submitter,
    schedules,
    webhooks: hooks,
    sealer,
    leastScheduleSeconds: config.minScheduleMinutes * 60,
    events: new EventHub(store, logger),
    checkUrl: checkAddress,
    queries,
    inspector,
    findPlace: (lookUp) => geocoder.find({ ...lookUp, fetch }),
    limits: {
      maxH3Cells: config.maxH3Cells,
      maxGeoPatches: config.GEOEMBEDDINGS_MAX_TILES,
      maxGeotiffBytes: config.GEOEMBEDDINGS_MAX_GEOTIFF_BYTES,
      maxAoiKm2: config.maxAreaKm2,
      workers: config.TERRANE_WORKER_CONCURRENCY,
    },
    readiness: {
      database: () => database.query('select 1'),
      storage: () => storeOf(config.TERRANE_STORAGE).ready(),
      lanes: async () => runner.checkLanes(),
    },
    onCancel: () => runner.lookForCancellations(),
    bodyLimit: config.bodyLimitBytes,
    drain: async (budgetMs) => {
      if (runs) await drain(budgetMs)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function openProjects(
  config: WorkerConfig,
  database: Database,
  sealer: Sealer,
  storeOf: ReturnType<typeof storeCache>,
  fetch: ReturnType<typeof createGuardedFetch>,
  onError: (error: Error) => void,
  policy: Parameters<typeof createGuardedFetch>[0],
  logger: Logger,
): Promise<ProjectDirectory> {
  if (config.TERRANE_MODE === 'local') {
    const { id, ref } = await registerLocal(
      database,
      {
        ref: config.TERRANE_PROJECT_REF,
        serviceRoleKey: config.TERRANE_SERVICE_ROLE_KEY,
        servicesKey: config.TERRANE_SERVICES_KEY,
      },
      logger,
    )
    return localProject({ ref, id, database, store: storeOf(config.TERRANE_STORAGE), sealer })
  }
  await mergeCredentials(database, sealer, (error) => logger.error({ err: error }, 'credentials cannot be opened'))
  return sharedProjects({
    projects: new Projects(database, sealer),
    sealer,
    allowTargets: config.TERRANE_ALLOW_PROJECT_TARGET,
    storage: config.TERRANE_STORAGE,
    storageOf: storeOf,
    fetch,
    resolveHost: (hostname_) => resolvePublicHost(hostname_, policy),
    onError,
  })
}

function secretsKey(config: WorkerConfig): Buffer {
  if (config.TERRANE_SECRETS_KEY) {
    const key = parseSecretsKey(config.TERRANE_SECRETS_KEY)
    if (key) return key
  } else if (config.TERRANE_MODE === 'local') {
    const secret = config.TERRANE_JWT_SECRET ?? config.TERRANE_SERVICE_ROLE_KEY
    if (secret) return deriveSecretsKey(secret)
  }
  throw secretsKeyMissing()
}

function observe(
  registry: Registry,
  { database, store, runner }: { readonly database: Database; readonly store: JobStore; readonly runner: Runner },
  tasks: readonly Task[],
  folders: Readonly<Record<string, string>>,
): void {
  showQueues(registry, database, store, tasks.map(({ name }) => name)) // prettier-ignore
  showPool(registry, () => database.connections())
  showDisks(registry, folders)
  const here = new Gauge({
    name: 'terrane_jobs_running_here',
    help: 'Jobs that this process runs now.',
    registers: [registry],
  })
  onScrape(here, () => here.set(runner.running))
}
