import { Type, type Static, type TObject, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { invalidConfig } from './errors.ts'

/**
 * Reads an app's configuration from the environment, once: empty variables count as absent, text is converted to the
 * schema's types, defaults are filled in, and every problem is reported at once. Values of schemas marked
 * `secret: true` never appear in a message. The result is frozen.
 *
 * @throws INVALID_CONFIG
 */
export function readEnv<S extends TObject>(
  schema: S,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Static<S>> {
  const raw: Record<string, unknown> = {}
  for (const key of Object.keys(schema.properties)) {
    const value = env[key]?.trim()
    if (value !== undefined && value !== '') raw[key] = value
  }
  const value: unknown = Value.Default(schema, Value.Convert(schema, raw))
  const problems: string[] = []
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = (value as Record<string, unknown>)[name]
    const required = (schema.required as readonly string[] | undefined)?.includes(name) ?? false
    if (given === undefined) {
      if (required) problems.push(`${name} is not set: ${describe(property)}`)
    } else if (!Value.Check(property, given)) {
      const shown = (property as { secret?: boolean }).secret ? 'the value' : `'${String(given)}'`
      problems.push(`${name}: ${shown} is not acceptable: ${describe(property)}`)
    }
  }
  if (problems.length > 0) throw invalidConfig({ problems })
  return Object.freeze(value as Static<S>)
}

/** A secret text: never shown in messages. */
export const Secret = (description: string, minLength = 1) => Type.String({ description, minLength, secret: true })

/** A comma-separated list; `splitList` reads it. */
export const List = (description: string, fallback = '') => Type.String({ description, default: fallback })

/** Settings that every app has. */
export const ServiceEnv = {
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on.' }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least level that is logged.',
  }),
  DRAIN_TIMEOUT_MS: Type.Integer({
    default: 10_000,
    minimum: 0,
    description: 'Longest stop: jobs, requests and what they need, from the signal to the end.',
  }),
  FAREWELL_MS: Type.Integer({
    default: 500,
    minimum: 0,
    description: 'Idle time after which a stopping app closes a connection; longer than the pauses of its clients.',
  }),
  TERRANE_TRUSTED_PROXIES: List(
    'Addresses and CIDR ranges of proxies whose X-Forwarded-For is believed, comma-separated.',
  ),
  TERRANE_METRICS_KEY: Type.Optional(
    Secret("The operator's key: /metrics wants it as one Bearer header. Without it /metrics is closed.", 16),
  ),
  TERRANE_METRICS_PORT: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 65_535,
    description:
      'A port of its own for /metrics, without a key: for networks that only the operator reaches. 0 = none.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'OpenTelemetry collector (OTLP over HTTP) that traces go to, e.g. http://collector:4318; none without it.',
    }),
  ),
  TERRANE_RATE_PER_ADDRESS: Type.Integer({
    default: 600_000,
    minimum: 0,
    description: 'Most requests of one kind in a minute from one address without a secret key; 0 = no limit.',
  }),
  TERRANE_RATE_PER_KEY: Type.Integer({
    default: 0,
    minimum: 0,
    description: 'Most requests of one kind in a minute with one secret key; 0 = no limit.',
  }),
}

/** Credentials and place of an S3 service, named as the AWS tools name them. */
export const AwsEnv = {
  AWS_ACCESS_KEY_ID: Type.Optional(Secret('S3: the id of the key.')),
  AWS_SECRET_ACCESS_KEY: Type.Optional(Secret('S3: the key.')),
  AWS_SESSION_TOKEN: Type.Optional(Secret('S3: token of temporary credentials.')),
  AWS_REGION: Type.Optional(Type.String({ description: 'S3: region of the bucket.' })),
  AWS_ENDPOINT_URL: Type.Optional(Type.String({ description: 'S3: a service other than AWS.' })),
}

function describe(schema: TSchema): string {
  const s = schema as {
    description?: string
    type?: string
    minimum?: number
    maximum?: number
    enum?: readonly string[]
  }
  const facts = [
    s.description,
    s.type &&
      `(${s.type}${s.minimum === undefined ? '' : ` ≥ ${s.minimum}`}${s.maximum === undefined ? '' : ` ≤ ${s.maximum}`})`,
    s.enum && `(one of ${s.enum.join(', ')})`,
  ]
  return facts.filter(Boolean).join(' ')
}
