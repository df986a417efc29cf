import { PROJECT_REF_PATTERN } from '@terrane/contracts/names'
import { IsOptional, Type, type Static, type TObject, type TProperties, type TSchema } from 'typebox'

/** Sections of the settings file: one for all apps, and one for each app. */
export const SECTIONS = ['everyApp', 'worker', 'origin', 'functions', 'router', 'console'] as const

/** The settings of an app: environment variables, and members of its section of the settings file. */
export interface SettingsSchema<V extends TProperties = TProperties, F extends TProperties = TProperties> {
  readonly app: string
  readonly variables: V
  readonly file: F
}

/** The values of an app's settings: variables in capitals, and members of the settings file. */
export type Config<S> =
  S extends SettingsSchema<infer V, infer F>
    ? Readonly<
        Static<TObject<typeof ServiceVariables>> &
          Static<TObject<V>> &
          Static<TObject<typeof EveryApp>> &
          Static<TObject<F>>
      >
    : never

/** Facts of a setting for messages and pages; `formerly`: its old environment variable, read for one release. */
export interface SettingFacts {
  readonly description?: string
  readonly type?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
  readonly secret?: boolean
  readonly formerly?: string
  readonly isRequired: boolean
}

/** The facts of a setting. */
export function factsOf(schema: TSchema): SettingFacts {
  const facts = schema as Omit<SettingFacts, 'isRequired'>
  return { ...facts, isRequired: facts.default === undefined && !IsOptional(schema) }
}

/** The members of a group of the settings file; null for a single setting. */
export function groupOf(schema: TSchema): TProperties | null {
  return (schema as { readonly properties?: TProperties }).properties ?? null
}

/** A secret text: never shown in messages. */
const Secret = (description: string, minLength = 1) => Type.String({ description, minLength, secret: true })

/** A comma-separated list; `splitList` reads it. */
const List = (description: string, fallback = '') => Type.String({ description, default: fallback })

/** A whole number, from a minimum on or within limits. @param formerly its old environment variable */
const Count = (
  fallback: number,
  limits: number | readonly [minimum: number, maximum: number],
  description: string,
  formerly?: string,
) => {
  const [minimum, maximum] = [limits].flat() as [number, number?]
  const bounds = { minimum, ...(maximum !== undefined && { maximum }) }
  return Type.Integer({ default: fallback, ...bounds, description, ...(formerly !== undefined && { formerly }) })
}

/** A list of texts of the settings file. @param formerly its old environment variable, comma-separated */
const Texts = (fallback: readonly string[], description: string, formerly: string) =>
  Type.Array(Type.String(), { default: fallback, description, formerly })

/** Port to listen on. */
const Port = (fallback: number) => Count(fallback, [0, 65_535], 'Port to listen on.')

/** Connections of a process to its database. */
const PoolSize = (fallback: number, minimum: number) => Count(fallback, [minimum, 200], 'Connections of this process.')

/** Reference of a project. */
const ProjectRef = (description: string) => Type.String({ default: 'local', pattern: PROJECT_REF_PATTERN, description })

/** Place of a storage. */
const Storage = () =>
  Type.String({ default: 'file:.terrane/storage', description: 'file:{folder} or s3://{bucket}/{prefix}.' })

/** Kinds of settings beside those of TypeBox: `Setting.Count(30, 1, 'Maximum age of jobs, in days.')`. */
export const Setting = { Secret, List, Count, Texts, Port, PoolSize, ProjectRef, Storage }

/** Variables of every app. */
export const ServiceVariables = {
  TERRANE_SETTINGS: Type.Optional(
    Type.String({
      description: 'JSON file with the settings that are rarely changed (docs/settings.md), or its contents.',
    }),
  ),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on.' }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Minimum level of logged entries.',
  }),
  DRAIN_TIMEOUT_MS: Count(10_000, 0, 'Maximum time of a graceful shutdown, from the signal to the end of the process.'),
  TERRANE_TRUSTED_PROXIES: List(
    'Addresses and CIDR ranges of proxies whose X-Forwarded-For is believed, comma-separated.',
  ),
  TERRANE_METRICS_KEY: Type.Optional(
    Secret("The operator's key: /metrics wants it as one Bearer header. Without it /metrics is closed.", 16),
  ),
  TERRANE_METRICS_PORT: Count(
    0,
    [0, 65_535],
    'A port of its own for /metrics, without a key: for networks that only the operator reaches. 0 = none.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'OpenTelemetry collector (OTLP over HTTP) that traces go to, e.g. http://collector:4318; none without it.',
    }),
  ),
}

/** Section `everyApp` of the settings file. */
export const EveryApp = {
  drainIdleMs: Count(
    500,
    0,
    'Idle time after which a connection is closed during shutdown; longer than the pauses of clients.',
    'FAREWELL_MS',
  ),
  rates: Type.Object({
    perAddress: Count(
      600_000,
      0,
      'Maximum requests of one kind in a minute from one address without a secret key; 0 = no limit.',
      'TERRANE_RATE_PER_ADDRESS',
    ),
    perKey: Count(
      0,
      0,
      'Maximum requests of one kind in a minute with one secret key; 0 = no limit.',
      'TERRANE_RATE_PER_KEY',
    ),
  }),
  // The sum of these and the app's own intervals stays within 60 s.
  keys: Type.Object({
    cacheMs: Count(
      20_000,
      [0, 30_000],
      'Time for which a checked key is cached (all apps but the console).',
      'TERRANE_KEYS_CACHE_MS',
    ),
    graceMs: Count(
      20_000,
      [0, 3_600_000],
      'Further time for which a valid key is accepted while the database does not answer; then 503.',
      'TERRANE_KEYS_GRACE_MS',
    ),
  }),
  jwtAudiences: Texts(
    ['authenticated'],
    'Audiences of tokens that are accepted (worker, origin, functions); one without `aud` is, too. Empty accepts any.',
    'TERRANE_JWT_AUDIENCES',
  ),
}

/** Credentials and place of an S3 service, named as the AWS tools name them. */
export const AwsVariables = {
  AWS_ACCESS_KEY_ID: Type.Optional(Secret('S3: the id of the key.')),
  AWS_SECRET_ACCESS_KEY: Type.Optional(Secret('S3: the key.')),
  AWS_SESSION_TOKEN: Type.Optional(Secret('S3: token of temporary credentials.')),
  AWS_REGION: Type.Optional(Type.String({ description: 'S3: region of the bucket.' })),
  AWS_ENDPOINT_URL: Type.Optional(Type.String({ description: 'S3: a service other than AWS.' })),
}
