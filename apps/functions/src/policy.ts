import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { JOB_ENTRY, TABLE_ENTRY } from '@terrane/contracts/events'
import { FUNCTION_NAME_PATTERN } from '@terrane/contracts/names'
import type { FieldError } from '@terrane/core'
import { problemsOfBindings } from './bindings.ts'
import { invalidPolicy } from './errors.ts'
import { MAX_DEPTH } from './gateway/depth.ts'

/** A function's name: the first path segment after `/functions/v1/`. Folders that begin with `_` are not functions. */
export const FUNCTION_NAME = new RegExp(FUNCTION_NAME_PATTERN)

/** HTTP methods that a function may take. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const closed = { additionalProperties: false } as const
const MIB = 1024 * 1024
/** A cron expression of five fields or a nickname, optionally after `name: `. */
export const CRON_ENTRY =
  '^([A-Za-z0-9_ -]{1,64}: )?(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[0-9A-Za-z*/,#?-]+( [0-9A-Za-z*/,#?-]+){4})$'
const MAX_FIELDS = 100

const PolicySchema = Type.Object(
  {
    auth: Type.Enum(['none', 'anon', 'user', 'service'], {
      default: 'anon',
      description: 'Allowed callers: anyone, holders of the anon key, signed-in users, or the service role.',
    }),
    methods: Type.Array(Type.Enum(METHODS), {
      default: ['POST'],
      minItems: 1,
      maxItems: 20,
      description: 'HTTP methods that reach the function; HEAD does where GET does.',
    }),
    cors: Type.Array(Type.String({ maxLength: 300, pattern: '^(\\*|https?://[^/\\s]+)$' }), {
      default: ['*'],
      maxItems: 100,
      description:
        'Origins that browsers may call from; the function’s own CORS headers come first, and a list narrows them; [] leaves CORS to the function.',
    }),
    description: Type.String({ default: '', maxLength: 2000, description: 'For people; shown in listings.' }),
    memory_mb: Type.Integer({ default: 256, minimum: 64, description: 'Memory of one instance beside its runtime.' }),
    tmp_mb: Type.Integer({
      default: 32,
      minimum: 0,
      description: 'Maximum size of /tmp, which is in memory: a part of memory_mb.',
    }),
    block_ms: Type.Integer({
      default: 2000,
      minimum: 100,
      description: 'Maximum time for which the event loop may be blocked; CPU time where it computes.',
    }),
    timeout_ms: Type.Integer({
      default: 30_000,
      minimum: 100,
      description: 'From arrival to the last byte of the answer.',
    }),
    idle_ms: Type.Integer({
      default: 60_000,
      minimum: 1000,
      description: 'An instance without work is stopped after it.',
    }),
    concurrency: Type.Integer({ default: 64, minimum: 1, description: 'Requests one instance answers at once.' }),
    min: Type.Integer({ default: 0, minimum: 0, description: 'Instances that are kept warm.' }),
    max: Type.Integer({ default: 2, minimum: 1, description: 'Maximum number of instances on one host.' }),
    body_bytes: Type.Integer({ default: 6 * MIB, minimum: 0, description: 'Largest request body.' }),
    stream_body: Type.Boolean({
      default: false,
      description: 'Passes request bodies on as they arrive, instead of buffering them.',
    }),
    websocket_ms: Type.Integer({
      default: 400_000,
      minimum: 0,
      description: 'Maximum lifetime of a WebSocket; 0: WebSockets are refused.',
    }),
    response_bytes: Type.Integer({ default: 100 * MIB, minimum: 1, description: 'Largest response body.' }),
    net: Type.Array(Type.String({ pattern: '^(\\*|(\\*\\.)?[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?)$' }), {
      default: [],
      maxItems: 100,
      description:
        'Hosts (name, name:port, *.name, or * for all public ones) that fetch and sockets may reach beside the project API.',
    }),
    secrets: Type.Array(Type.String({ pattern: '^(\\*|[A-Za-z_][A-Za-z0-9_]*)$' }), {
      default: ['*'],
      maxItems: 500,
      description: 'Project secrets that the function sees; a name that does not exist fails the deploy.',
    }),
    privileged: Type.Union([Type.Boolean(), Type.Literal('key')], {
      default: false,
      description:
        'Lets project API calls use the service role. true: calls without credentials do so, too; "key": only calls that send its key.',
    }),
    schedule: Type.Array(Type.String({ pattern: CRON_ENTRY, maxLength: 300 }), {
      default: [],
      maxItems: 50,
      description:
        'Times at which the platform calls the function: cron expressions, with a name where there are several: "nightly: 0 3 * * *". Those of Deno.cron are added.',
    }),
    time_zone: Type.String({
      default: 'UTC',
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$',
      description: 'Time zone of schedule.',
    }),
    tables: Type.Array(Type.String({ pattern: TABLE_ENTRY, maxLength: 300 }), {
      default: [],
      maxItems: 20,
      description:
        'Row changes in tables of schema public on which the platform calls the function: "insert or update of status on orders".',
    }),
    jobs: Type.Array(Type.String({ pattern: JOB_ENTRY, maxLength: 300 }), {
      default: [],
      maxItems: 20,
      description:
        'Ends of jobs that the platform calls the function for: a task or *, with ": success" or ": failed" for one end alone.',
    }),
    queue: Type.String({
      default: '',
      pattern: '^([a-z][a-z0-9_-]{0,62})?$',
      description: 'Queue whose messages the platform calls the function with.',
    }),
    batch: Type.Integer({
      default: 10,
      minimum: 1,
      maximum: 50,
      description: 'Maximum number of messages of queue in one call.',
    }),
    attempts: Type.Integer({
      default: 15,
      minimum: 1,
      maximum: 20,
      description: 'Attempts until a message of queue is a dead letter.',
    }),
    max_chain: Type.Integer({
      default: MAX_DEPTH,
      minimum: 1,
      description:
        'Maximum depth of a chain of functions. Above 8, only calls of such functions count, and each function that they call has 8 again.',
    }),
    bindings: Type.Array(
      Type.String({ maxLength: 8192, pattern: '^(var|json|kv|queue|worker):[A-Za-z_][A-Za-z0-9_]{0,127}=' }),
      {
        default: [],
        maxItems: 200,
        description:
          'Members of env beside secrets, as Workers have them: var:NAME=text, json:NAME=JSON, kv:NAME=namespace, queue:NAME=queue.',
      },
    ),
    static: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      default: [],
      maxItems: 200,
      description: 'Files of the folder, by name or folder/**, that the function may read beside its code.',
    }),
  },
  closed,
)

/** Contents of `function.json` with defaults filled in. */
export type Policy = Static<typeof PolicySchema>

const compiled = Compile(PolicySchema)

/** The methods that a function takes: HEAD wherever it takes GET. */
export function methodsOf({ methods }: Pick<Policy, 'methods'>): readonly string[] {
  return methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'] : methods
}

/** Upper bounds that an operator sets; a policy's values are clamped to them. */
export type Ceilings = Readonly<
  Pick<Policy, 'memory_mb' | 'block_ms' | 'timeout_ms' | 'idle_ms' | 'concurrency' | 'min' | 'max' | 'body_bytes'> &
    Pick<Policy, 'response_bytes' | 'websocket_ms' | 'max_chain'> & {
      /** Bounds `body_bytes` where bodies are streamed and cost no memory. */
      stream_bytes: number
    }
>

/**
 * Bounds that hold unless the operator changes them. `memory_mb` stays below the 512 MB of address space that V8
 * reserves per isolate, so that no second isolate (a worker thread, which the watchdog would not see) fits a process.
 */
export const DEFAULT_CEILINGS: Ceilings = {
  memory_mb: 480,
  block_ms: 10_000,
  timeout_ms: 400_000,
  idle_ms: 3_600_000,
  concurrency: 256,
  min: 2,
  max: 8,
  body_bytes: 50 * MIB,
  response_bytes: 1024 * MIB,
  websocket_ms: 400_000,
  max_chain: 100_000,
  stream_bytes: 5 * 1024 * MIB,
}

/**
 * Reads the contents of a `function.json` and fills in defaults.
 *
 * @throws FUNCTION_POLICY_INVALID with one entry per wrong or unknown field
 */
export function parsePolicy(given: unknown): Policy {
  refuseUnwieldy(given)
  const value: unknown = Value.Default(PolicySchema, structuredClone(given ?? {}))
  if (!compiled.Check(value)) {
    const errors = new Map<string, FieldError>()
    for (const error of compiled.Errors(value)) {
      for (const field of fieldErrors(error)) if (!errors.has(field.path)) errors.set(field.path, field)
    }
    throw invalidPolicy({ errors: [...errors.values()] })
  }
  const wrong = [...problemsOfBindings(value.bindings)].map(([at, message]) => ({ path: `/bindings/${at}`, message }))
  if (wrong.length > 0) throw invalidPolicy({ errors: wrong })
  return value
}

const DEFAULTS: Policy = parsePolicy({})

/** {@link parsePolicy}, then {@link clampPolicy}. */
export function readPolicy(given: unknown, ceilings: Ceilings): Policy {
  return clampPolicy(parsePolicy(given), ceilings)
}

/** Lowers a policy's values to the operator's ceilings. A field that is missing in an older policy gets its default. */
export function clampPolicy(given: Policy, ceilings: Ceilings): Policy {
  const policy = { ...DEFAULTS, ...given }
  const { stream_bytes, ...bounds } = ceilings
  if (given.stream_body) bounds.body_bytes = stream_bytes
  for (const key of Object.keys(bounds) as (keyof typeof bounds)[]) policy[key] = Math.min(policy[key], bounds[key])
  policy.min = Math.min(policy.min, policy.max)
  policy.tmp_mb = Math.min(policy.tmp_mb, policy.memory_mb)
  return Object.freeze(policy)
}

/** A policy is flat and short. Anything else is refused before it is traversed. */
function refuseUnwieldy(given: unknown): void {
  if (given === null || typeof given !== 'object') return
  const fields = Object.entries(given)
  if (fields.length > MAX_FIELDS)
    throw invalidPolicy({ errors: [{ path: '/', message: `has more than ${MAX_FIELDS} fields` }] })
  for (const [name, value] of fields) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (items.some((item) => item !== null && typeof item === 'object'))
      throw invalidPolicy({ errors: [{ path: `/${name}`, message: 'holds what no field of a policy holds' }] })
  }
}

interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly message: string
  readonly params: object
}

function fieldErrors(error: SchemaError): FieldError[] {
  // The validator reports an unknown field twice; this error lacks the field's name.
  if (error.keyword === 'boolean') return []
  const params = error.params as { additionalProperties?: readonly string[] }
  if (error.keyword === 'additionalProperties')
    return (params.additionalProperties ?? []).map((name) => ({ path: `/${name}`, message: 'is not a known field' }))
  const field = error.instancePath.split('/')[1] ?? ''
  const schema = (PolicySchema.properties as Record<string, { description?: string }>)[field]
  const said = wording(error)
  const message = schema?.description ? `${said} (${schema.description})` : said
  return [{ path: error.instancePath || '/', message }]
}

function wording({ keyword, message, params }: SchemaError): string {
  if (keyword !== 'enum') return message
  return `must be one of ${(params as { allowedValues: readonly unknown[] }).allowedValues.join(', ')}`
}
