import type { IncomingHttpHeaders } from 'node:http'
import { METHODS, type Policy } from '../policy.ts'

/** Policy fields that CORS depends on. */
export type CorsPolicy = Pick<Policy, 'cors' | 'methods'>

/** For paths without a function, and so without a policy: any page may read the error. */
export const OPEN: CorsPolicy = { cors: ['*'], methods: [...METHODS] }

const EXPOSED = 'x-request-id, x-error-code, x-function-version, x-relay-error, retry-after, content-range, etag'
const PREFLIGHT_SECONDS = '600'
const HEADER_LIST = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+){0,63}$/

/**
 * CORS headers of an answer, alternating names and values: also on the host's own errors, which browsers would
 * otherwise hide from the page. Empty when the policy leaves CORS to the function, or the origin is not on its list.
 */
export function corsHeaders(policy: CorsPolicy, origin: string | undefined): readonly string[] {
  if (policy.cors.length === 0) return NONE
  if (policy.cors.includes('*')) return ANY
  if (origin === undefined || !policy.cors.includes(origin)) return VARY
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED, 'vary', 'Origin']
}

/** True for a preflight that the host answers itself, without credentials and without an instance. */
export function isPreflight(method: string, headers: IncomingHttpHeaders, policy: CorsPolicy): boolean {
  return method === 'OPTIONS' && policy.cors.length > 0 && headers['access-control-request-method'] !== undefined
}

/** Further headers of a preflight's answer. The requested headers are granted, because no cookies are used. */
export function preflightHeaders(policy: CorsPolicy, requested: string | undefined): string[] {
  const headers = ['access-control-allow-methods', policy.methods.join(', ')]
  if (requested !== undefined && HEADER_LIST.test(requested)) headers.push('access-control-allow-headers', requested)
  headers.push('access-control-max-age', PREFLIGHT_SECONDS)
  return headers
}

const NONE: readonly string[] = []
const ANY: readonly string[] = ['access-control-allow-origin', '*', 'access-control-expose-headers', EXPOSED]
const VARY: readonly string[] = ['vary', 'Origin']

/** Pages may open WebSockets to any origin without being asked: the policy's list holds for them all the same. */
export function isOriginAllowed(origins: readonly string[], { origin }: IncomingHttpHeaders): boolean {
  return origin === undefined || origins.length === 0 || origins.includes('*') || origins.includes(origin)
}
