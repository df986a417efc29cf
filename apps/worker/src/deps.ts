import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { Projects, registerLocal } from '@terrane/control'
import { migrate, openDatabase } from '@terrane/database'
import { splitList } from '@terrane/core'
import {
  checkUrl,
  createGuardedFetch,
  createLogger,
  createRegistry,
  createSealer,
  readSecretsKey,
  resolvePublicHost,
  showStorageCalls,
  tracedFetch,
  type GuardedFetch,
  type Logger,
  readEdge,
} from '@terrane/service'
import { observeStore, openStore } from '@terrane/storage'
import type { AppDeps } from './app.ts'
import type { WorkerConfig } from './config.ts'
import { secretsKeyMissing } from './errors.ts'
import { openDoor } from './keys.ts'
import type { SubmitContext, Task } from './jobs/task.ts'
import { Caller } from './events/caller.ts'
import { FunctionLimits } from './events/function-limits.ts'
import { EventDeliverer } from './events/deliverer.ts'
import { countEvents } from './events/event-metrics.ts'
import { TableHookStore } from './events/table-hook-store.ts'
import { QueryEmbedder } from './embed/query-embedder.ts'
import { FileInspector } from './inspect/file-inspector.ts'
import { engineOf, makeTasks, openModels } from './jobs/tasks.ts'
import { observe } from './observe.ts'
import { Geocoder } from './places/geocoder.ts'
import { localProject } from './projects/local-project.ts'
import { SharedProjects, storeCache } from './projects/shared-projects.ts'
import { startBoss } from './queue/boss.ts'
import { EventHub } from './queue/event-hub.ts'
import { countAttempts, countJobs } from './queue/job-metrics.ts'
import { JobStore } from './queue/job-store.ts'
import { ensureQueue } from './queue/open-queue.ts'
import { Runner } from './queue/runner.ts'
import { Submitter } from './queue/submit.ts'
import type { CapacityDeps } from './routes/capacity.ts'
import { ScheduleStore } from './schedules/schedule-store.ts'
import { FunctionCrons } from './schedules/function-crons.ts'
import { Scheduler } from './schedules/scheduler.ts'
import { WebhookStore } from './webhooks/webhook-store.ts'
import { Webhooks } from './webhooks/webhooks.ts'

/** The open worker; disposing of it closes everything in reverse order. */
export interface Deps extends AppDeps, AsyncDisposable {
  readonly store: JobStore
  readonly submitter: Submitter
  readonly crons: FunctionCrons
  /** Lets running jobs finish within the budget, then hands them over. */
  drain(budgetMs: number): Promise<void>
}

/** Replacements for tests: tasks, and the minimum interval between checkpoints in milliseconds. */
interface Overrides {
  readonly tasks?: readonly Task[]
  readonly checkpointMs?: number
}

/** Opens the database, the queue, the runner and the dependencies of tasks. */
export async function openDeps(config: WorkerConfig, overrides: Overrides = {}): Promise<Deps> {
  await using opening = new AsyncDisposableStack()
  const base = await openBase(config, opening)
  const { database, logger, registry } = base
  const outside = await openOutside(config, base)
  const door = opening.use(openDoor(config, database, logger))
  const tools = await openTools(config, outside.fetch, opening)
  const tasks = overrides.tasks ?? makeTasks(config, { fetch: outside.fetch, ...tools })
  const queue = await openQueue({ ...base, ...outside, tasks, onEnqueued: (task) => runner.nudge(task) }, opening)
  const { store, submitter, schedules, webhooks } = queue
  const hub = new EventHub(store, logger)
  const runner = makeRunner(config, { ...base, ...outside, ...queue, tasks, onRan: (id) => hub.look(id) }, overrides)
  const events = makeDeliverer(config, { ...base, ...outside, ...queue })
  const drain = await startWork(config, { runner, services: [queue.sender, queue.crons, events], logger }, opening)
  observe(config, { registry, database, store, runner, tasks })

  const { projects, sealer, checkUrl: checkAddress } = outside
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
    webhooks,
    tableHooks: queue.tableHooks,
    crons: queue.crons,
    openSchemas: config.openSchemas,
    onHooks: () => void events.look(),
    sealer,
    leastScheduleSeconds: config.minScheduleMinutes * 60,
    events: hub,
    checkUrl: checkAddress,
    queries: tools.queries,
    inspector: tools.inspector,
    findPlace: (lookUp) => tools.geocoder.find({ ...lookUp, fetch: outside.fetch }),
    limits: limitsOf(config),
    readiness: {
      database: () => database.query('select 1'),
      storage: () => outside.storeOf(config.TERRANE_STORAGE).ready(),
      lanes: async () => runner.checkLanes(),
    },
    cancelHere: (scope, task, id) => runner.cancelHere(scope, task, id),
    onCancel: () => runner.lookForCancellations(),
    bodyLimit: config.bodyLimitBytes,
    drain,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

type Base = Awaited<ReturnType<typeof openBase>>

/** Log, metrics and the migrated database. */
async function openBase(config: WorkerConfig, opening: AsyncDisposableStack) {
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
  return { logger, registry, database, onError }
}

type Outside = Awaited<ReturnType<typeof openOutside>>

/** Connections out of this process: other hosts, storage, and the projects with their sealed credentials. */
async function openOutside(config: WorkerConfig, { registry, database, logger, onError }: Base) {
  const key = readSecretsKey(config)
  if (key === null) throw secretsKeyMissing()
  const sealer = createSealer(key)
  const policy = {
    allowHosts: splitList(config.TERRANE_FETCH_ALLOW_HOSTS),
    allowHttp: config.TERRANE_FETCH_ALLOW_HTTP,
    userAgent: 'Terrane (+https://github.com/terrane)',
  }
  const fetch = tracedFetch(createGuardedFetch(policy))
  const onStorageCall = showStorageCalls(registry)
  const storeOf = storeCache((setting, aws) => observeStore(openStore(setting, aws), onStorageCall), config)
  const checkAddress: SubmitContext['checkUrl'] = (url, path) => checkUrl(url, path, policy)
  const functionsHost = URL.parse(config.TERRANE_FUNCTIONS_URL ?? '')?.host
  const fetchFunction = createGuardedFetch({
    ...policy,
    allowHosts: [...policy.allowHosts, ...(functionsHost === undefined ? [] : [functionsHost])],
  })
  const outside = { sealer, fetch, fetchFunction, storeOf, checkUrl: checkAddress }
  if (config.TERRANE_MODE === 'local') {
    const { TERRANE_PROJECT_REF, TERRANE_SERVICE_ROLE_KEY: serviceRoleKey, TERRANE_SERVICES_KEY: servicesKey } = config
    const named = { ref: TERRANE_PROJECT_REF, serviceRoleKey, servicesKey }
    const { id, ref } = await registerLocal(database, named, logger)
    const store = storeOf(config.TERRANE_STORAGE)
    const functionsUrl = config.TERRANE_FUNCTIONS_URL
    return { ...outside, projects: localProject({ ref, id, database, store, sealer, functionsUrl, serviceRoleKey }) }
  }
  const projects = new SharedProjects({
    projects: new Projects(database, sealer),
    sealer,
    allowTargets: config.TERRANE_ALLOW_PROJECT_TARGET,
    storage: config.TERRANE_STORAGE,
    storageOf: storeOf,
    fetch,
    resolveHost: (hostname_) => resolvePublicHost(hostname_, policy),
    onError,
  })
  return { ...outside, projects }
}

/** Tools of tasks and routes: the geocoder, models, queries, and inspection of files. */
async function openTools(config: WorkerConfig, fetch: GuardedFetch, opening: AsyncDisposableStack) {
  const workdir = resolve(config.TERRANE_WORK_DIR)
  const geocoder = new Geocoder({
    url: config.TERRANE_GEOCODER_URL,
    cacheFolder: join(resolve(config.TERRANE_CACHE_DIR), 'geocoder'),
  })
  const models = await openModels(config, fetch, (close) => opening.defer(close))
  const queries = new QueryEmbedder({ ...models, workdir })
  opening.defer(() => queries.close())
  return { geocoder, models, queries, inspector: new FileInspector({ engine: engineOf(config), fetch, workdir }) }
}

interface QueueNeeds extends Base, Outside {
  readonly tasks: readonly Task[]
  readonly onEnqueued: (task: string) => void
}

/** The queue, and the stores of jobs, schedules and webhooks. */
async function openQueue(needs: QueueNeeds, opening: AsyncDisposableStack) {
  const { logger, registry, database, sealer, tasks, onEnqueued } = needs
  const boss = await startBoss(database, logger)
  opening.defer(() => boss.stop({ graceful: false, close: false }))
  for (const task of tasks) await ensureQueue(boss, task)
  const webhooks = new WebhookStore(database)
  const caller = new Caller({ ...needs, limits: new FunctionLimits(database) })
  const sender = new Webhooks({ boss, store: webhooks, caller, sealer, logger, onAttempt: countAttempts(registry) })
  await sender.open()
  const observer = countJobs(
    registry,
    tasks.map(({ name }) => name),
  )
  const store = new JobStore(database, sender, observer)
  const submitter = new Submitter({ boss, database, store, sealer, onEnqueued })
  const tableHooks = new TableHookStore(database)
  const crons = new FunctionCrons({ ...needs, boss, caller })
  await crons.open()
  return {
    boss,
    store,
    submitter,
    schedules: new ScheduleStore(database),
    webhooks,
    tableHooks,
    crons,
    caller,
    sender,
    onEnqueued,
  }
}

interface RunnerNeeds extends Base, Outside, Awaited<ReturnType<typeof openQueue>> {
  readonly tasks: readonly Task[]
  readonly onRan: (id: string) => void
}

function makeRunner(config: WorkerConfig, needs: RunnerNeeds, { checkpointMs }: Overrides): Runner {
  return new Runner({
    ...needs,
    shards: needs,
    schedulers: [new Scheduler(needs), needs.crons],
    ...(checkpointMs !== undefined && { checkpointMs }),
    workdir: resolve(config.TERRANE_WORK_DIR),
    concurrency: config.TERRANE_WORKER_CONCURRENCY,
    projectConcurrency: config.TERRANE_PROJECT_CONCURRENCY,
    retentionDays: config.jobRetentionDays,
    workerId: workerIdOf(config),
  })
}

function makeDeliverer(config: WorkerConfig, needs: Omit<RunnerNeeds, 'tasks' | 'onRan'>): EventDeliverer {
  const metrics = countEvents(needs.registry)
  return new EventDeliverer({ ...needs, hooks: needs.tableHooks, metrics, workerId: workerIdOf(config) })
}

function workerIdOf({ PORT }: WorkerConfig): string {
  return `${hostname()}:${PORT}`
}

interface Work {
  readonly runner: Runner
  /** Services that run besides jobs and call other hosts. */
  readonly services: readonly { start(): Promise<void>; stop(): Promise<void> }[]
  readonly logger: Logger
}

/** Starts to take jobs, unless this process only answers requests; returns the function that stops it. */
async function startWork(
  config: WorkerConfig,
  { runner, services, logger }: Work,
  opening: AsyncDisposableStack,
): Promise<Deps['drain']> {
  if (config.TERRANE_WORKER_CONCURRENCY === 0) return () => Promise.resolve()
  let drained: Promise<unknown> | null = null
  const drain = async (budgetMs: number) => {
    drained ??= Promise.all([runner.stop(budgetMs), ...services.map((service) => service.stop())])
    await drained
  }
  await Promise.all([runner.start(), ...services.map((service) => service.start())])
  // A drain that exceeded its time continues here: jobs are handed over before the pool closes.
  opening.defer(() => drain(0).catch((error: unknown) => logger.warn({ err: error }, 'jobs were not handed over')))
  return drain
}

/** Limits of one job in `GET /capacity`. */
function limitsOf(config: WorkerConfig): CapacityDeps['limits'] {
  return {
    maxH3Cells: config.maxH3Cells,
    maxGeoPatches: config.GEOEMBEDDINGS_MAX_TILES,
    maxGeotiffBytes: config.GEOEMBEDDINGS_MAX_GEOTIFF_BYTES,
    maxAoiKm2: config.maxAreaKm2,
    maxAoiVertices: config.maxAreaVertices,
    workers: config.TERRANE_WORKER_CONCURRENCY,
  }
}
