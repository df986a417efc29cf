import { Type, type Static } from 'typebox'
export * from './function-hooks.ts'
import { SHOWN_URL, WEBHOOK_FIELDS } from './webhook.ts'
import { existingName } from './identifiers.ts'
import { named, nullable, ref } from './named.ts'

/** Signed depth of a chain of functions; the origin stores it with changes, the worker sends it with their events. */
export const DEPTH_HEADER = 'x-terrane-depth'
/** Form of a signed depth: one count or two, and a signature that only the functions host can verify. */
export const SIGNED_DEPTH = /^\d{1,3}(?:\.\d{1,7})?\.[\w-]{43}$/

const fields = {
  schema: existingName('Its schema.', { examples: ['public'] }),
  table: existingName('A table with a primary key.', { examples: ['orders'] }),
  events: Type.Array(Type.Enum(['INSERT', 'UPDATE', 'DELETE']), { minItems: 1, maxItems: 3, uniqueItems: true }),
  columns: nullable(
    Type.Array(existingName('A column.'), {
      minItems: 1,
      maxItems: 100,
      description: 'Updates are events only when one of these columns changes. Null: every update.',
    }),
  ),
  where: nullable(
    Type.Record(Type.String({ maxLength: 63 }), Type.Unknown(), {
      maxProperties: 20,
      description: 'Values that the row must have, as JSON: {"status": "paid"}. Null: every row.',
    }),
  ),
  attempts: Type.Integer({
    minimum: 1,
    maximum: 20,
    description: 'Attempts until an event is a dead letter, after 1, 2, 4 … seconds, at most an hour.',
  }),
  ...WEBHOOK_FIELDS,
}

/** Body that makes a table hook. */
export const NewTableHook = Type.Object(
  {
    schema: Type.Optional({ ...fields.schema, default: 'public' }),
    table: fields.table,
    events: Type.Optional({ ...fields.events, description: 'Default: all three.' }),
    columns: Type.Optional(fields.columns),
    where: Type.Optional(fields.where),
    function: Type.Optional(fields.function),
    url: Type.Optional(fields.url),
    secret: Type.Optional(fields.secret),
    description: Type.Optional(fields.description),
    attempts: Type.Optional({ ...fields.attempts, default: 15 }),
    paused: Type.Optional(fields.paused),
  },
  { additionalProperties: false },
)

const { secret: _, function: __, ...shown } = fields

const hook = {
  id: Type.String({ format: 'uuid' }),
  ...shown,
  url: SHOWN_URL,
  waiting: Type.Integer({ minimum: 0, description: 'Events that are to be delivered; 1000 stands for more.' }),
  dead: Type.Integer({ minimum: 0, description: 'Dead letters; 1000 stands for more.' }),
  project_ref: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  links: Type.Object(
    { self: Type.String(), deadLetters: Type.String() },
    { description: 'Paths below the base address of the worker.' },
  ),
}

const example = {
  id: '0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
  schema: 'public',
  table: 'orders',
  events: ['INSERT', 'UPDATE'],
  columns: ['status'],
  where: { status: 'paid' },
  url: '/functions/v1/send-receipt',
  description: '',
  attempts: 15,
  paused: false,
  waiting: 0,
  dead: 0,
  project_ref: 'local',
  created_at: '2026-11-22T14:00:00.000Z',
  updated_at: '2026-11-22T14:00:00.000Z',
  links: {
    self: '/table-hooks/0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
    deadLetters: '/dead-letters?lane=hook:0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
  },
}

/** The public record of a table hook. */
export const TableHook = named('TableHook', Type.Object(hook, { examples: [example] }))
export type TableHook = Static<typeof TableHook>

/** The record of a table hook that was just made, with its secret, which is not shown again. */
export const TableHookMade = named(
  'TableHookMade',
  Type.Object(
    { ...hook, secret: Type.String({ description: 'Not shown again.' }) },
    { examples: [{ ...example, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }] },
  ),
)

export const TableHookList = named('TableHookList', Type.Object({ data: Type.Array(ref(TableHook)) }))

/** An event that was given up. */
export const DeadLetter = named(
  'DeadLetter',
  Type.Object(
    {
      id: Type.String({ pattern: '^[0-9]{1,19}$' }),
      lane: Type.String({ description: 'Where it belongs: hook:{id of the table hook} or queue:{name}.' }),
      key: nullable(
        Type.String({
          description: 'Events of one key are in order: the primary key of the row, or the key of the message.',
        }),
      ),
      body: Type.Unknown(),
      attempts: Type.Integer({ minimum: 1 }),
      status_code: nullable(Type.Integer()),
      error: nullable(Type.String()),
      created_at: Type.String({ format: 'date-time' }),
      dead_at: Type.String({ format: 'date-time' }),
    },
    {
      examples: [
        {
          id: '4711',
          lane: 'hook:0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
          key: '[17]',
          body: { type: 'DELETE', table: 'orders', schema: 'public', record: null, old_record: { id: 17 } },
          attempts: 15,
          status_code: 500,
          error: 'HTTP status 500',
          created_at: '2026-11-22T14:00:00.000Z',
          dead_at: '2026-11-22T17:10:00.000Z',
        },
      ],
    },
  ),
)
export type DeadLetter = Static<typeof DeadLetter>

export const DeadLetterList = named(
  'DeadLetterList',
  Type.Object({ data: Type.Array(ref(DeadLetter)), next_cursor: nullable(Type.String()) }),
)

const lane = Type.String({ minLength: 1, maxLength: 100, description: 'Only those of a lane.' })

/** Query of the list of dead letters. */
export const DeadLetterQuery = Type.Object(
  {
    projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
    lane: Type.Optional(lane),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$', description: 'next_cursor of the page before.' })),
  },
  { additionalProperties: false },
)

/** Which dead letters are sent again or deleted. */
export const DeadLetterChoice = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9]{1,18}$' }), {
        minItems: 1,
        maxItems: 1000,
        description: 'By their ids.',
      }),
    ),
    lane: Type.Optional({ ...lane, description: 'All of a lane.' }),
  },
  { additionalProperties: false, minProperties: 1 },
)

/** Number of dead letters that were sent again or deleted. */
export const DeadLetterCount = Type.Object({ count: Type.Integer({ minimum: 0 }) })
