import { AwsVariables, Setting, readSettings, type Config } from '@terrane/service'
import { Type } from 'typebox'

const url = (what: string) =>
  Type.Optional(Type.String({ pattern: '^https?://', description: `Base URL of the ${what}.` }))

const variables = {
  PORT: Setting.Port(8000),
  DATABASE_URL: Setting.Secret("PostgreSQL of the project. The role must be allowed to take the project's roles."),
  DATABASE_POOL_SIZE: Setting.PoolSize(10, 1),
  TERRANE_PROJECT_REF: Setting.ProjectRef('The project.'),
  TERRANE_JWT_SECRET: Setting.Secret('Verifies tokens of the project and signs storage URLs.', 32),
  TERRANE_CONTROL_DATABASE_URL: Type.Optional(
    Setting.Secret(
      'PostgreSQL of the control plane, which is asked whether a key still holds; else those below always do.',
    ),
  ),
  TERRANE_PROJECT_ID: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'Id of the project in the control plane of a pool; only keys of this project are accepted.',
    }),
  ),
  TERRANE_ANON_KEY: Type.Optional(Setting.Secret('Without TERRANE_PROJECT_ID: the anon key of the project.')),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(Setting.Secret('Without TERRANE_PROJECT_ID: its service-role key.')),
  TERRANE_STORAGE: Setting.Storage(),
  ...AwsVariables,
  TERRANE_DATA_ROOTS: Setting.List(
    'Folders where the sources of embeddings tables lie, comma-separated; the service role sees them as pictures.',
  ),
  TERRANE_FETCH_ALLOW_HOSTS: Setting.List(
    'Hosts (name or name:port) of such sources that may be private, comma-separated.',
  ),
  TERRANE_TILE_THREADS: Setting.Count(
    2,
    [1, 64],
    'Threads that draw pictures of rasters; each holds up to about 150 MiB.',
  ),
  TERRANE_REST_SCHEMAS: Setting.List(
    'Schemas that /rest/v1 exposes; the first is the default.',
    'public,geoembeddings',
  ),
  TERRANE_CORS_ORIGINS: Setting.List('Origins that browsers may call from.', '*'),
  TERRANE_WORKER_URL: url('worker'),
  TERRANE_FUNCTIONS_URL: url('functions host'),
  TERRANE_ROUTER_URL: url('routing engine'),
  TERRANE_FUNCTIONS_OWN_ORIGIN: Type.Boolean({
    default: false,
    description:
      'This origin is a domain of the project alone: answers of its functions keep their cookies and may be pages.',
  }),
}

const atOnce = (fallback: number, minimum: number, description: string, formerly: string) =>
  Type.Integer({ default: fallback, minimum, maximum: 100, description, formerly })

const file = {
  bodyLimitBytes: Setting.Count(10_485_760, 1024, 'Maximum request body of /rest/v1.', 'TERRANE_BODY_LIMIT_BYTES'),
  maxObjectBytes: Setting.Count(5_368_709_120, 1, 'Maximum object of /storage/v1.', 'TERRANE_STORAGE_MAX_BYTES'),
  tileMs: Setting.Count(
    1000,
    [0, 60_000],
    'How long a tile of /vector/v1 is given again to the same caller before the database is asked; 0 = never.',
    'TERRANE_TILE_CACHE_MS',
  ),
  rest: Type.Object({
    timeoutsMs: Type.Object({
      anon: Setting.Count(
        3000,
        0,
        'Statement timeout of /rest/v1 for the anon key; 0 = no limit.',
        'TERRANE_ANON_STATEMENT_TIMEOUT_MS',
      ),
      authenticated: Setting.Count(
        8000,
        0,
        'Statement timeout of /rest/v1 for signed-in users; 0 = no limit.',
        'TERRANE_USER_STATEMENT_TIMEOUT_MS',
      ),
      service_role: Setting.Count(
        30_000,
        0,
        'Statement timeout of /rest/v1 for the service role; 0 = no limit.',
        'TERRANE_STATEMENT_TIMEOUT_MS',
      ),
    }),
    maxRows: Setting.Count(
      1000,
      0,
      'Maximum rows of one answer of /rest/v1; 0 = no limit. Content-Range tells whether there are more.',
      'TERRANE_REST_MAX_ROWS',
    ),
    plans: Type.Boolean({
      default: false,
      description: 'Show plans of statements (EXPLAIN), which tell of tables and policies.',
      formerly: 'TERRANE_REST_PLANS',
    }),
    publicBodyBytes: Setting.Count(
      1_048_576,
      1024,
      'Maximum request body of /rest/v1 for callers without the service-role key.',
      'TERRANE_PUBLIC_BODY_LIMIT_BYTES',
    ),
    extensionFunctions: Setting.Texts(
      [],
      'Functions of extensions, PostGIS for one, that /rest/v1/rpc may call; none unless named.',
      'TERRANE_REST_EXTENSION_FUNCTIONS',
    ),
  }),
  exports: Type.Object({
    most: atOnce(
      4,
      0,
      'Maximum exports of /export/v1 at once; each holds a connection while its client reads. Of three or more, one is kept for each role. 0 = none.',
      'TERRANE_EXPORTS_AT_ONCE',
    ),
    mostOfCaller: atOnce(
      2,
      1,
      'Maximum exports at once of one user, or of one address with a key that names no user.',
      'TERRANE_EXPORTS_PER_CALLER',
    ),
    timeoutMs: Setting.Count(3_600_000, 1000, 'Maximum time of an export.', 'TERRANE_EXPORT_TIMEOUT_MS'),
    stallMs: Setting.Count(
      30_000,
      100,
      'How long a client of /export/v1 may take nothing before its connection is ended.',
      'TERRANE_EXPORT_STALL_MS',
    ),
    bytesPerSecond: Setting.Count(
      65_536,
      1,
      'Minimum rate of a client of /export/v1: a slower one uses up the time above bit by bit.',
      'TERRANE_EXPORT_BYTES_PER_SECOND',
    ),
    fileBytes: Setting.Count(
      4_294_967_296,
      1024,
      'Maximum temporary file of /export/v1: of a GeoPackage, on the embedded database of every format.',
      'TERRANE_EXPORT_FILE_MAX_BYTES',
    ),
  }),
}

/** The origin's settings; docs/settings.md and `.env.example` are written from them. */
export const settings = { app: 'origin', variables, file }
export type OriginConfig = Config<typeof settings>

/** The origin's configuration. @throws INVALID_CONFIG with every problem */
export function readConfig(env: Readonly<Record<string, string | undefined>>): OriginConfig {
  return readSettings(settings, env)
}
