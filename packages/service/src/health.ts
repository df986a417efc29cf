import { Type } from 'typebox'
import type { FastifyBaseLogger } from 'fastify'
import type { EdgeSettings } from './edge/settings.ts'
import type { Http } from './http-type.ts'
import type { Logger } from './logger.ts'
import { Gauge, onScrape, type Registry } from './metrics.ts'
import { isStopping } from './stopping.ts'

/** A dependency that must answer before the process takes work; it rejects, or is `'starting'` until it is ready. */
type ReadinessCheck = () => Promise<unknown>

/** Longest wait for one readiness check, in milliseconds. */
const CHECK_TIMEOUT_MS = 3000

const Report = Type.Object({ status: Type.String(), checks: Type.Record(Type.String(), Type.String()) })

type Checks = Readonly<Record<string, ReadinessCheck>>

/** Dependencies of every app: log, metrics, limits of its edge, and health. */
export interface AppParts {
  readonly logger: Logger
  readonly registry: Registry
  /** Trusted proxies, the key for metrics, and rate limits. */
  readonly edge: EdgeSettings
  readonly readiness: Checks
}

type State = 'ok' | 'starting' | 'down'

export interface HealthOptions {
  /** Dependencies of single parts: while one is down its part answers 503, and the app stays ready. */
  readonly parts?: Checks
  /** Registry to which the gauge `terrane_ready` of all checks is added. */
  readonly registry?: Registry
}

/**
 * Adds `/health/live` (the process runs) and `/health/ready` (503 while a dependency is down or starting, or the
 * process is stopping; 200 `degraded` while only the dependency of a part is down). No key is needed.
 */
export function addHealth(app: Http, checks: Checks, { parts = {}, registry }: HealthOptions = {}): void {
  if (registry) showReadiness(registry, { ...checks, ...parts })
  app.get(
    '/health/live',
    {
      config: { quiet: true },
      schema: {
        operationId: 'live',
        summary: 'The process runs',
        tags: ['health'],
        security: [],
        response: { 200: Report },
      },
    },
    async () => ({
      status: 'ok',
      checks: {},
    }),
  )
  app.get(
    '/health/ready',
    {
      config: { quiet: true },
      schema: {
        operationId: 'ready',
        summary: 'What it needs is there',
        tags: ['health'],
        security: [],
        response: { 200: Report, 503: Report },
      },
    },
    async (request, reply) => {
      if (isStopping(app)) return reply.code(503).send({ status: 'stopping', checks: {} })
      const [needed, partial] = await Promise.all([look(checks, request.log), look(parts, request.log)])
      const all = { checks: { ...needed, ...partial } }
      const missing = (['down', 'starting'] as const).find((worst) => Object.values(needed).includes(worst))
      if (missing) return reply.code(503).send({ status: missing, ...all })
      return { status: Object.values(partial).some((state) => state !== 'ok') ? 'degraded' : 'ok', ...all }
    },
  )
}

async function look(checks: Checks, log?: FastifyBaseLogger): Promise<Record<string, State>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, State]> => {
      try {
        const state = await Promise.race([check(), timeout()])
        return [name, state === 'starting' ? 'starting' : 'ok']
      } catch (error) {
        log?.warn({ err: error, check: name }, 'readiness check failed')
        return [name, 'down']
      }
    }),
  )
  return Object.fromEntries(results)
}

/** Adds a gauge with the result of each check, for Prometheus. */
function showReadiness(registry: Registry, checks: Checks): void {
  const ready = new Gauge({
    name: 'terrane_ready',
    help: 'Whether what an app needs is there: 1, 0.5 while it is made ready, 0 while it is down.',
    labelNames: ['check'],
    registers: [registry],
  })
  const values = { ok: 1, starting: 0.5, down: 0 }
  onScrape(ready, async () => {
    for (const [check, state] of Object.entries(await look(checks))) ready.set({ check }, values[state])
  })
}

function timeout(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('timed out')), CHECK_TIMEOUT_MS).unref()
  })
}
