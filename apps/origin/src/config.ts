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
    pattern: '^[a-z0-9][a-z0-9_-]{0,62}$',
    description: 'The project.',
  }),
  TERRANE_JWT_SECRET: Secret('Verifies tokens of the project and signs storage URLs.', 32),
  TERRANE_ANON_KEY: Type.Optional(Secret('An opaque anon key.')),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(Secret('An opaque service-role key.')),
  TERRANE_STORAGE: Type.String({
    default: 'file:.terrane/storage',
    description: 'file:{folder} or s3://{bucket}/{prefix}.',
  }),
  ...AwsEnv,
  TERRANE_STORAGE_MAX_BYTES: Type.Integer({ default: 5_368_709_120, minimum: 1, description: 'Largest object.' }),
  TERRANE_REST_SCHEMAS: List('Schemas that /rest/v1 exposes; the first is the default.', 'public,geoembeddings'),
  TERRANE_STATEMENT_TIMEOUT_MS: Type.Integer({
    default: 30_000,
    minimum: 0,
    description: 'Longest statement of /rest/v1; 0 = no limit.',
  }),
  TERRANE_BODY_LIMIT_BYTES: Type.Integer({
    default: 10_485_760,
    minimum: 1024,
    description: 'Largest request body of /rest/v1.',
  }),
  TERRANE_CORS_ORIGINS: List('Origins that browsers may call from.', '*'),
  TERRANE_WORKER_URL: url('worker'),
  TERRANE_FUNCTIONS_URL: url('functions host'),
  TERRANE_ROUTER_URL: url('routing engine'),
  TERRANE_CONSOLE_URL: url('console'),
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
