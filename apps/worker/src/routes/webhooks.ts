import {
  NewWebhook,
  PageQuery,
  Webhook,
  WebhookChange,
  WebhookDeliveryList,
  WebhookList,
  WebhookMade,
  ref,
} from '@terrane/contracts'
import { uuidv7 } from '@terrane/core'
import type { Http, Sealer } from '@terrane/service'
import { Type } from 'typebox'
import { hookDeclared, webhookNotFound, webhooksFull } from '../errors.ts'
import { BY_REQUEST, MOST_WEBHOOKS } from '../events/declared.ts'
import { readTarget } from '../events/read-target.ts'
import { toWebhook, type WebhookRow, type WebhookStore } from '../webhooks/webhook-store.ts'
import { ProjectQuery, finder, guarded, located, requestScope, type Find } from './guarded.ts'
import type { SubmitContext } from '../jobs/task.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Dependencies of the routes of webhooks. */
export interface WebhookDeps {
  readonly projects: Pick<ProjectDirectory, 'scope'>
  readonly webhooks: WebhookStore
  readonly sealer: Sealer
  readonly checkUrl: SubmitContext['checkUrl']
}

const WebhookParams = Type.Object({ webhook_id: Type.String({ description: 'Id of the webhook.' }) })

/** `/webhooks`: addresses and functions that are called when a project's jobs end, and their deliveries. */
export function webhookRoutes(app: Http, deps: WebhookDeps): void {
  const find = finder(deps, deps.webhooks, webhookNotFound)
  createRoute(app, deps)
  app.get(
    '/webhooks',
    guarded('webhooks', {
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: `Every webhook of a project, newest first; a project has at most ${MOST_WEBHOOKS}.`,
      querystring: ProjectQuery,
      response: { 200: ref(WebhookList) },
    }),
    async (request) => ({ data: (await deps.webhooks.all(await requestScope(deps, request))).map(toWebhook) }),
  )
  app.get(
    '/webhooks/:webhook_id',
    guarded('webhooks', {
      operationId: 'readWebhook',
      summary: 'One webhook',
      description: 'Its secret is not shown again.',
      params: WebhookParams,
      querystring: ProjectQuery,
      response: { 200: ref(Webhook) },
    }),
    async (request) => toWebhook((await find(request, request.params.webhook_id)).row),
  )
  changeRoutes(app, deps, find)
}

function changeRoutes(app: Http, deps: WebhookDeps, find: Find<WebhookRow>): void {
  app.patch(
    '/webhooks/:webhook_id',
    guarded('webhooks', {
      operationId: 'pauseWebhook',
      summary: 'Pause or resume a webhook',
      description: 'What ends while it is paused it is never told. One that answers 410 is paused.',
      params: WebhookParams,
      querystring: ProjectQuery,
      body: WebhookChange,
      response: { 200: ref(Webhook) },
    }),
    async (request) => {
      const { webhook_id: id } = request.params
      const { row } = await find(request, id)
      const changed = await deps.webhooks.update(row.id, { paused: request.body.paused })
      if (!changed) throw webhookNotFound({ id })
      return toWebhook(changed)
    },
  )
  app.delete(
    '/webhooks/:webhook_id',
    guarded('webhooks', {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'What it has not been told yet it is not told any more.',
      params: WebhookParams,
      querystring: ProjectQuery,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      const { row } = await find(request, request.params.webhook_id)
      if (row.function_name !== null) throw hookDeclared({ name: row.function_name })
      await deps.webhooks.delete(row.id)
      return reply.code(204).send(null)
    },
  )
  app.get(
    '/webhooks/:webhook_id/deliveries',
    guarded('webhooks', {
      operationId: 'listWebhookDeliveries',
      summary: 'What a webhook was told',
      description: 'Newest first, each with its attempts: time, status and error. It goes with the record of the job.',
      params: WebhookParams,
      querystring: PageQuery,
      response: { 200: ref(WebhookDeliveryList) },
    }),
    async (request) => {
      const { limit = 20, cursor } = request.query
      const { row } = await find(request, request.params.webhook_id)
      const page = await deps.webhooks.deliveries(row.id, { limit, cursor })
      return { data: page.data, next_cursor: page.nextCursor }
    },
  )
}

function createRoute(app: Http, deps: WebhookDeps): void {
  app.post(
    '/webhooks',
    guarded('webhooks', {
      operationId: 'createWebhook',
      summary: 'Be told of the ends of jobs',
      description:
        'Each end of a job is posted to the address, or to the function with the service key, signed by the Standard Webhooks specification (webhook-id, ' +
        'webhook-timestamp, webhook-signature), at least once, with the same webhook-id each time, for half a day until ' +
        'a 2xx. The body is {type, timestamp, data}: job.succeeded or job.failed, and the record of the job without its input.',
      querystring: ProjectQuery,
      body: NewWebhook,
      response: { 201: ref(WebhookMade) },
    }),
    async (request, reply) => {
      const { tasks = null, description = '', paused = false } = request.body
      const { statuses = ['success', 'failed'] } = request.body
      const scope = await requestScope(deps, request)
      const { target, shownUrl } = readTarget(deps, request.body)
      const id = uuidv7()
      const row = await deps.webhooks.insert(scope, MOST_WEBHOOKS, {
        ...BY_REQUEST,
        id,
        shown_url: shownUrl,
        sealed: deps.sealer.seal({ ...target }, id),
        description,
        tasks,
        statuses,
        paused,
      })
      if (!row) throw webhooksFull({ most: MOST_WEBHOOKS })
      const record = toWebhook(row)
      return located(request, reply, record)
        .code(201)
        .send({ ...record, secret: target.secret })
    },
  )
}
