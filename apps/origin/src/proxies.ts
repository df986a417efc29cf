import proxy from '@fastify/http-proxy'
import { defineError } from '@terrane/core'
import type { Http } from '@terrane/service'

/** Base URLs of the services behind the origin; null for one that does not run. */
export interface Upstreams {
  readonly worker: string | null
  readonly functions: string | null
  readonly routing: string | null
  readonly console: string | null
}

const upstreamOff = defineError(
  'SERVICE_OFF',
  'unavailable',
  (f: { name: string; variable: string }) => `This origin has no ${f.name}`,
  (f) => ({ hint: `Set ${f.variable} to its base URL.` }),
)
const upstreamDown = defineError(
  'SERVICE_DOWN',
  'unavailable',
  (f: { name: string }) => `The ${f.name} does not answer`,
)

const ROUTES = [
  { prefix: '/worker', to: '', name: 'worker', variable: 'TERRANE_WORKER_URL', key: 'worker' },
  {
    prefix: '/functions/v1',
    to: '/functions/v1',
    name: 'functions host',
    variable: 'TERRANE_FUNCTIONS_URL',
    key: 'functions',
  },
  {
    prefix: '/routing-engine/v1',
    to: '/routing-engine/v1',
    name: 'routing engine',
    variable: 'TERRANE_ROUTER_URL',
    key: 'routing',
  },
] as const

/** Hands `/worker`, `/functions/v1` and `/routing-engine/v1` to their services, and everything else to the console. */
export async function proxyRoutes(app: Http, upstreams: Upstreams): Promise<void> {
  for (const { prefix, to, name, variable, key } of ROUTES) {
    const upstream = upstreams[key]
    if (upstream !== null) await pass(app, upstream, prefix, to, name)
    else {
      app.all(`${prefix}/*`, async () => {
        throw upstreamOff({ name, variable })
      })
    }
  }
  // OPTIONS of every path belong to CORS; the console's page is of this origin and never asks.
  const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT']
  if (upstreams.console !== null) await pass(app, upstreams.console, '', '', 'console', methods)
}

async function pass(
  app: Http,
  upstream: string,
  prefix: string,
  rewritePrefix: string,
  name: string,
  httpMethods?: string[],
): Promise<void> {
  await app.register(proxy, {
    upstream,
    prefix,
    rewritePrefix,
    disableRequestLogging: true,
    ...(httpMethods && { httpMethods }),
    http2: false,
    // Answers stream: events, ranges and functions are passed on as they come.
    undici: { headersTimeout: 600_000, bodyTimeout: 0, connections: 256, pipelining: 1 },
    replyOptions: {
      // Expect has been answered here, before the body was read.
      rewriteRequestHeaders: (request, { expect: _expect, ...headers }) => ({ ...headers, 'x-request-id': request.id }),
      onError: (reply, { error }) => {
        reply.request.log.warn({ err: error, upstream: name }, 'upstream failed')
        reply.send(upstreamDown({ name }))
      },
    },
  })
}
