import { migrate, openDatabase } from '@terrane/database'
import { splitList } from '@terrane/core'
import {
  createGuardedFetch,
  createLogger,
  createRegistry,
  readEdge,
  showPool,
  showStorageCalls,
} from '@terrane/service'
import { observeStore, openStore, within } from '@terrane/storage'
import { RenderPool } from '@terrane/tiling/raster'
import type { AppDeps } from './app.ts'
import type { OriginConfig } from './config.ts'
import { openDoor } from './keys.ts'

/** The open origin; disposing of it closes everything in reverse order. */
export type Deps = AppDeps & AsyncDisposable

/** Opens the project's database and storage. */
export async function openDeps(config: OriginConfig): Promise<Deps> {
  await using opening = new AsyncDisposableStack()
  const logger = createLogger({ name: 'origin', level: config.LOG_LEVEL })
  const database = opening.use(
    await openDatabase({
      url: config.DATABASE_URL,
      max: config.DATABASE_POOL_SIZE,
      applicationName: 'terrane origin',
      onError: (error) => logger.warn({ err: error }, 'database connection lost'),
    }),
  )
  await migrate(database, ['project'])
  const door = opening.use(await openDoor(config, logger))
  const registry = createRegistry('origin')
  const onStorageCall = showStorageCalls(registry)
  const store = observeStore(openStore(config.TERRANE_STORAGE, config), onStorageCall)
  showPool(registry, () => database.connections())
  const pool = opening.use(new RenderPool(config.TERRANE_TILE_THREADS))
  const all = opening.move()
  return {
    logger,
    tileMs: config.tileMs,
    exports: config.exports,
    registry,
    edge: readEdge(config),
    verify: door.verify,
    ...(door.verifyPublishable && { verifyPublishable: door.verifyPublishable }),
    rest: {
      database,
      schemas: splitList(config.TERRANE_REST_SCHEMAS),
      limits: config.rest,
    },
    storage: {
      store,
      jwtSecret: config.TERRANE_JWT_SECRET,
      ...(door.checkRevoked && { checkRevoked: door.checkRevoked }),
      maxObjectBytes: config.maxObjectBytes,
      uploads: observeStore(openStore(within(config.TERRANE_STORAGE, 'uploads'), config), onStorageCall),
    },
    raster: {
      pool,
      fetch: createGuardedFetch({ allowHosts: splitList(config.TERRANE_FETCH_ALLOW_HOSTS) }),
      dataRoots: splitList(config.TERRANE_DATA_ROOTS),
    },
    upstreams: {
      worker: config.TERRANE_WORKER_URL ?? null,
      functions: config.TERRANE_FUNCTIONS_URL ?? null,
      routing: config.TERRANE_ROUTER_URL ?? null,
    },
    functionsOwnOrigin: config.TERRANE_FUNCTIONS_OWN_ORIGIN,
    corsOrigins: splitList(config.TERRANE_CORS_ORIGINS),
    readiness: { database: () => database.query('select 1') },
    partsReady: { storage: () => store.ready() },
    bodyLimit: config.bodyLimitBytes,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
