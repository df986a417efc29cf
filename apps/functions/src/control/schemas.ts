import { Problem, ref } from '@terrane/contracts'
import { Type, type Static, type TSchema } from 'typebox'
import { FUNCTION_NAME, type Policy } from '../policy.ts'

const closed = { additionalProperties: false } as const

export const ProjectParams = Type.Object({ ref: Type.String() })
export const FunctionParams = Type.Object({
  ref: Type.String(),
  name: Type.String({ pattern: FUNCTION_NAME.source, description: 'Name of the function.' }),
})

const FileContent = Type.Union([
  Type.String({ description: 'Text.' }),
  Type.Object({ base64: Type.String({ maxLength: 64 * 1024 * 1024 }) }, { ...closed, description: 'Bytes.' }),
])

export const DeployBody = Type.Object(
  {
    files: Type.Record(Type.String({ minLength: 1, maxLength: 300 }), FileContent, {
      minProperties: 1,
      maxProperties: 2000,
      description: 'Files by their path in the function’s folder; one of them is index.ts, index.js or the like.',
    }),
    policy: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'The contents of function.json; by default that file is read.' },
      ),
    ),
  },
  closed,
)

export const RollbackBody = Type.Object(
  { version: Type.Optional(Type.Integer({ minimum: 1, description: 'Else the one before the live one.' })) },
  closed,
)

export const RenameBody = Type.Object({ to: FunctionParams.properties.name }, closed)

export const SecretsBody = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,255}$' }),
  Type.Union([Type.String({ maxLength: 48 * 1024 }), Type.Null()]),
  { maxProperties: 100, description: 'Values by name; null deletes a secret.' },
)

export const LogsQuery = Type.Object(
  {
    limit: Type.Integer({ default: 100, minimum: 0, maximum: 1000 }),
    follow: Type.Boolean({ default: false, description: 'Keep the answer open and append new entries.' }),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Text in the message or the fields; upper and lower case are equal.',
      }),
    ),
    level: Type.Optional(Type.Enum(['debug', 'info', 'warn', 'error'], { description: 'Entries of this level.' })),
    request_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'Entries of one request.' })),
  },
  closed,
)

export const DeployQuery = Type.Object(
  { dry_run: Type.Boolean({ default: false, description: 'Checks everything and changes nothing.' }) },
  closed,
)

/** A version as the deploy API shows it. */
export const VersionShown = Type.Object({
  version: Type.Integer({ description: '0 for a function of a watched folder.' }),
  digest: Type.String({ description: 'SHA-256 of the code and its static files.' }),
  bytes: Type.Integer(),
  policy: Type.Unsafe<Policy>({ type: 'object', additionalProperties: true }),
  created_by: Type.String(),
  created_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
})
export type VersionShown = Static<typeof VersionShown>

const FailureShown = Type.Object({
  code: Type.String(),
  message: Type.String(),
  details: Type.Union([Type.String(), Type.Null()], { description: 'Output of the bundler or the process.' }),
  failed_at: Type.String({ format: 'date-time' }),
})

export const FunctionList = Type.Object({
  data: Type.Array(
    Type.Object({
      name: Type.String(),
      etag: Type.Union([Type.String(), Type.Null()]),
      ...VersionShown.properties,
      type_errors: Type.Union([Type.Array(Type.String()), Type.Null()], {
        description: 'For a watched folder, as `file:line:column: text`; null when types were not checked.',
      }),
      policy: Type.Union([VersionShown.properties.policy, Type.Null()], {
        description: 'Null while no version of the function has been served.',
      }),
      problem: Type.Union([FailureShown, Type.Null()], {
        description: 'Why the newest code is not served; the other fields describe the version before it, if any.',
      }),
    }),
  ),
})
export const VersionList = Type.Object({
  data: Type.Array(Type.Object({ ...VersionShown.properties, live: Type.Boolean() })),
})
export const DeployResult = Type.Object({
  name: Type.String(),
  version: Type.Union([Type.Integer(), Type.Null()], { description: 'Null for a dry run.' }),
  digest: Type.String(),
  etag: Type.Union([Type.String(), Type.Null()]),
  unchanged: Type.Boolean({ description: 'True when the same content and policy were already live.' }),
})
export const RollbackResult = Type.Object({ name: Type.String(), version: Type.Integer(), etag: Type.String() })
export const MinuteList = Type.Object({
  data: Type.Array(
    Type.Object({
      time: Type.String({ format: 'date-time', description: 'Start of the minute.' }),
      calls: Type.Integer(),
      errors: Type.Integer({ description: 'Calls answered with 500 or above, by the function or the host.' }),
      p95_ms: Type.Union([Type.Number(), Type.Null()], {
        description: '95th percentile of the durations; null without a call.',
      }),
      cpu_s: Type.Number({ description: 'CPU seconds of all instances.' }),
      memory_mb: Type.Number({ description: 'Peak memory of the largest instance.' }),
    }),
  ),
})
export const SecretList = Type.Object({
  data: Type.Array(Type.Object({ name: Type.String(), updated_at: Type.String({ format: 'date-time' }) })),
})

/** The schema of a route: its parameters, its answers, and problem details for errors. */
export function describe<S extends object>(summary: string, parts: S) {
  return { summary, tags: ['functions'], security: [{ apikey: [] }, { bearer: [] }], ...parts }
}

/** The answers of a route that succeeds with 200. */
export function answers<S extends TSchema>(ok: S) {
  return { 200: ok, ...PROBLEMS }
}

export const PROBLEMS = { '4xx': ref(Problem), '5xx': ref(Problem) } as const
