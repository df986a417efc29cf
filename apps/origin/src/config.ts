import { PROJECT_REF_PATTERN } from '@terrane/contracts/names'
import { ControlEnv, TokenEnv } from '@terrane/control'
import { AwsEnv, List, Secret, ServiceEnv, readEnv } from '@terrane/service'
import { Type, type Static } from 'typebox'

const url = (what: string) =>
  Type.Optional(Type.String({ pattern: '^https?://', description: `Base URL of the ${what}.` }))

/** Every variable of the origin; the operations page and `.env.example` are written from it. */
export const Env = Type.Object({
  ...ServiceEnv,
  PORT: Type.Integer({ default: 8000, minimum: 0, maximum: 65_535, description: 'Port to listen on.' }),
  DATABASE_URL: Secret("PostgreSQL of the project. The role must be allowed to take the project's roles."),
  DATABASE_POOL_SIZE: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 200,
    description: 'Connections of this process.',
  }),
  TERRANE_PROJECT_REF: Type.String({
    default: 'local',
    pattern: PROJECT_REF_PATTERN,
    description: 'The project.',
  }),
  TERRANE_JWT_SECRET: Secret('Verifies tokens of the project and signs storage URLs.', 32),
  ...TokenEnv,
  TERRANE_CONTROL_DATABASE_URL: Type.Optional(
    Secret('PostgreSQL of the control plane, which is asked whether a key still holds; else those below always do.'),
  ),
  TERRANE_PROJECT_ID: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'Id of the project in the control plane of a pool, whose keys are those that count there.',
    }),
  ),
  ...ControlEnv,
  TERRANE_ANON_KEY: Type.Optional(Secret('Without TERRANE_PROJECT_ID: the anon key of the project.')),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(Secret('Without TERRANE_PROJECT_ID: its service-role key.')),
  TERRANE_STORAGE: Type.String({
    default: 'file:.terrane/storage',
    description: 'file:{folder} or s3://{bucket}/{prefix}.',
  }),
  ...AwsEnv,
  TERRANE_STORAGE_MAX_BYTES: Type.Integer({ default: 5_368_709_120, minimum: 1, description: 'Largest object.' }),
  TERRANE_DATA_ROOTS: List(
    'Folders where the sources of embeddings tables lie, comma-separated; the service role sees them as pictures.',
  ),
  TERRANE_FETCH_ALLOW_HOSTS: List('Hosts (name or name:port) of such sources that may be private, comma-separated.'),
  TERRANE_TILE_THREADS: Type.Integer({
    default: 2,
    minimum: 1,
    maximum: 64,
    description: 'Threads that draw pictures of rasters; each holds up to about 150 MiB.',
  }),
  TERRANE_REST_SCHEMAS: List('Schemas that /rest/v1 exposes; the first is the default.', 'public,geoembeddings'),
  TERRANE_STATEMENT_TIMEOUT_MS: Type.Integer({
    default: 30_000,
    minimum: 0,
    description: 'Longest statement of /rest/v1 for the service role; 0 = no limit.',
  }),
  TERRANE_ANON_STATEMENT_TIMEOUT_MS: Type.Integer({
    default: 3000,
    minimum: 0,
    description: 'Longest statement of /rest/v1 for the anon key; 0 = no limit.',
  }),
  TERRANE_USER_STATEMENT_TIMEOUT_MS: Type.Integer({
    default: 8000,
    minimum: 0,
    description: 'Longest statement of /rest/v1 for signed-in users; 0 = no limit.',
  }),
  TERRANE_REST_MAX_ROWS: Type.Integer({
    default: 1000,
    minimum: 0,
    description: 'Most rows of one answer of /rest/v1; 0 = no limit. Content-Range tells whether there are more.',
  }),
  TERRANE_TILE_CACHE_MS: Type.Integer({
    default: 1000,
    minimum: 0,
    maximum: 60_000,
    description:
      'How long a tile of /vector/v1 is given again to the same caller before the database is asked; 0 = never.',
  }),
  TERRANE_EXPORTS_AT_ONCE: Type.Integer({
    default: 4,
    minimum: 0,
    maximum: 100,
    description:
      'Exports of /export/v1 at once; each holds a connection while its client reads. Of three or more, one is kept for each role. 0 = none.',
  }),
  TERRANE_EXPORTS_PER_CALLER: Type.Integer({
    default: 2,
    minimum: 1,
    maximum: 100,
    description: 'Exports at once of one user, or of one address with a key that names no user.',
  }),
  TERRANE_EXPORT_TIMEOUT_MS: Type.Integer({
    default: 3_600_000,
    minimum: 1000,
    description: 'Longest export of /export/v1.',
  }),
  TERRANE_EXPORT_STALL_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    description: 'How long a client of /export/v1 may take nothing before its connection is ended.',
  }),
  TERRANE_EXPORT_BYTES_PER_SECOND: Type.Integer({
    default: 65_536,
    minimum: 1,
    description: 'Least pace of a client of /export/v1: a slower one uses up the time above bit by bit.',
  }),
  TERRANE_EXPORT_FILE_MAX_BYTES: Type.Integer({
    default: 4_294_967_296,
    minimum: 1024,
    description: 'Largest temporary file of /export/v1: of a GeoPackage, on the embedded database of every format.',
  }),
  TERRANE_REST_PLANS: Type.Boolean({
    default: false,
    description: 'Show plans of statements (EXPLAIN), which tell of tables and policies.',
  }),
  TERRANE_REST_EXTENSION_FUNCTIONS: List(
    'Functions of extensions, PostGIS for one, that /rest/v1/rpc may call; none unless named.',
  ),
  TERRANE_BODY_LIMIT_BYTES: Type.Integer({
    default: 10_485_760,
    minimum: 1024,
    description: 'Largest request body of /rest/v1.',
  }),
  TERRANE_PUBLIC_BODY_LIMIT_BYTES: Type.Integer({
    default: 1_048_576,
    minimum: 1024,
    description: 'Largest request body of /rest/v1 for callers without the service-role key.',
  }),
  TERRANE_CORS_ORIGINS: List('Origins that browsers may call from.', '*'),
  TERRANE_WORKER_URL: url('worker'),
  TERRANE_FUNCTIONS_URL: url('functions host'),
  TERRANE_ROUTER_URL: url('routing engine'),
  TERRANE_FUNCTIONS_OWN_ORIGIN: Type.Boolean({
    default: false,
    description:
      'This origin is a domain of the project alone: answers of its functions keep their cookies and may be pages.',
  }),
})
export type OriginConfig = Readonly<Static<typeof Env>>

/**
 * The origin's configuration.
 *
 * @throws INVALID_CONFIG with every problem
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): OriginConfig {
  return readEnv(Env, env)
}
