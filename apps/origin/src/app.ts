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
  type Http,
  type Logger,
  type ReadinessCheck,
  type Registry,
} from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { authWords } from './auth-words.ts'
import { proxyRoutes, type Upstreams } from './proxies.ts'
import { rasterRoutes, type RasterDeps } from './raster/raster-app.ts'
import { vectorRoutes } from './vector/vector-app.ts'
import { restRoutes, type RestDeps } from './rest/routes.ts'
import type { StorageDeps } from './storage/access.ts'
import { storageRoutes } from './storage/storage-app.ts'

/** Everything the app needs; `openDeps` opens it, tests make their own. */
export interface AppDeps {
  readonly logger: Logger
  readonly registry: Registry
  readonly verify: Verify
  readonly rest: Omit<RestDeps, 'authenticate'>
  readonly storage: Omit<StorageDeps, 'identify'>
  readonly raster: Omit<RasterDeps, 'storage' | 'database'>
  readonly upstreams: Upstreams
  /** Origins that browsers may call from; `*` for all. */
  readonly corsOrigins: readonly string[]
  readonly readiness: Readonly<Record<string, ReadinessCheck>>
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
  'location',
]

/** The project's origin: `/rest/v1`, `/storage/v1`, and the ways to the worker, the functions, the router and the console. */
export async function buildApp(deps: AppDeps): Promise<Http> {
  const app = createHttp({ logger: deps.logger, bodyLimit: deps.bodyLimit })
  addHealth(app, deps.readiness)
  addMetrics(app, deps.registry)
  await app.register(async (open) => {
    await open.register(cors, {
      origin: deps.corsOrigins.includes('*') ? '*' : [...deps.corsOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: EXPOSED,
      maxAge: 3600,
    })
    const http = open as unknown as Http
    const identify = (request: FastifyRequest) => identifyCaller(deps.verify, request)
    await restRoutes(http, { ...deps.rest, authenticate: async (request) => required(await identify(request)) })
    await storageRoutes(http, { ...deps.storage, identify })
    await rasterRoutes(http, { ...deps.raster, storage: { ...deps.storage, identify }, database: deps.rest.database })
    await vectorRoutes(http, { ...deps.rest, authenticate: async (request) => required(await identify(request)) })
    authWords(http)
  })
  await proxyRoutes(app, deps.upstreams)
  return app
}

/** The caller by `apikey` or Bearer; null when neither was sent. An organization's key opens no project. */
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
