import type { FastifyRequest } from 'fastify'
import { Histogram, Registry, collectDefaultMetrics, type Gauge } from 'prom-client'
import { createHash, timingSafeEqual } from 'node:crypto'
import { BARE_EDGE, type EdgeSettings } from './edge/settings.ts'
import { metricsClosed } from './errors.ts'
import type { Http } from './http.ts'

export { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Sets a gauge anew whenever the metrics are read. */
export function onScrape(gauge: Gauge, collect: () => Promise<void>): void {
  Object.assign(gauge, { collect })
}

/** A registry with the process's default metrics. */
export function createRegistry(app: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ app })
  collectDefaultMetrics({ register: registry })
  return registry
}

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Registry
  }
}

/**
 * Adds `GET /metrics` in the Prometheus text format, for who sends the operator's key as Bearer, and a histogram of request
 * durations by route and status. `serve` shows the same on a port of its own where one is set.
 */
export function addMetrics(app: Http, registry: Registry, { metricsKey }: EdgeSettings = BARE_EDGE): void {
  app.decorate('metrics', registry)
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    duration.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000)
  })
  const onRequest = async (request: FastifyRequest) => {
    const [, key = ''] = /^bearer (\S{1,1000})$/i.exec(request.headers.authorization ?? '') ?? []
    if (metricsKey === null || !isSame(key, metricsKey)) throw metricsClosed()
  }
  app.get('/metrics', { onRequest, schema: { hide: true } }, async (_, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}

function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
