import type { IncomingMessage, ServerResponse } from 'node:http'
import { addHealth, addMetrics, addOpenApi, createHttp, onWebSocket, type AppParts, type Http } from '@terrane/service'
import { controlRoutes } from './control/control.ts'
import type { ControlDeps } from './control/control-deps.ts'
import type { Gateway } from './gateway/gateway.ts'
import { PREFIX, originForm } from './gateway/target.ts'

/** Everything the app needs; `openDeps` opens it, tests make their own. */
export interface AppDeps extends AppParts {
  readonly gateway: Gateway
  readonly control: ControlDeps
}

/** Longest time for a bundle to arrive; bodies of functions have a time of their own. */
const LONGEST_UPLOAD_MS = 600_000

/**
 * The HTTP app of the functions host: `/functions/v1/…` goes straight to the gateway, everything else (deploy API,
 * health, metrics) through Fastify.
 */
export async function buildApp(deps: AppDeps): Promise<Http> {
  const app = createHttp({ logger: deps.logger, edge: deps.edge, longestRequestMs: LONGEST_UPLOAD_MS })
  divert(app, deps.gateway)
  for (const method of METHODS) app.routeList.push({ method, url: `${PREFIX}*`, body: null })
  await addOpenApi(app, {
    title: 'Terrane functions host',
    version: '1.0.0',
    description: 'The deploy API of project functions. Functions themselves answer under /functions/v1/{name}.',
  })
  addHealth(app, deps.readiness, { registry: deps.registry })
  addMetrics(app, deps.registry, deps.edge)
  await app.register(async (guarded) => controlRoutes(guarded as unknown as Http, deps.control))
  return app
}

/** HTTP methods that functions accept. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Puts the gateway before Fastify's listener, because Fastify's overhead per request exceeds the budget of a call. */
function divert(app: Http, gateway: Gateway): void {
  const { server } = app
  const listeners = server.listeners('request') as Listener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (originForm(request.url!).startsWith(PREFIX)) gateway.handle(request, response)
    else for (const listener of listeners) listener(request, response)
  })
  onWebSocket(server, PREFIX, (request, response, upgrade) => gateway.handle(request, response, upgrade))
}
