import { Type } from 'typebox'
import type { Http } from './http.ts'
import { isStopping } from './stopping.ts'

/**
 * A dependency that must answer before the process takes work; throws or rejects when it does not, resolves to
 * `'starting'` while it is still being made ready.
 */
export type ReadinessCheck = () => Promise<unknown>

/** Longest wait for one readiness check, in milliseconds. */
const CHECK_TIMEOUT_MS = 3000

const Report = Type.Object({ status: Type.String(), checks: Type.Record(Type.String(), Type.String()) })

/**
 * Adds `/health/live` (the process runs) and `/health/ready` (503 while a dependency is down or starting, or
 * the process is stopping). No key is needed.
 */
export function addHealth(app: Http, checks: Readonly<Record<string, ReadinessCheck>>): void {
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
      const results = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => {
          try {
            const state = await Promise.race([check(), timeout()])
            return [name, state === 'starting' ? 'starting' : 'ok'] as const
          } catch (error) {
            request.log.warn({ err: error, check: name }, 'readiness check failed')
            return [name, 'down'] as const
          }
        }),
      )
      const status = ['down', 'starting'].find((worst) => results.some(([, state]) => state === worst)) ?? 'ok'
      return reply.code(status === 'ok' ? 200 : 503).send({ status, checks: Object.fromEntries(results) })
    },
  )
}

function timeout(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('timed out')), CHECK_TIMEOUT_MS).unref()
  })
}
