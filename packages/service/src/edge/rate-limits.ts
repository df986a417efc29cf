import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { rateLimited } from '../errors.ts'
import { networkOf } from './network.ts'
import type { EdgeSettings } from './settings.ts'

/** Who asks, as far as limits are concerned: a holder of a secret key, or anybody at an address. */
export type RateSubject = { readonly key: string } | { readonly address: string }

/** Counts a request; one too many is refused. */
export type RateLimit = (subject: RateSubject) => Promise<void>

const WINDOW_SECONDS = 60

/**
 * Limits the requests of a kind (a route class: reads and writes of tables, of objects, jobs) in a minute, in this process. A
 * secret key counts for itself wherever it comes from; what anybody may hold, or no key at all, counts for the address.
 */
export function createRateLimit({ ratePerAddress, ratePerKey }: EdgeSettings): RateLimit {
  const [addresses, keys] = [limiter(ratePerAddress), limiter(ratePerKey)]
  return async (subject) => {
    try {
      if ('address' in subject) await addresses?.consume(networkOf(subject.address))
      else await keys?.consume(createHash('sha256').update(subject.key).digest('base64'))
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      throw rateLimited({ seconds: Math.max(1, Math.ceil(error.msBeforeNext / 1000)) })
    }
  }
}

function limiter(points: number): RateLimiterMemory | null {
  return points > 0 ? new RateLimiterMemory({ points, duration: WINDOW_SECONDS }) : null
}

/** The subject of a request whose key was verified: `secret` for keys that only servers hold. */
export function rateSubject(request: FastifyRequest, secret: boolean): RateSubject {
  const key = request.headers['apikey'] ?? request.headers.authorization
  return secret && typeof key === 'string' ? { key } : { address: request.ip }
}
