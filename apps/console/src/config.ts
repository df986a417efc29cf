import { Setting, readSettings, type Config } from '@terrane/service'
import { Type } from 'typebox'

const url = (description: string) => Type.Optional(Type.String({ pattern: '^https?://', description }))

const variables = {
  PORT: Setting.Port(8003),
  DATABASE_URL: Setting.Secret('PostgreSQL of the control plane.'),
  DATABASE_POOL_SIZE: Setting.PoolSize(5, 1),
  TERRANE_MODE: Type.Enum(['local', 'shared'], {
    default: 'local',
    description: 'The environment: one project on this machine, or the organizations of a pool.',
  }),
  CONSOLE_WORKER_BASE_LOCAL: url('Worker to use before all others; it takes the service-role key of the project.'),
  CONSOLE_WORKER_BASE_SHARED: url("Shared pool to use before the environment's own; it takes the Services API key."),
  TERRANE_SERVICES_URL: url('Shared services: the pool is at {it}/worker, the router at {it}/routing-engine/v1.'),
  TERRANE_SERVICES_KEY: Type.Optional(
    Setting.Secret('Local mode: the Services API key that is sent to the router and a shared pool.'),
  ),
  TERRANE_ROUTER_URL: url('Host of the router; {it}/routing-engine/v1 is its base.'),
  TERRANE_FUNCTIONS_URL: url('Functions host, for its list and logs. Calls go through the origin of the project.'),
  TERRANE_PROJECT_REF: Setting.ProjectRef('Local mode: the project.'),
  TERRANE_PROJECT_URL: Type.String({
    default: 'http://127.0.0.1:8000',
    pattern: '^https?://',
    description: 'Local mode: the origin of the project.',
  }),
  TERRANE_PROJECT_PUBLIC_URL: url(
    'Local mode: where browsers reach the origin of the project, for public maps; by default TERRANE_PROJECT_URL.',
  ),
  TERRANE_ANON_KEY: Type.Optional(Setting.Secret('Local mode: the anon key of the project.')),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(Setting.Secret('Local mode: the service-role key of the project.')),
  TERRANE_SECRETS_KEY: Type.Optional(
    Setting.Secret('32 bytes as hex or base64; seals the keys of projects and organizations. Required in shared mode.'),
  ),
  TERRANE_CONSOLE_EMAIL: Type.Optional(
    Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$', description: 'The first user, made while there is none.' }),
  ),
  TERRANE_CONSOLE_PASSWORD: Type.Optional(Setting.Secret('Password of the first user.', 10)),
  TERRANE_CONSOLE_SECURE_COOKIES: Type.Optional(
    Type.Boolean({ description: 'Send cookies over https only; default: true in shared mode.' }),
  ),
  TERRANE_CONSOLE_PAGE_DIR: Type.Optional(
    Type.String({ description: 'Folder of a built page; default: dist of the console, built when missing or stale.' }),
  ),
}

const file = {
  projectName: Type.String({
    default: 'Local project',
    description: 'Local mode: the name of the project for people.',
    formerly: 'TERRANE_PROJECT_NAME',
  }),
  idleMinutes: Setting.Count(720, 1, 'Idle time after which a session ends.', 'TERRANE_CONSOLE_IDLE_MINUTES'),
  sessionHours: Setting.Count(168, 1, 'Maximum time of a session.', 'TERRANE_CONSOLE_SESSION_HOURS'),
  bodyLimitBytes: Setting.Count(10_485_760, 1024, 'Maximum request body.', 'TERRANE_BODY_LIMIT_BYTES'),
  basemap: Type.Optional(
    Type.String({
      description:
        'A basemap for all maps: `https://…/{z}/{x}/{y}.png`, `https://….pmtiles`, or the absolute path of a PMTiles file. The countries of the world without it.',
      formerly: 'TERRANE_CONSOLE_BASEMAP',
    }),
  ),
  basemapAttribution: Type.Optional(
    Type.String({
      description: 'Attribution of that basemap, as HTML; an archive carries its own.',
      formerly: 'TERRANE_CONSOLE_BASEMAP_ATTRIBUTION',
    }),
  ),
}

/** The console's settings; docs/settings.md and `.env.example` are written from them. */
export const settings = { app: 'console', variables, file }
export type ConsoleConfig = Config<typeof settings>

/**
 * The console's configuration.
 *
 * @throws INVALID_CONFIG with every problem
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ConsoleConfig {
  return readSettings(settings, env)
}
