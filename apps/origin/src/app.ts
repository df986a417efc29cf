import {
  authenticateEither,
  forbidden,
  readCredentials,
  unauthorized,
  type Principal,
  type Verify,
} from '@terrane/auth'
import cors from '@fastify/cors'
import {
  addHealth,
  addMetrics,
  createHttp,
  RateLimits,
  credentialOf,
  rateSubject,
  type AppParts,
  type Http,
} from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { authNotOffered } from './auth-not-offered.ts'
import { identifyPage, publishableKeyIn } from './publishable-keys.ts'
import { mapsRoutes } from './maps/maps-app.ts'
import { ogcRoutes } from './ogc/ogc-app.ts'
import { proxyRoutes, type Upstreams } from './proxies.ts'
import { rasterRoutes, type RasterDeps } from './raster/raster-app.ts'
import { exportRoutes, type ExportLimits } from './export/export-app.ts'
import { sqlRoutes } from './sql/sql-app.ts'
import { archiveRoutes } from './vector/archives.ts'
import { Tiles } from './vector/tiles.ts'
import { vectorRoutes } from './vector/vector-app.ts'
import type { RestDeps } from './rest/call.ts'
import { restRoutes } from './rest/routes.ts'
import type { StorageDeps } from './storage/access.ts'
import { storageRoutes } from './storage/storage-app.ts'

/** Everything the app needs; `openDeps` opens it, tests make their own. */
export interface AppDeps extends AppParts {
  /** Cache time of a table's tile for the same caller, in milliseconds. */
  readonly tileMs: number
  readonly verify: Verify
  /** Verifies publishable keys only; when absent, no URL may contain a key. */
  readonly verifyPublishable?: Verify
  readonly rest: Omit<RestDeps, 'authenticate'>
  readonly storage: Omit<StorageDeps, 'identify' | 'limits'>
  readonly exports: ExportLimits
  readonly raster: Omit<RasterDeps, 'storage' | 'database'>
  readonly upstreams: Upstreams
  /** True when the project has this origin to itself: headers of its functions' answers are then not changed. */
  readonly functionsOwnOrigin: boolean
  /** Origins that browsers may call from; `*` for all. */
  readonly corsOrigins: readonly string[]
  /** Readiness checks of single parts; only the part answers 503 while its check fails. */
  readonly partsReady: AppParts['readiness']
  readonly bodyLimit: number
}

/** Headers of answers that scripts of other origins may read. */
const EXPOSED = [
  'content-range',
  'content-length',
  'accept-ranges',
  'etag',
  'x-request-id',
  'x-error-code',
  'preference-applied',
  'content-disposition',
  'x-export-warnings',
  'x-warnings',
  'location',
  'content-crs',
  'allow',
  'retry-after',
]

/** The project's origin: its APIs, and the proxies to the worker, the functions and the router. */
export async function buildApp(deps: AppDeps): Promise<Http> {
  const app = createHttp({ logger: deps.logger, bodyLimit: deps.bodyLimit, edge: deps.edge, longestRequestMs: 0 })
  addHealth(app, deps.readiness, { parts: deps.partsReady, registry: deps.registry })
  addMetrics(app, deps.registry, deps.edge)
  await app.register(async (open) => {
    await open.register(cors, {
      origin: deps.corsOrigins.includes('*') ? '*' : [...deps.corsOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: EXPOSED,
      maxAge: 3600,
    })
    const http = open as unknown as Http
    // Storage has a rate limit of its own, so that many tiles from storage leave requests for a search.
    const limits = { rest: new RateLimits(deps.edge), storage: new RateLimits(deps.edge) }
    const identify = (request: FastifyRequest) =>
      limits.rest.verify(request.ip, credentialOf(request.headers), () => identifyCaller(deps.verify, request))
    const authenticate = async (request: FastifyRequest) => {
      const principal = required(await identify(request))
      limits.rest.count(rateSubject(request, principal.role === 'service_role'))
      return principal
    }
    await restRoutes(http, { ...deps.rest, authenticate })
    const storage = { ...deps.storage, identify, limits: limits.storage }
    await storageRoutes(http, storage)
    await rasterRoutes(http, { ...deps.raster, storage, database: deps.rest.database })
    const identifyPublishable = (request: FastifyRequest) => {
      const key = publishableKeyIn(request)
      if (key === null) return Promise.resolve(null)
      return limits.rest.verify(request.ip, key, () => identifyPage(deps.verifyPublishable, key, request))
    }
    const authenticateTile = async (request: FastifyRequest) => {
      const principal = await identifyPublishable(request)
      if (principal === null) return await authenticate(request)
      limits.rest.count({ address: request.ip })
      return principal
    }
    const tileDeps = { ...deps.rest, tileMs: deps.tileMs }
    const tiles = new Tiles(tileDeps)
    await vectorRoutes(http, { ...tileDeps, tiles, authenticate: authenticateTile })
    await archiveRoutes(http, { ...storage, identifyPublishable })
    await mapsRoutes(http, { ...deps.rest, authenticate: authenticateTile })
    await ogcRoutes(http, { ...deps.rest, tiles, authenticate })
    await sqlRoutes(http, { ...deps.rest, authenticate })
    await exportRoutes(http, { ...deps.rest, limits: deps.exports, authenticate })
    authNotOffered(http)
  })
  refuseServiceWorkers(app)
  await proxyRoutes(app, deps.upstreams, deps.functionsOwnOrigin)
  return app
}

/** The caller by `apikey` or Bearer; null when neither was sent. An organization's key gives no access to a project. */
async function identifyCaller(verify: Verify, request: FastifyRequest): Promise<Principal | null> {
  const principal = await authenticateEither(readCredentials(request.headers), verify)
  if (principal?.role === 'services') throw forbidden({ need: 'a key of the project' })
  return principal
}

function required(principal: Principal | null): Principal {
  if (principal) return principal
  throw unauthorized(
    { reason: 'missing' },
    { hint: 'Send the anon or service role key as `apikey`, or a token as `Authorization: Bearer`.' },
  )
}

/** Refuses scripts of service workers, because these could intercept requests of other pages of this origin. */
function refuseServiceWorkers(app: Http): void {
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['service-worker'] !== undefined) throw forbidden({ need: 'an origin of its own for service workers' })
  })
}
