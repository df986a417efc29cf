import { authenticateBoth, forbidden, readCredentials, type Principal, type Role, type Verify } from '@terrane/auth'
import { credentialOf, rateSubject, type RateLimits } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { browserRefused } from '../errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
  }
}

/**
 * Access check of the worker, before a byte of the body is read: the same key as `apikey` and as Bearer, with a server
 * role, and not from a browser. A request with `Origin` comes from a browser, where a service key must not be.
 *
 * @throws UNAUTHORIZED, FORBIDDEN, BROWSER_REFUSED, RATE_LIMITED
 */
export function checkAccess(verify: Verify, limits: RateLimits): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const principal = await limits.verify(request.ip, credentialOf(request.headers), () =>
      authenticateBoth(readCredentials(request.headers), verify),
    )
    if (request.headers.origin !== undefined) throw browserRefused()
    if (!SERVER_ROLES.has(principal.role)) throw forbidden({ need: 'a key that only servers hold' })
    request.principal = principal
    limits.count(rateSubject(request, true))
  }
}

const SERVER_ROLES: ReadonlySet<string> = new Set<Role>(['service_role', 'services'])

/** Path prefix of this app as the caller sees it: `/worker`, or empty. */
export function mountOf({ originalUrl, url }: FastifyRequest): string {
  return originalUrl.slice(0, originalUrl.length - url.length)
}

/** The principal of a request that has passed the access check. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('the route is not behind the door')
  return request.principal
}
