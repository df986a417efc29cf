import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CONSOLE_EMAIL, type Keys } from './keys.ts'
import type { Settings } from './settings.ts'

/** Default of `TERRANE_FUNCTIONS_DIR`. */
const EXAMPLE_FUNCTIONS = fileURLToPath(new URL('../../../apps/functions/examples/', import.meta.url))

type AppName = 'worker' | 'functions' | 'router' | 'console' | 'origin'

/** Folders, ports and keys of a stack's apps. */
interface Places {
  /** The extract of the demo. */
  readonly town: string
  /** Folders that jobs may read, separated by commas. */
  readonly dataRoots: string
  readonly databaseUrl: string
}

/** The apps of a stack in the order of their dependencies, with their environments, connected by the ports. */
export function appsOf(
  { home, ports, projectRef, logLevel }: Settings,
  keys: Keys,
  { town, dataRoots, databaseUrl }: Places,
): (readonly [name: AppName, env: Readonly<Record<string, string>>])[] {
  const common = {
    HOST: '127.0.0.1',
    LOG_LEVEL: logLevel,
    DATABASE_URL: databaseUrl,
    TERRANE_HOME: home,
    TERRANE_PROJECT_REF: projectRef,
    TERRANE_STORAGE: `file:${join(home, 'storage')}`,
    TERRANE_JWT_SECRET: keys.jwtSecret,
    TERRANE_ANON_KEY: keys.anonKey,
    TERRANE_SERVICE_ROLE_KEY: keys.serviceRoleKey,
    TERRANE_SERVICES_KEY: keys.servicesKey,
    TERRANE_SECRETS_KEY: keys.secretsKey,
    TERRANE_METRICS_KEY: keys.metricsKey,
  }
  // Requests that come through the origin carry the caller's address.
  const behindOrigin = { TERRANE_TRUSTED_PROXIES: '127.0.0.1/32' }
  const app = (name: AppName, env: Readonly<Record<string, string>>) =>
    [name, { ...common, PORT: String(ports[name]), ...env }] as const
  return [
    app('worker', {
      ...behindOrigin,
      TERRANE_MODE: 'local',
      TERRANE_FUNCTIONS_URL: local(ports.functions),
      TERRANE_DATA_ROOTS: dataRoots,
      TERRANE_WORK_DIR: join(home, 'work'),
      TERRANE_CACHE_DIR: join(home, 'cache'),
      // The demo town for its own area, Geofabrik for other areas.
      TERRANE_OSM_SOURCE: process.env['TERRANE_OSM_SOURCE'] || `${town},geofabrik`,
      // Occasional look-ups by one person, which the public server allows (one request a second, kept for 30 days).
      TERRANE_GEOCODER_URL: process.env['TERRANE_GEOCODER_URL'] ?? 'https://nominatim.openstreetmap.org/search',
      TERRANE_MODEL_DIR: process.env['TERRANE_MODEL_DIR'] || join(home, 'models'),
    }),
    app('functions', {
      ...behindOrigin,
      TERRANE_MODE: 'local',
      TERRANE_PROJECT_URL: local(ports.origin),
      TERRANE_FUNCTIONS_DIR: process.env['TERRANE_FUNCTIONS_DIR'] || EXAMPLE_FUNCTIONS,
      TERRANE_FUNCTIONS_DATABASE_URL: databaseUrl,
      TERRANE_FUNCTIONS_STORAGE: `file:${join(home, 'functions', 'archives')}`,
    }),
    app('router', {
      ...behindOrigin,
      TERRANE_ROUTING_OSM: process.env['TERRANE_ROUTING_OSM'] || town,
      TERRANE_ROUTING_GRAPH: process.env['TERRANE_ROUTING_GRAPH'] || join(home, 'routing', 'graph.bin'),
      // Otherwise the HTTP thread keeps up to 128 MiB of garbage from answers.
      NODE_OPTIONS: '--max-semi-space-size=8',
    }),
    app('console', {
      TERRANE_MODE: 'local',
      TERRANE_PROJECT_URL: local(ports.origin),
      CONSOLE_WORKER_BASE_LOCAL: local(ports.worker),
      TERRANE_ROUTER_URL: local(ports.router),
      TERRANE_FUNCTIONS_URL: local(ports.functions),
      TERRANE_CONSOLE_EMAIL: CONSOLE_EMAIL,
      TERRANE_CONSOLE_PASSWORD: keys.consolePassword,
    }),
    app('origin', {
      // Files that pass through would double the unused memory of V8's young generation and malloc's arenas.
      NODE_OPTIONS: '--max-semi-space-size=2',
      MALLOC_ARENA_MAX: '2',
      TERRANE_CONTROL_DATABASE_URL: databaseUrl,
      TERRANE_DATA_ROOTS: dataRoots,
      TERRANE_WORKER_URL: local(ports.worker),
      TERRANE_FUNCTIONS_URL: local(ports.functions),
      TERRANE_ROUTER_URL: local(ports.router),
    }),
  ]
}

/** The URL of a port of this machine. */
export function local(port: number): string {
  return `http://127.0.0.1:${port}`
}
