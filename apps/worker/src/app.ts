import type { Verify } from '@terrane/auth'
import {
  Capacity,
  EmbeddedQuery,
  EmbeddingsResult,
  FileFacts,
  Job,
  JobError,
  JobList,
  JobLog,
  JobProgress,
  Place,
  Schedule,
  ScheduleList,
  TASK_NAMES,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookMade,
} from '@terrane/contracts'
import {
  acceptEmptyDeletes,
  addHealth,
  addMetrics,
  addOpenApi,
  createHttp,
  RateLimits,
  type EdgeSettings,
  type Http,
  type Logger,
  type ReadinessCheck,
  type Registry,
  type Sealer,
} from '@terrane/service'
import type { SubmitContext, Task } from './jobs/task.ts'
import type { QueryEmbedder } from './embed/query-embedder.ts'
import type { FileInspector } from './inspect/file-inspector.ts'
import type { LookUp, Place as FoundPlace } from './places/geocoder.ts'
import type { ProjectDirectory } from './projects/project-directory.ts'
import type { EventHub } from './queue/event-hub.ts'
import type { JobStore } from './queue/job-store.ts'
import type { Submitter } from './queue/submit.ts'
import { checkAccess } from './routes/access.ts'
import { cancelRoute } from './routes/cancel-job.ts'
import { capacityRoute } from './routes/capacity.ts'
import { describeJobs } from './routes/describe-jobs.ts'
import { embedRoutes } from './routes/embed-query.ts'
import { inspectRoute } from './routes/inspect-file.ts'
import { eventRoute } from './routes/job-events.ts'
import { logRoute } from './routes/job-log.ts'
import { readRoutes } from './routes/read-jobs.ts'
import { retryRoute } from './routes/retry-job.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { submitRoutes } from './routes/submit-job.ts'
import { placeRoute } from './routes/find-place.ts'
import { uiRoute } from './routes/ui.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import type { ScheduleStore } from './schedules/schedule-store.ts'
import type { WebhookStore } from './webhooks/webhook-store.ts'

/** Everything the app needs; `openDeps` opens it, tests make their own. */
export interface AppDeps {
  readonly logger: Logger
  readonly registry: Registry
  /** Who stands before the app, and how much one may ask of it. */
  readonly edge: EdgeSettings
  readonly verify: Verify
  readonly projects: ProjectDirectory
  readonly tasks: readonly Task[]
  readonly store: JobStore
  readonly submitter: Submitter
  readonly schedules: ScheduleStore
  readonly webhooks: WebhookStore
  readonly sealer: Sealer
  /** Least time between two times of a schedule. */
  readonly leastScheduleSeconds: number
  readonly events: EventHub
  readonly checkUrl: SubmitContext['checkUrl']
  /** Looks a place up. @throws GEOCODER_OFF, GEOCODER_BUSY, GEOCODER_FAILED, PLACE_NOT_FOUND */
  readonly findPlace: (lookUp: Omit<LookUp, 'fetch'>) => Promise<FoundPlace>
  /** Makes vectors of texts and pictures while the caller waits. */
  readonly queries: QueryEmbedder
  /** Looks at files before they are imported. */
  readonly inspector: FileInspector
  readonly limits: Omit<Capacity, 'queued' | 'running'>
  readonly readiness: Readonly<Record<string, ReadinessCheck>>
  /** Tells the runner of this process that a job is to stop, without waiting for the database to say so. */
  readonly onCancel: () => void
  readonly bodyLimit: number
}

/** What routes name by reference. */
const SCHEMAS = [
  JobError,
  JobProgress,
  Job,
  JobList,
  JobLog,
  Schedule,
  ScheduleList,
  Webhook,
  WebhookMade,
  WebhookList,
  WebhookDelivery,
  WebhookDeliveryList,
  Capacity,
  EmbeddingsResult,
  EmbeddedQuery,
  FileFacts,
  Place,
]

/** The worker's HTTP app. The same routes answer under `/worker`. */
export async function buildApp(deps: AppDeps): Promise<Http> {
  const app = createHttp({
    logger: deps.logger,
    bodyLimit: deps.bodyLimit,
    edge: deps.edge,
    mountedAt: '/worker',
    schemas: SCHEMAS,
  })
  app.decorateRequest('principal', null)
  await addOpenApi(
    app,
    {
      title: 'Terrane worker',
      version: '1.0.0',
      description: `Background jobs: ${TASK_NAMES.join(', ')}. Send the service key as apikey and as Bearer, from server-side code.`,
    },
    describeJobs,
  )
  addHealth(app, deps.readiness, { registry: deps.registry })
  addMetrics(app, deps.registry, deps.edge)
  uiRoute(app)
  await app.register(async (guarded) => {
    guarded.addHook('onRequest', checkAccess(deps.verify, new RateLimits(deps.edge)))
    const routes = guarded as unknown as Http
    acceptEmptyDeletes(routes)
    capacityRoute(routes, deps)
    placeRoute(routes, deps)
    await embedRoutes(routes, deps)
    inspectRoute(routes, deps)
    submitRoutes(routes, deps)
    readRoutes(routes, deps)
    cancelRoute(routes, deps)
    retryRoute(routes, deps)
    eventRoute(routes, deps)
    logRoute(routes, deps)
    scheduleRoutes(routes, deps)
    webhookRoutes(routes, deps)
  })
  return app
}
