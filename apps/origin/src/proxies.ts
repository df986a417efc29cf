import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import proxy, { type FastifyHttpProxyOptions } from '@fastify/http-proxy'
import { defineError } from '@terrane/core'
import { discardRest, isOfTheOrigin, strangersPolicy, traceparent, type Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { WebSockets } from './websockets.ts'

/** Base URLs of the services behind the origin; null for a service that does not run. */
export interface Upstreams {
  readonly worker: string | null
  readonly functions: string | null
  readonly routing: string | null
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
  { prefix: '/worker', to: '/worker', name: 'worker', variable: 'TERRANE_WORKER_URL', key: 'worker' },
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
  { prefix: '/route/v1', to: '/route/v1', name: 'routing engine', variable: 'TERRANE_ROUTER_URL', key: 'routing' },
  { prefix: '/table/v1', to: '/table/v1', name: 'routing engine', variable: 'TERRANE_ROUTER_URL', key: 'routing' },
  { prefix: '/nearest/v1', to: '/nearest/v1', name: 'routing engine', variable: 'TERRANE_ROUTER_URL', key: 'routing' },
  { prefix: '/trip/v1', to: '/trip/v1', name: 'routing engine', variable: 'TERRANE_ROUTER_URL', key: 'routing' },
  { prefix: '/match/v1', to: '/match/v1', name: 'routing engine', variable: 'TERRANE_ROUTER_URL', key: 'routing' },
] as const

/**
 * Proxies `/worker`, `/functions/v1`, `/routing-engine/v1` and the paths of OSRM's services.
 *
 * @param functionsOwnOrigin whether answers of functions may have headers that affect the whole origin
 */
export async function proxyRoutes(app: Http, upstreams: Upstreams, functionsOwnOrigin: boolean): Promise<void> {
  for (const route of ROUTES) {
    const upstream = upstreams[route.key]
    const guarded = route.key === 'functions' && !functionsOwnOrigin
    if (upstream !== null) await pass(app, upstream, route, guarded)
    else {
      app.all(`${route.prefix}/*`, async () => {
        throw upstreamOff(route)
      })
    }
  }
}

async function pass(
  app: Http,
  upstream: string,
  { prefix, to, name }: (typeof ROUTES)[number],
  guarded: boolean,
): Promise<void> {
  // The worker and the routing engine accept no WebSockets.
  const sockets = prefix === '/functions/v1' ? new WebSockets(app, `${prefix}/`, upstream) : null
  await app.register(async (scope) => {
    // Bodies are passed on as streams.
    scope.removeContentTypeParser('application/json')
    if (sockets) {
      scope.addHook('preHandler', async (request, reply) =>
        sockets.has(request) ? passWebSocket(sockets, { request, reply }, { name, guarded }) : undefined,
      )
    }
    await scope.register(proxy, optionsOf(upstream, { prefix, to, name }, guarded))
  })
}

/** Proxies a WebSocket request, and sends a refusal of the service; after an upgrade the reply is not used. */
async function passWebSocket(
  sockets: WebSockets,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { name, guarded }: { readonly name: string; readonly guarded: boolean },
): Promise<FastifyReply> {
  const headers = forwarded(request, request.headers)
  let answer: IncomingMessage | null
  try {
    answer = await sockets.pass(request, reply, headers, (header) => !guarded || !isOfTheOrigin(header))
  } catch (error) {
    request.log.warn({ err: error, upstream: name }, 'upstream failed')
    throw upstreamDown({ name })
  }
  if (!answer) return reply
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...own } = answer.headers
  return reply
    .code(answer.statusCode!)
    .headers(guarded ? ofStrangers(own) : own)
    .send(answer)
}

function optionsOf(
  upstream: string,
  { prefix, to, name }: { readonly prefix: string; readonly to: string; readonly name: string },
  guarded: boolean,
): FastifyHttpProxyOptions {
  return {
    upstream,
    prefix,
    rewritePrefix: to,
    http2: false,
    // This app logs the request already.
    disableRequestLogging: true,
    // No body timeout, because events, ranges and functions may stream for a long time.
    undici: { headersTimeout: 600_000, bodyTimeout: 0, connections: 256, pipelining: 1 },
    preHandler(request, _reply, done) {
      if (request.body) request.body = detachedBody(request)
      done()
    },
    replyOptions: {
      onResponse(_request, reply, response) {
        // The proxy sets `connection` when an upload was not read to its end, but detachedBody reads the rest.
        reply.removeHeader('connection')
        reply.send((response as unknown as { readonly stream: Readable }).stream)
      },
      rewriteHeaders: (headers) => (guarded ? ofStrangers(headers) : headers),
      rewriteRequestHeaders: (request, headers) => forwarded(request as FastifyRequest, headers),
      onError: (reply, { error }) => {
        reply.request.log.warn({ err: error, upstream: name }, 'upstream failed')
        reply.send(upstreamDown({ name }))
      },
    },
  }
}

/** The headers of a request to a service. The caller's address is set here and not copied from the caller's headers. */
function forwarded(request: FastifyRequest, headers: IncomingHttpHeaders): IncomingHttpHeaders {
  // Node's server has answered Expect before the body was read.
  const { expect: _, forwarded: __, 'x-real-ip': ___, ...rest } = headers
  const trace = traceparent()
  return {
    ...rest,
    ...(trace !== null && { traceparent: trace }),
    'x-request-id': request.id,
    'x-forwarded-for': request.ip,
    'x-forwarded-host': request.host,
    'x-forwarded-proto': request.protocol,
  }
}

/** The headers of a function's answer on an origin that it shares with storage, data and functions of others. */
function ofStrangers(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !isOfTheOrigin(name, String(value))),
  )
  const own = kept['content-security-policy']
  // A browser enforces all policies of a list.
  const policy = own === undefined ? strangersPolicy(true) : `${String(own)}, ${strangersPolicy(true)}`
  return { ...kept, 'content-security-policy': policy, 'x-content-type-options': 'nosniff' }
}

/** The body as a stream of its own: a service that answers early destroys it, not the caller's connection. */
function detachedBody({ raw }: FastifyRequest): Readable {
  const body = raw.pipe(new PassThrough())
  body.on('error', () => {})
  raw.once('close', () => {
    if (!raw.complete) body.destroy(new Error('the caller is gone'))
  })
  body.once('close', () => {
    if (raw.complete || raw.destroyed) return
    discardRest(raw)
  })
  return body
}
