import { Type, type Static } from 'typebox'
import { TASK_NAMES } from './job.ts'
import { FUNCTION_NAME_PATTERN } from './names.ts'
import { named, nullable, ref } from './named.ts'

/** Fields that webhooks of jobs and table hooks share: the target and the signature. */
export const WEBHOOK_FIELDS = {
  url: Type.String({ minLength: 1, maxLength: 2000, examples: ['https://example.com/hooks/terrane'] }),
  function: Type.String({
    pattern: FUNCTION_NAME_PATTERN,
    description: 'A function of the project, which is called with the service key, instead of url.',
    examples: ['on-job-end'],
  }),
  description: Type.String({ maxLength: 200, description: 'For people.' }),
  paused: Type.Boolean({ description: 'Is not called while true.' }),
  secret: Type.String({
    maxLength: 96,
    pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
    description: 'whsec_ and 24 to 64 bytes as base64. Default: generated. Stored encrypted.',
  }),
}

/** The target in a record. */
export const SHOWN_URL = Type.String({
  description: 'Without passwords and values of its query; /functions/v1/{name} for a function of the project.',
})

const fields = {
  url: SHOWN_URL,
  description: WEBHOOK_FIELDS.description,
  tasks: nullable(
    Type.Array(Type.Enum([...TASK_NAMES]), {
      minItems: 1,
      maxItems: TASK_NAMES.length,
      description: 'Tasks whose jobs it is called for.',
    }),
  ),
  statuses: Type.Array(Type.Enum(['success', 'failed']), {
    minItems: 1,
    maxItems: 2,
    description: 'Ends that it is called for; a cancelled job is failed.',
  }),
  paused: WEBHOOK_FIELDS.paused,
}

export const NewWebhook = Type.Object(
  {
    url: Type.Optional(WEBHOOK_FIELDS.url),
    function: Type.Optional(WEBHOOK_FIELDS.function),
    description: Type.Optional(fields.description),
    tasks: Type.Optional({ ...fields.tasks, description: 'Every task when null or absent.' }),
    statuses: Type.Optional(fields.statuses),
    paused: Type.Optional(fields.paused),
    secret: Type.Optional(WEBHOOK_FIELDS.secret),
  },
  { additionalProperties: false },
)

export const WebhookChange = Type.Object({ paused: fields.paused }, { additionalProperties: false })

const webhook = {
  id: Type.String({ format: 'uuid' }),
  ...fields,
  project_ref: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  links: Type.Object(
    { self: Type.String(), deliveries: Type.String() },
    { description: 'Paths below the base address of the worker.' },
  ),
}

const example = {
  id: '0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
  url: 'https://example.com/hooks/terrane',
  description: '',
  tasks: null,
  statuses: ['success', 'failed'],
  paused: false,
  project_ref: 'local',
  created_at: '2026-11-22T14:00:00.000Z',
  updated_at: '2026-11-22T14:00:00.000Z',
  links: {
    self: '/webhooks/0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
    deliveries: '/webhooks/0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10/deliveries',
  },
}

/** The public record of a webhook. */
export const Webhook = named('Webhook', Type.Object(webhook, { examples: [example] }))
export type Webhook = Static<typeof Webhook>

/** The record of a webhook that was just made, with its secret, which is not shown again. */
export const WebhookMade = named(
  'WebhookMade',
  Type.Object(
    { ...webhook, secret: Type.String({ description: 'Not shown again.' }) },
    { examples: [{ ...example, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }] },
  ),
)

export const WebhookList = named('WebhookList', Type.Object({ data: Type.Array(ref(Webhook)) }))

export const WebhookDelivery = named(
  'WebhookDelivery',
  Type.Object(
    {
      id: Type.String({ description: 'webhook-id of the message, the same at each attempt.' }),
      type: Type.Enum(['job.succeeded', 'job.failed']),
      job_id: Type.String({ format: 'uuid' }),
      taskName: Type.String(),
      status: Type.Enum(['pending', 'delivered', 'failed']),
      attempts: Type.Array(
        Type.Object({
          at: Type.String({ format: 'date-time' }),
          status_code: nullable(Type.Integer()),
          error: nullable(Type.String()),
          ms: Type.Integer({ minimum: 0 }),
        }),
      ),
      created_at: Type.String({ format: 'date-time' }),
    },
    {
      examples: [
        {
          id: 'msg_0199c7a26d3e7c1b9c5e2f6f0d1f7a10',
          type: 'job.succeeded',
          job_id: '0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
          taskName: 'archiveToPmtiles',
          status: 'delivered',
          attempts: [{ at: '2026-11-22T14:00:00.000Z', status_code: 204, error: null, ms: 31 }],
          created_at: '2026-11-22T14:00:00.000Z',
        },
      ],
    },
  ),
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveryList = named(
  'WebhookDeliveryList',
  Type.Object({ data: Type.Array(ref(WebhookDelivery)), next_cursor: nullable(Type.String()) }),
)
