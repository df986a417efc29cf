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
  type AppParts,
  type Http,
} from '@terrane/service'
import { DeadLetter, DeadLetterList, TableHook, TableHookList, TableHookMade } from '@terrane/contracts/events'
import { checkAccess } from './routes/access.ts'
import { cancelRoute, type CancelDeps } from './routes/cancel-job.ts'
import { capacityRoute, type CapacityDeps } from './routes/capacity.ts'
import { describeJobs } from './routes/describe-jobs.ts'
import { embedRoutes, type EmbedDeps } from './routes/embed-query.ts'
import { embedTextRoute, type EmbedTextDeps } from './routes/embed-text.ts'
import { inspectRoute, type InspectDeps } from './routes/inspect-file.ts'
import { eventRoute, type EventDeps } from './routes/job-events.ts'
import { logRoute, type LogDeps } from './routes/job-log.ts'
import { readRoutes } from './routes/read-jobs.ts'
import { retryRoute, type RetryDeps } from './routes/retry-job.ts'
import { scheduleRoutes, type ScheduleDeps } from './routes/schedules.ts'
import { submitRoutes, type SubmitDeps } from './routes/submit-job.ts'
import { placeRoute, type PlaceDeps } from './routes/find-place.ts'
import { deadLetterRoutes } from './routes/dead-letters.ts'
import { tableHookRoutes, type TableHookDeps } from './routes/table-hooks.ts'
import { uiRoute } from './routes/ui.ts'
import { webhookRoutes, type WebhookDeps } from './routes/webhooks.ts'

/** Dependencies of the app itself: logs, keys, health and limits of requests. */
interface EdgeDeps extends AppParts {
  readonly verify: Verify
  readonly bodyLimit: number
}

/** Dependencies of the app and its routes; `openDeps` opens them, tests make their own. */
export type AppDeps = EdgeDeps &
  CapacityDeps &
  PlaceDeps &
  EmbedDeps &
  EmbedTextDeps &
  InspectDeps &
  SubmitDeps &
  CancelDeps &
  RetryDeps &
  EventDeps &
  LogDeps &
  ScheduleDeps &
  WebhookDeps &
  TableHookDeps

/** Schemas that routes refer to by name. */
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
  TableHook,
  TableHookMade,
  TableHookList,
  DeadLetter,
  DeadLetterList,
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
    embedTextRoute(routes, deps)
    inspectRoute(routes, deps)
    submitRoutes(routes, deps)
    readRoutes(routes, deps)
    cancelRoute(routes, deps)
    retryRoute(routes, deps)
    eventRoute(routes, deps)
    logRoute(routes, deps)
    scheduleRoutes(routes, deps)
    webhookRoutes(routes, deps)
    tableHookRoutes(routes, deps)
    deadLetterRoutes(routes, deps)
  })
  return app
}
