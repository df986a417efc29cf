import { NewWebhook, PageQuery, WebhookChange } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { pathOf } from '../upstream/ask.ts'
import { relayToWorker, scope } from '../upstream/relay.ts'

const WebhookParams = Type.Object({ ref: Type.String(), webhook_id: Type.String({ maxLength: 100 }) })

/** The webhooks of a project, called when its jobs end, and their deliveries. */
export function webhookRoutes(app: Http): void {
  const ALL = '/api/projects/:ref/webhooks'
  const ONE = `${ALL}/:webhook_id`
  app.get(ALL, (request, reply) => relayToWorker(request, reply, '/webhooks', { query: scope(request) }))
  app.post(ALL, { schema: { body: NewWebhook } }, (request, reply) =>
    relayToWorker(request, reply, '/webhooks', { query: scope(request), body: request.body }),
  )
  app.patch(ONE, { schema: { params: WebhookParams, body: WebhookChange } }, (request, reply) =>
    relayToWorker(request, reply, pathOf('webhooks', request.params.webhook_id), {
      query: scope(request),
      body: request.body,
    }),
  )
  app.delete(ONE, { schema: { params: WebhookParams } }, (request, reply) =>
    relayToWorker(request, reply, pathOf('webhooks', request.params.webhook_id), { query: scope(request) }),
  )
  app.get(`${ONE}/deliveries`, { schema: { params: WebhookParams, querystring: PageQuery } }, (request, reply) =>
    relayToWorker(request, reply, pathOf('webhooks', request.params.webhook_id, 'deliveries'), {
      query: scope(request, request.query),
    }),
  )
}
