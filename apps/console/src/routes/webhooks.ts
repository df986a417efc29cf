import { NewWebhook, PageQuery, WebhookChange } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { pathOf } from '../upstream/ask.ts'
import { relay, scope } from './jobs.ts'

const WebhookParams = Type.Object({ ref: Type.String(), webhook_id: Type.String({ maxLength: 100 }) })

/** The webhooks of a project, called when its jobs end, and their deliveries. */
export function webhookRoutes(app: Http): void {
  const ALL = '/api/projects/:ref/webhooks'
  const ONE = `${ALL}/:webhook_id`
  app.get(ALL, (request, reply) => relay(request, reply, { method: 'GET', path: '/webhooks', query: scope(request) }))
  app.post(ALL, { schema: { body: NewWebhook } }, (request, reply) =>
    relay(request, reply, {
      method: 'POST',
      path: '/webhooks',
      query: scope(request),
      body: JSON.stringify(request.body),
    }),
  )
  app.patch(ONE, { schema: { params: WebhookParams, body: WebhookChange } }, (request, reply) =>
    relay(request, reply, {
      method: 'PATCH',
      path: pathOf('webhooks', request.params.webhook_id),
      query: scope(request),
      body: JSON.stringify(request.body),
    }),
  )
  app.delete(ONE, { schema: { params: WebhookParams } }, (request, reply) =>
    relay(request, reply, {
      method: 'DELETE',
      path: pathOf('webhooks', request.params.webhook_id),
      query: scope(request),
    }),
  )
  app.get(`${ONE}/deliveries`, { schema: { params: WebhookParams, querystring: PageQuery } }, (request, reply) =>
    relay(request, reply, {
      method: 'GET',
      path: pathOf('webhooks', request.params.webhook_id, 'deliveries'),
      query: scope(request, request.query),
    }),
  )
}
