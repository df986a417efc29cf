import type { Webhook, WebhookDelivery } from '@terrane/contracts'
import { get, projectPath, request } from './api.ts'

export type { Webhook, WebhookDelivery } from '@terrane/contracts'

export async function readWebhooks(ref: string, signal?: AbortSignal): Promise<readonly Webhook[]> {
  return (await get<{ data: Webhook[] }>(projectPath(ref, '/webhooks'), signal)).data
}

/** Creates a webhook. Only this answer contains its secret. */
export function makeWebhook(
  ref: string,
  body: Pick<Webhook, 'url' | 'description' | 'tasks' | 'statuses'>,
): Promise<Webhook & { readonly secret: string }> {
  return request('POST', projectPath(ref, '/webhooks'), body)
}

export function pauseWebhook(ref: string, { id }: Webhook, paused: boolean): Promise<Webhook> {
  return request('PATCH', projectPath(ref, `/webhooks/${id}`), { paused })
}

export function deleteWebhook(ref: string, { id }: Webhook): Promise<void> {
  return request('DELETE', projectPath(ref, `/webhooks/${id}`))
}

/** Recent deliveries of a webhook, newest first. */
export async function readDeliveries(
  ref: string,
  id: string,
  signal?: AbortSignal,
): Promise<readonly WebhookDelivery[]> {
  const path = projectPath(ref, `/webhooks/${id}/deliveries?limit=20`)
  return (await get<{ data: WebhookDelivery[] }>(path, signal)).data
}
