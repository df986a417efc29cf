import { PROJECT_REF_PATTERN } from '@terrane/contracts/names'
import { ControlEnv, TokenEnv } from '@terrane/control'
import { AwsEnv, List, Secret, ServiceEnv, readEnv } from '@terrane/service'
import { Type, type Static } from 'typebox'
import { DEFAULT_IMPORT_HOSTS } from './imports/hosts.ts'
import { DEFAULT_CEILINGS, type Ceilings } from './policy.ts'

const count = (fallback: number, minimum: number, description: string) =>
  Type.Integer({ default: fallback, minimum, description })

/** Every variable of the functions host; the operations page and `.env.example` are written from it. */
export const Env = Type.Object({
  ...ServiceEnv,
  PORT: Type.Integer({ default: 8001, minimum: 0, maximum: 65_535, description: 'Port to listen on.' }),
  TERRANE_MODE: Type.Enum(['local', 'shared'], { default: 'local', description: 'One project, or many.' }),
  TERRANE_HOME: Type.String({ default: '.terrane', description: 'Folder for unpacked versions and their caches.' }),
  TERRANE_FUNCTIONS_DIR: Type.Optional(Type.String({ description: 'Folder of functions to serve and to watch.' })),
  DATABASE_URL: Type.Optional(
    Secret('PostgreSQL of the control plane and the registry of deployed functions; without it neither is there.'),
  ),
  TERRANE_FUNCTIONS_STORAGE: Type.String({
    default: 'file:.terrane/functions/archives',
    description: 'Where deployed code is kept: file:{folder}, or s3://{bucket}/{prefix} for several hosts.',
  }),
  ...AwsEnv,
  TERRANE_SECRETS_KEY: Type.Optional(
    Secret('32 bytes as hex or base64; seals the secrets of functions. Required in shared mode.'),
  ),

  TERRANE_PROJECT_REF: Type.String({
    default: 'local',
    pattern: PROJECT_REF_PATTERN,
    description: 'Local mode: the project.',
  }),
  TERRANE_PROJECT_URL: Type.String({
    default: 'http://127.0.0.1:8000',
    pattern: '^https?://',
    description: 'Local mode: where this host reaches the origin of the project.',
  }),
  TERRANE_PROJECT_PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'Local mode: where browsers reach the origin of the project, SUPABASE_URL of functions; by default TERRANE_PROJECT_URL.',
    }),
  ),
  TERRANE_ANON_KEY: Type.Optional(Secret('Local mode: the anon key.')),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(Secret('Local mode: the service-role key.')),
  TERRANE_JWT_SECRET: Type.Optional(Secret('Local mode: verifies HS256 tokens.', 32)),
  TERRANE_JWKS_URL: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'Local mode: verifies ES256 and RS256 tokens.' }),
  ),
  TERRANE_SERVICES_KEY: Type.Optional(
    Secret('Local mode: the Services API key that privileged functions send to the shared services.', 16),
  ),
  TERRANE_FUNCTIONS_DATABASE_URL: Type.Optional(
    Secret(
      'Local mode: PostgreSQL of the project, for functions that dial it; its user creates logins without rights, one for each session. Not the embedded database.',
    ),
  ),
  TERRANE_FUNCTIONS_DATABASE_SESSIONS: count(
    20,
    1,
    'Most database sessions of a project’s functions: as many again for the service role.',
  ),
  ...ControlEnv,
  ...TokenEnv,
  TERRANE_FUNCTIONS_DOMAIN: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9.-]+$',
      description:
        'Shared mode: a request to {label}.{domain} is for the project of that host label, by default its reference.',
    }),
  ),

  TERRANE_FUNCTIONS_OWN_ORIGIN: Type.Boolean({
    default: false,
    description:
      'Local mode: this address is the functions’ alone, no console or data beside it: answers keep their cookies and may be pages.',
  }),

  TERRANE_FUNCTIONS_RUNTIME: Type.Enum(['auto', 'deno', 'node'], {
    default: 'auto',
    description: 'Deno, or Node for trusted code where there is no Deno.',
  }),
  TERRANE_FUNCTIONS_PROFILE: Type.Enum(['standard', 'hardened'], {
    default: 'standard',
    description: 'hardened adds bubblewrap; required in shared mode.',
  }),
  TERRANE_FUNCTIONS_FIRST_USER: count(230_000, 1, 'A host that is root runs instances as users from this id on.'),
  TERRANE_FUNCTIONS_INSTANCES: count(64, 1, 'Most processes on this host.'),
  TERRANE_FUNCTIONS_BOOT_TIMEOUT_MS: count(10_000, 100, 'Longest start of an instance.'),
  TERRANE_FUNCTIONS_BUILDS: count(2, 1, 'Functions that are bundled at once, each in a process of its own.'),
  TERRANE_FUNCTIONS_IMPORT_HOSTS: List(
    'Hosts that functions in a folder may import code from, comma-separated; packages come from the npm registry. Empty: nothing is fetched.',
    DEFAULT_IMPORT_HOSTS.join(','),
  ),
  TERRANE_FUNCTIONS_BODY_TIMEOUT_MS: count(30_000, 100, 'Longest time a caller may take to send a body.'),
  TERRANE_FUNCTIONS_BUFFER_BYTES: count(536_870_912, 1_048_576, 'Most bytes of request bodies held at once.'),
  TERRANE_FUNCTIONS_LIMIT_STATUS: Type.Integer({
    default: 546,
    minimum: 500,
    maximum: 599,
    description: 'Status of FUNCTION_RESOURCE_LIMIT; 503 for proxies that refuse 546.',
  }),
  TERRANE_FUNCTIONS_KEEP_VERSIONS: count(20, 1, 'Versions of a function that a deploy leaves in the registry.'),
  TERRANE_FUNCTIONS_MAX_MEMORY_MB: count(DEFAULT_CEILINGS.memory_mb, 64, 'Ceiling of memory_mb; keep it below 500.'),
  TERRANE_FUNCTIONS_MAX_BLOCK_MS: count(DEFAULT_CEILINGS.block_ms, 100, 'Ceiling of block_ms.'),
  TERRANE_FUNCTIONS_MAX_TIMEOUT_MS: count(DEFAULT_CEILINGS.timeout_ms, 100, 'Ceiling of timeout_ms.'),
  TERRANE_FUNCTIONS_MAX_WEBSOCKET_MS: count(DEFAULT_CEILINGS.websocket_ms, 0, 'Ceiling of websocket_ms.'),
  TERRANE_FUNCTIONS_MAX_CONCURRENCY: count(DEFAULT_CEILINGS.concurrency, 1, 'Ceiling of concurrency.'),
  TERRANE_FUNCTIONS_MAX_PER_FUNCTION: count(DEFAULT_CEILINGS.max, 1, 'Ceiling of max.'),
  TERRANE_FUNCTIONS_MAX_BODY_BYTES: count(DEFAULT_CEILINGS.body_bytes, 0, 'Ceiling of body_bytes.'),
  TERRANE_FUNCTIONS_MAX_STREAM_BYTES: count(
    DEFAULT_CEILINGS.stream_bytes,
    0,
    'Ceiling of body_bytes for functions of stream_body, whose bodies are not held.',
  ),
  TERRANE_FUNCTIONS_MAX_RESPONSE_BYTES: count(DEFAULT_CEILINGS.response_bytes, 1, 'Ceiling of response_bytes.'),
  TERRANE_FETCH_ALLOW_HOSTS: List(
    'Hosts that functions may fetch from although they are private, comma-separated; `net` of the function names them, `*` does not.',
  ),
})
export type FunctionsConfig = Readonly<Static<typeof Env>>

/**
 * The configuration of the functions host.
 *
 * @throws INVALID_CONFIG with every problem
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): FunctionsConfig {
  return readEnv(Env, env)
}

/** The operator's upper limits for a function's policy. */
export function ceilingsOf(config: FunctionsConfig): Ceilings {
  return {
    ...DEFAULT_CEILINGS,
    memory_mb: config.TERRANE_FUNCTIONS_MAX_MEMORY_MB,
    block_ms: config.TERRANE_FUNCTIONS_MAX_BLOCK_MS,
    timeout_ms: config.TERRANE_FUNCTIONS_MAX_TIMEOUT_MS,
    websocket_ms: config.TERRANE_FUNCTIONS_MAX_WEBSOCKET_MS,
    concurrency: config.TERRANE_FUNCTIONS_MAX_CONCURRENCY,
    max: config.TERRANE_FUNCTIONS_MAX_PER_FUNCTION,
    body_bytes: config.TERRANE_FUNCTIONS_MAX_BODY_BYTES,
    response_bytes: config.TERRANE_FUNCTIONS_MAX_RESPONSE_BYTES,
    stream_bytes: config.TERRANE_FUNCTIONS_MAX_STREAM_BYTES,
  }
}
