import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedDatabase } from '@terrane/database'
import { App } from './apps.ts'
import { writeTown } from './demo/town.ts'
import { printLine } from './log.ts'
import { CONSOLE_EMAIL, type Keys } from './keys.ts'
import { refuseTakenPorts } from './ports.ts'
import type { Settings } from './settings.ts'

/** The running stack. */
export interface Stack extends AsyncDisposable {
  readonly workerUrl: string
  readonly originUrl: string
  readonly routerUrl: string
  readonly consoleUrl: string
  readonly functionsUrl: string
  readonly projectRef: string
  readonly databaseUrl: string
  /** Rejects when an app ends by itself. */
  readonly failed: Promise<never>
}

/** Served where `TERRANE_FUNCTIONS_DIR` names no folder. */
const EXAMPLE_FUNCTIONS = fileURLToPath(new URL('../../../apps/functions/examples/', import.meta.url))

/**
 * Starts the database and every app in the order of their dependencies. Disposing of it stops them in reverse order.
 */
export async function startStack(settings: Settings, keys: Keys): Promise<Stack> {
  await refuseTakenPorts(settings)
  await using opening = new AsyncDisposableStack()
  const { home, ports, projectRef } = settings
  const files = join(home, 'data')
  await mkdir(files, { recursive: true })
  const town = await writeTown(files)
  const dataRoots = [files, process.env['TERRANE_DATA_ROOTS']].filter(Boolean).join(',')
  const databaseUrl = settings.databaseUrl ?? (await startDatabase(settings, opening))
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {})
  const common = {
    HOST: '127.0.0.1',
    LOG_LEVEL: settings.logLevel,
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
  const start = async (name: string, port: number, env: Readonly<Record<string, string>>) => {
    const app = await App.start(name, { ...common, PORT: String(port), ...env }, (message) =>
      reject(new Error(message)),
    )
    opening.defer(() => app.stop())
  }
  // Requests that come through the origin carry the caller's address.
  const behindOrigin = { TERRANE_TRUSTED_PROXIES: '127.0.0.1/32' }
  await start('worker', ports.worker, {
    ...behindOrigin,
    TERRANE_MODE: 'local',
    TERRANE_DATA_ROOTS: dataRoots,
    TERRANE_WORK_DIR: join(home, 'work'),
    TERRANE_CACHE_DIR: join(home, 'cache'),
    // The demo town for its own area, Geofabrik for the rest of the world.
    TERRANE_OSM_SOURCE: process.env['TERRANE_OSM_SOURCE'] || `${town},geofabrik`,
    // Occasional look-ups by one person, which the public server allows (one request a second, kept for 30 days).
    TERRANE_GEOCODER_URL: process.env['TERRANE_GEOCODER_URL'] ?? 'https://nominatim.openstreetmap.org/search',
    TERRANE_MODEL_DIR: process.env['TERRANE_MODEL_DIR'] || join(home, 'models'),
  })
  await start('functions', ports.functions, {
    ...behindOrigin,
    TERRANE_MODE: 'local',
    TERRANE_PROJECT_URL: local(ports.origin),
    TERRANE_FUNCTIONS_DIR: process.env['TERRANE_FUNCTIONS_DIR'] || EXAMPLE_FUNCTIONS,
    TERRANE_FUNCTIONS_DATABASE_URL: databaseUrl,
    TERRANE_FUNCTIONS_STORAGE: `file:${join(home, 'functions', 'archives')}`,
  })
  await start('router', ports.router, {
    ...behindOrigin,
    TERRANE_ROUTING_OSM: process.env['TERRANE_ROUTING_OSM'] || town,
    TERRANE_ROUTING_GRAPH: process.env['TERRANE_ROUTING_GRAPH'] || join(home, 'routing', 'graph.bin'),
    // Otherwise the HTTP thread keeps up to 128 MiB of garbage from answers.
    NODE_OPTIONS: '--max-semi-space-size=8',
  })
  await start('console', ports.console, {
    TERRANE_MODE: 'local',
    TERRANE_PROJECT_URL: local(ports.origin),
    CONSOLE_WORKER_BASE_LOCAL: local(ports.worker),
    TERRANE_ROUTER_URL: local(ports.router),
    TERRANE_FUNCTIONS_URL: local(ports.functions),
    TERRANE_CONSOLE_EMAIL: CONSOLE_EMAIL,
    TERRANE_CONSOLE_PASSWORD: keys.consolePassword,
  })
  await start('origin', ports.origin, {
    // Otherwise files that pass through leave twice as much unused memory in V8's young generation and in malloc's
    // arenas.
    NODE_OPTIONS: '--max-semi-space-size=2',
    MALLOC_ARENA_MAX: '2',
    TERRANE_CONTROL_DATABASE_URL: databaseUrl,
    TERRANE_DATA_ROOTS: dataRoots,
    TERRANE_UPLOAD_DIR: join(home, 'uploads'),
    TERRANE_WORKER_URL: local(ports.worker),
    TERRANE_FUNCTIONS_URL: local(ports.functions),
    TERRANE_ROUTER_URL: local(ports.router),
  })

  const all = opening.move()
  return {
    workerUrl: local(ports.worker),
    originUrl: local(ports.origin),
    routerUrl: local(ports.router),
    consoleUrl: local(ports.console),
    functionsUrl: local(ports.functions),
    projectRef,
    databaseUrl,
    failed,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function local(port: number): string {
  return `http://127.0.0.1:${port}`
}

async function startDatabase(settings: Settings, opening: AsyncDisposableStack): Promise<string> {
  printLine('database', `starting the embedded database in ${join(settings.home, 'pglite')}`)
  const started = performance.now()
  const database = opening.use(
    await startEmbeddedDatabase({ dataDir: join(settings.home, 'pglite'), port: settings.ports.database }),
  )
  printLine('database', `ready after ${((performance.now() - started) / 1000).toFixed(1)} s`)
  return database.url
}
