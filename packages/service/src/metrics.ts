import type { FastifyRequest } from 'fastify'
import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { BARE_EDGE, type EdgeSettings } from './edge/settings.ts'
import { addressInUse, metricsClosed } from './errors.ts'
import type { Http } from './http-type.ts'

export { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Longest wait of a scrape for a collector, in milliseconds. */
const COLLECT_WAIT_MS = 1000

const collectors = new WeakMap<object, Collector>()

/** Sets a gauge at each scrape; a failed or slow one stays, and `terrane_metric_age_seconds` is its age. */
export function onScrape(gauge: Gauge, collect: () => void | Promise<void>): void {
  const collector = new Collector(collect)
  collectors.set(gauge, collector)
  Object.assign(gauge, { collect: () => collector.refresh() })
}

/** Runs a collector, one run at a time; its errors do not fail a scrape, and a slow run delays it only briefly. */
class Collector {
  readonly #collect: () => void | Promise<void>
  #running: Promise<void> | null = null
  #refreshedAt = performance.now()

  constructor(collect: () => void | Promise<void>) {
    this.#collect = collect
  }

  /** Seconds since the end of the last run that succeeded, or since the gauge was made. */
  get ageSeconds(): number {
    return (performance.now() - this.#refreshedAt) / 1000
  }

  /** Resolves when the run has ended, and after a second at the latest. */
  async refresh(): Promise<void> {
    this.#running ??= this.#run()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, COLLECT_WAIT_MS)
    await Promise.race([this.#running, late])
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    try {
      await this.#collect()
      this.#refreshedAt = performance.now()
    } catch {
      // The failure is visible as the age of the values.
    } finally {
      this.#running = null
    }
  }
}

/** A registry with the process's default metrics, and the age of the values of {@link onScrape}. */
export function createRegistry(app: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ app })
  collectDefaultMetrics({ register: registry })
  const age = new Gauge({
    name: 'terrane_metric_age_seconds',
    help: 'Time since the values of a metric were collected.',
    labelNames: ['metric'],
    registers: [registry],
    async collect() {
      const collected = registry.getMetricsAsArray().flatMap((metric) => {
        const collector = collectors.get(metric)
        return collector ? [{ metric: metric.name, collector }] : []
      })
      await Promise.all(collected.map(({ collector }) => collector.refresh()))
      for (const { metric, collector } of collected) age.set({ metric }, collector.ageSeconds)
    },
  })
  return registry
}

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Registry
  }
}

/** Adds `GET /metrics` for the operator's key, and durations of requests by route and status. */
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

/** Serves metrics without a key on a port of their own; null when the port is 0. @throws ADDRESS_IN_USE */
export async function serveMetrics({ metrics, log }: Http, host: string, port: number): Promise<Disposable | null> {
  if (port === 0) return null
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') response.writeHead(404).end()
    else {
      answer(response, metrics).catch((error: unknown) => {
        log.error({ err: error }, 'metrics could not be written')
        response.writeHead(500).end()
      })
    }
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  await promise.catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? addressInUse({ host, port }, { cause: error }) : error
  })
  return {
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(response: ServerResponse, metrics: Registry): Promise<void> {
  const text = await metrics.metrics()
  response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
}

function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
