import { AwsVariables, Setting, readSettings, type Config } from '@terrane/service'
import { Type } from 'typebox'
import { DEFAULT_IMPORT_HOSTS } from '@terrane/bundler'
import { DEFAULT_CEILINGS, type Ceilings } from './policy.ts'

const variables = {
  PORT: Setting.Port(8001),
  TERRANE_MODE: Type.Enum(['local', 'shared'], { default: 'local', description: 'One project, or many.' }),
  TERRANE_HOME: Type.String({ default: '.terrane', description: 'Folder for unpacked versions and their caches.' }),
  TERRANE_FUNCTIONS_DIR: Type.Optional(Type.String({ description: 'Folder of functions to serve and to watch.' })),
  DATABASE_URL: Type.Optional(
    Setting.Secret(
      'PostgreSQL of the control plane and the registry of deployed functions; without it neither is there.',
    ),
  ),
  TERRANE_FUNCTIONS_STORAGE: Type.String({
    default: 'file:.terrane/functions/archives',
    description: 'Storage of deployed code: file:{folder}, or s3://{bucket}/{prefix} for several hosts.',
  }),
  ...AwsVariables,
  TERRANE_SECRETS_KEY: Type.Optional(
    Setting.Secret('32 bytes as hex or base64; seals the secrets of functions. Required in shared mode.'),
  ),

  TERRANE_PROJECT_REF: Setting.ProjectRef('Local mode: the project.'),
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
  TERRANE_ANON_KEY: Type.Optional(Setting.Secret('Local mode: the anon key.')),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(Setting.Secret('Local mode: the service-role key.')),
  TERRANE_JWT_SECRET: Type.Optional(Setting.Secret('Local mode: verifies HS256 tokens.', 32)),
  TERRANE_JWKS_URL: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'Local mode: verifies ES256 and RS256 tokens.' }),
  ),
  TERRANE_SERVICES_KEY: Type.Optional(
    Setting.Secret('Local mode: the Services API key that privileged functions send to the shared services.', 16),
  ),
  TERRANE_FUNCTIONS_DATABASE_URL: Type.Optional(
    Setting.Secret(
      'Local mode: PostgreSQL of the project, for functions that dial it; its user creates logins without rights, one for each session. Not the embedded database.',
    ),
  ),
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
  TERRANE_FUNCTIONS_INSTANCES: Setting.Count(64, 1, 'Maximum number of processes on this host.'),
  TERRANE_FUNCTIONS_IMPORT_HOSTS: Setting.List(
    'Hosts that functions in a folder may import code from, comma-separated; packages come from the npm registry. Empty: nothing is fetched.',
    DEFAULT_IMPORT_HOSTS.join(','),
  ),
  TERRANE_FETCH_ALLOW_HOSTS: Setting.List(
    'Hosts that functions may fetch from although they are private, comma-separated; `net` of the function names them, `*` does not.',
  ),
}

const ceiling = (name: keyof Ceilings, minimum: number, formerly: string, description = `Ceiling of ${name}.`) =>
  Setting.Count(DEFAULT_CEILINGS[name], minimum, description, `TERRANE_FUNCTIONS_MAX_${formerly}`)

const file = {
  bootTimeoutMs: Setting.Count(10_000, 100, 'Maximum start of an instance.', 'TERRANE_FUNCTIONS_BOOT_TIMEOUT_MS'),
  spares: Setting.Count(1, 0, 'Confined processes without code that are kept ready for cold starts, about 15 MB each.'),
  builds: Setting.Count(
    2,
    1,
    'Functions that are bundled at once, each in a process of its own.',
    'TERRANE_FUNCTIONS_BUILDS',
  ),
  importTimeoutMs: Setting.Count(120_000, 1000, 'Maximum time to fetch what a function in a folder imports.'),
  bodyTimeoutMs: Setting.Count(
    30_000,
    100,
    'Maximum time that a caller may take to send a body.',
    'TERRANE_FUNCTIONS_BODY_TIMEOUT_MS',
  ),
  bufferBytes: Setting.Count(
    536_870_912,
    1_048_576,
    'Maximum bytes of request bodies held at once.',
    'TERRANE_FUNCTIONS_BUFFER_BYTES',
  ),
  databaseSessions: Setting.Count(
    20,
    1,
    'Maximum database sessions of a project’s functions: as many again for the service role.',
    'TERRANE_FUNCTIONS_DATABASE_SESSIONS',
  ),
  keepVersions: Setting.Count(
    20,
    1,
    'Versions of a function that a deploy leaves in the registry.',
    'TERRANE_FUNCTIONS_KEEP_VERSIONS',
  ),
  firstUser: Setting.Count(
    230_000,
    1,
    'A host that is root runs instances as users from this id on.',
    'TERRANE_FUNCTIONS_FIRST_USER',
  ),
  limitStatus: Setting.Count(
    546,
    [500, 599],
    'Status of FUNCTION_RESOURCE_LIMIT; 503 for proxies that refuse 546.',
    'TERRANE_FUNCTIONS_LIMIT_STATUS',
  ),
  ceilings: Type.Object({
    memory_mb: ceiling('memory_mb', 64, 'MEMORY_MB', 'Ceiling of memory_mb; keep it below 500.'),
    block_ms: ceiling('block_ms', 100, 'BLOCK_MS'),
    timeout_ms: ceiling('timeout_ms', 100, 'TIMEOUT_MS'),
    websocket_ms: ceiling('websocket_ms', 0, 'WEBSOCKET_MS'),
    concurrency: ceiling('concurrency', 1, 'CONCURRENCY'),
    max: ceiling('max', 1, 'PER_FUNCTION'),
    body_bytes: ceiling('body_bytes', 0, 'BODY_BYTES'),
    stream_bytes: ceiling(
      'stream_bytes',
      0,
      'STREAM_BYTES',
      'Ceiling of body_bytes for functions of stream_body, whose bodies are not held.',
    ),
    response_bytes: ceiling('response_bytes', 1, 'RESPONSE_BYTES'),
    max_chain: Type.Integer({
      default: DEFAULT_CEILINGS.max_chain,
      minimum: 1,
      maximum: 1_000_000,
      description: 'Ceiling of max_chain.',
    }),
  }),
}

/** The settings of the functions host; docs/settings.md and `.env.example` are written from them. */
export const settings = { app: 'functions', variables, file }
export type FunctionsConfig = Config<typeof settings>

/**
 * The configuration of the functions host.
 *
 * @throws INVALID_CONFIG with every problem
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): FunctionsConfig {
  return readSettings(settings, env)
}

/** The operator's upper limits for a function's policy. */
export function ceilingsOf(config: FunctionsConfig): Ceilings {
  return { ...DEFAULT_CEILINGS, ...config.ceilings }
}
