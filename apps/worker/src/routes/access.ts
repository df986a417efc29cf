import { authenticateBoth, readCredentials, type Principal, type Verify } from '@terrane/auth'
import type { FastifyRequest } from 'fastify'
import { browserRefused } from '../errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
  }
}

/**
 * The worker's door: the same key as `apikey` and as Bearer, and no browser. A browser sends `Origin`; a service key there
 * has leaked already.
 *
 * @throws UNAUTHORIZED, BROWSER_REFUSED
 */
export function checkAccess(verify: Verify): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const principal = await authenticateBoth(readCredentials(request.headers), verify)
    if (request.headers.origin !== undefined) throw browserRefused()
    request.principal = principal
  }
}

/** Where the caller sees this app: `/worker`, or nothing at the root. */
export function mountOf({ originalUrl, url }: FastifyRequest): string {
  return originalUrl.slice(0, originalUrl.length - url.length)
}

/** The principal of a request that has passed the door. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('the route is not behind the door')
  return request.principal
}
