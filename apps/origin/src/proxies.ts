import { PassThrough, type Readable } from 'node:stream'
import proxy from '@fastify/http-proxy'
import { defineError } from '@terrane/core'
import type { Http } from '@terrane/service'
import type { FastifyRequest } from 'fastify'

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
    ...(httpMethods && { httpMethods }),
    http2: false,
    // Answers stream: events, ranges and functions are passed on as they come.
    undici: { headersTimeout: 600_000, bodyTimeout: 0, connections: 256, pipelining: 1 },
    preHandler(request, _reply, done) {
      if (request.body) request.body = detachedBody(request)
      done()
    },
    replyOptions: {
      onResponse(_request, reply, response) {
        // It is set for uploads that are not all read yet: they are, below.
        reply.removeHeader('connection')
        reply.send((response as unknown as { readonly stream: Readable }).stream)
      },
      // Expect has been answered here, before the body was read.
      rewriteRequestHeaders: (request, { expect: _expect, ...headers }) => ({ ...headers, 'x-request-id': request.id }),
      onError: (reply, { error }) => {
        reply.request.log.warn({ err: error, upstream: name }, 'upstream failed')
        reply.send(upstreamDown({ name }))
      },
    },
  })
}

/** Longest time that the rest of an upload is read and dropped once nobody wants it. */
const DISCARD_MS = 5000

/**
 * The body as a stream of its own: a service that answers before it has read all of it ends this one and not the caller's
 * connection, with which a caller that writes before it reads would lose the answer.
 */
function detachedBody({ raw }: FastifyRequest): Readable {
  const body = raw.pipe(new PassThrough())
  body.on('error', () => {})
  raw.once('close', () => {
    if (!raw.complete) body.destroy(new Error('the caller is gone'))
  })
  body.once('close', () => {
    if (raw.complete || raw.destroyed) return
    raw.resume()
    const timer = setTimeout(() => raw.destroy(), DISCARD_MS)
    raw.once('close', () => clearTimeout(timer))
  })
  return body
}
