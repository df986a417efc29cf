import {
  NewWebhook,
  PageQuery,
  Problem,
  Webhook,
  WebhookChange,
  WebhookDeliveryList,
  WebhookList,
  WebhookMade,
  ref,
} from '@terrane/contracts'
import { uuidv7 } from '@terrane/core'
import type { Http, Sealer } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { webhookNotFound, webhooksFull } from '../errors.ts'
import { readTarget } from '../events/read-target.ts'
import { toWebhook, type WebhookRow, type WebhookStore } from '../webhooks/webhook-store.ts'
import { mountOf, principalOf } from './access.ts'
import { ProjectQuery, UUID } from './read-jobs.ts'
import type { SubmitContext } from '../jobs/task.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Where webhooks are checked and kept. */
export interface WebhookDeps {
  readonly projects: Pick<ProjectDirectory, 'scope'>
  readonly webhooks: WebhookStore
  readonly sealer: Sealer
  readonly checkUrl: SubmitContext['checkUrl']
}

/** Webhooks of one project at most. */
const MOST_WEBHOOKS = 20

const WebhookParams = Type.Object({ webhook_id: Type.String({ description: 'Id of the webhook.' }) })
const shared = { tags: ['webhooks'], security: [{ apikey: [], bearer: [] }] }
const problems = { '4xx': ref(Problem), '5xx': ref(Problem) }

/** `/webhooks`: who is told of the ends of a project's jobs, and what each was told. */
export function webhookRoutes(app: Http, deps: WebhookDeps): void {
  createRoute(app, deps)
  app.get(
    '/webhooks',
    {
      schema: {
        ...shared,
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: `Every webhook of a project, newest first; a project has at most ${MOST_WEBHOOKS}.`,
        querystring: ProjectQuery,
        response: { 200: ref(WebhookList), ...problems },
      },
    },
    async (request) => ({ data: (await deps.webhooks.list(await scopeOf(deps, request))).map(toWebhook) }),
  )
  app.get(
    '/webhooks/:webhook_id',
    {
      schema: {
        ...shared,
        operationId: 'readWebhook',
        summary: 'One webhook',
        description: 'Its secret is not shown again.',
        params: WebhookParams,
        querystring: ProjectQuery,
        response: { 200: ref(Webhook), ...problems },
      },
    },
    async (request) => toWebhook(await findWebhook(deps, request, request.params.webhook_id)),
  )
  app.patch(
    '/webhooks/:webhook_id',
    {
      schema: {
        ...shared,
        operationId: 'pauseWebhook',
        summary: 'Pause or resume a webhook',
        description: 'What ends while it is paused it is never told. One that answers 410 is paused.',
        params: WebhookParams,
        querystring: ProjectQuery,
        body: WebhookChange,
        response: { 200: ref(Webhook), ...problems },
      },
    },
    async (request) => {
      const { webhook_id: id } = request.params
      const row = await findWebhook(deps, request, id)
      const changed = await deps.webhooks.pause(row.id, request.body.paused)
      if (!changed) throw webhookNotFound({ id })
      return toWebhook(changed)
    },
  )
  app.delete(
    '/webhooks/:webhook_id',
    {
      schema: {
        ...shared,
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'What it has not been told yet it is not told any more.',
        params: WebhookParams,
        querystring: ProjectQuery,
        response: { 204: Type.Null(), ...problems },
      },
    },
    async (request, reply) => {
      const row = await findWebhook(deps, request, request.params.webhook_id)
      await deps.webhooks.delete(row.id)
      return reply.code(204).send(null)
    },
  )
  app.get(
    '/webhooks/:webhook_id/deliveries',
    {
      schema: {
        ...shared,
        operationId: 'listWebhookDeliveries',
        summary: 'What a webhook was told',
        description:
          'Newest first, each with its attempts: time, status and error. It goes with the record of the job.',
        params: WebhookParams,
        querystring: PageQuery,
        response: { 200: ref(WebhookDeliveryList), ...problems },
      },
    },
    async (request) => {
      const { limit = 20, cursor } = request.query
      const row = await findWebhook(deps, request, request.params.webhook_id)
      const page = await deps.webhooks.deliveries(row.id, { limit, cursor })
      return { data: page.data, next_cursor: page.nextCursor }
    },
  )
}

function createRoute(app: Http, deps: WebhookDeps): void {
  app.post(
    '/webhooks',
    {
      schema: {
        ...shared,
        operationId: 'createWebhook',
        summary: 'Be told of the ends of jobs',
        description:
          'Each end of a job is posted to the address, or to the function with the service key, signed by the Standard Webhooks specification (webhook-id, ' +
          'webhook-timestamp, webhook-signature), at least once, with the same webhook-id each time, for half a day until ' +
          'a 2xx. The body is {type, timestamp, data}: job.succeeded or job.failed, and the record of the job without its input.',
        querystring: ProjectQuery,
        body: NewWebhook,
        response: { 201: ref(WebhookMade), ...problems },
      },
    },
    async (request, reply) => {
      const { tasks = null, description = '', paused = false } = request.body
      const { statuses = ['success', 'failed'] } = request.body
      const scope = await scopeOf(deps, request)
      const { target, shownUrl } = readTarget(deps, request.body)
      const id = uuidv7()
      const row = await deps.webhooks.insert({
        id,
        scope,
        shown_url: shownUrl,
        sealed: deps.sealer.seal({ ...target }, id),
        description,
        tasks,
        statuses,
        paused,
        most: MOST_WEBHOOKS,
      })
      if (!row) throw webhooksFull({ most: MOST_WEBHOOKS })
      const record = toWebhook(row)
      return reply
        .code(201)
        .header('location', mountOf(request) + record.links.self)
        .send({ ...record, secret: target.secret })
    },
  )
}

function scopeOf(deps: WebhookDeps, request: FastifyRequest) {
  const { projectRef } = request.query as { projectRef?: string }
  return deps.projects.scope(principalOf(request), projectRef, '/querystring/projectRef')
}

async function findWebhook(deps: WebhookDeps, request: FastifyRequest, id: string): Promise<WebhookRow> {
  const scope = await scopeOf(deps, request)
  const row = UUID.test(id) ? await deps.webhooks.find(scope, id) : null
  if (!row) throw webhookNotFound({ id })
  return row
}
