import compress from '@fastify/compress'
import cors from '@fastify/cors'
import { addHealth, addMetrics, createHttp, problemHandler, type AppParts, type Http } from '@terrane/service'
import { constants } from 'node:zlib'
import {
  osrmRoutes,
  osrmServices,
  routingRoutes,
  sendProblem,
  Serving,
  unknownPath,
  type ServingDeps,
} from './routes.ts'

/** Size in bytes from which answers are compressed, if the client accepts it. */
const COMPRESSED_BYTES = 1024

/** Base path of the routing engine. */
export const ROUTING_BASE = '/routing-engine/v1'

/** Everything the app needs; `openDeps` opens it, tests make their own. */
export interface AppDeps extends ServingDeps, AppParts {
  /** Origins that browsers may call from; `*` for all. */
  readonly corsOrigins: readonly string[]
  readonly bodyLimit: number
}

/** The routing server: `{base}/route` and the other actions, OSRM's services, and health and metrics outside the base. */
export async function buildApp(deps: AppDeps): Promise<Http> {
  const app = createHttp({
    logger: deps.logger,
    bodyLimit: deps.bodyLimit,
    edge: deps.edge,
    onUnreadablePath: (error, request, reply) => {
      if (request.url.startsWith(`${ROUTING_BASE}/`)) sendProblem(unknownPath(deps.actions).body, reply)
      else problemHandler(error, request, reply)
    },
  })
  addHealth(app, deps.readiness, { registry: deps.registry })
  addMetrics(app, deps.registry, deps.edge)
  const serving = new Serving(deps)
  await app.register(
    async (base) => {
      await openToBrowsers(base, deps.corsOrigins)
      routingRoutes(base, serving)
    },
    { prefix: ROUTING_BASE },
  )
  // Clients of OSRM without a configurable base find its services at the root.
  for (const place of ['', ROUTING_BASE, `${ROUTING_BASE}/osrm`]) {
    for (const service of osrmServices(deps.actions)) {
      const prefix = `${place}/${service}/v1`
      await app.register(
        async (scope) => {
          await openToBrowsers(scope, deps.corsOrigins)
          osrmRoutes(scope, service, serving)
        },
        { prefix },
      )
    }
  }
  return app
}

/** Lets browsers read the answers of a scope, and compresses them. */
async function openToBrowsers(scope: Http, origins: readonly string[]): Promise<void> {
  await scope.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST'],
    strictPreflight: false,
    exposedHeaders: ['x-request-id', 'retry-after'],
    maxAge: 3600,
  })
  // Only answers: request bodies are never decompressed, since a small one could unpack to gigabytes.
  await scope.register(compress, {
    globalDecompression: false,
    threshold: COMPRESSED_BYTES,
    encodings: ['br', 'gzip', 'deflate'],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    zlibOptions: { level: 4 },
  })
}
