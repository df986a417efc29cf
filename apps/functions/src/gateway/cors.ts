import type { IncomingHttpHeaders } from 'node:http'
import { METHODS, type Policy } from '../policy.ts'

/** Policy fields that CORS depends on. */
export type CorsPolicy = Pick<Policy, 'auth' | 'cors' | 'methods'>

/** For paths without a function, and so without a policy: any page may read the error. */
export const OPEN: CorsPolicy = { auth: 'anon', cors: ['*'], methods: [...METHODS] }

/** Log message for headers that {@link answerCors} has replaced or left out. */
export const LISTED_ORIGINS =
  '"cors" of function.json narrows the CORS headers of the answers to the origins that it lists'

const ALLOW_ORIGIN = 'access-control-allow-origin'
const ALLOW_CREDENTIALS = 'access-control-allow-credentials'

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

/** CORS headers of a function's answer. */
export interface AnswerCors {
  /** Alternating names and values. */
  readonly headers: readonly string[]
  /** True when the policy's list of origins has left out or replaced a header of the function. */
  readonly narrowed: boolean
}

/**
 * The CORS headers of a function's answer: its own, and the host's defaults for the others. If the policy lists
 * origins, the function's headers are limited to that list.
 *
 * @param own headers of the function that begin with `access-control-`
 */
export function answerCors(policy: CorsPolicy, own: readonly string[], origin: string | undefined): AnswerCors {
  if (own.length === 0) return { headers: corsHeaders(policy, origin), narrowed: false }
  if (policy.cors.length === 0) return { headers: own, narrowed: false }
  const defaults = corsHeaders(policy, origin)
  if (policy.cors.includes('*')) return { headers: merged(own, defaults), narrowed: false }
  const allowed = own.find((_, i) => own[i - 1] === ALLOW_ORIGIN)
  if (defaults === VARY)
    return { headers: VARY, narrowed: origin !== undefined && (allowed === '*' || allowed === origin) }
  if (allowed !== '*') return { headers: merged(own, defaults), narrowed: false }
  // Browsers refuse `*` with credentials but would accept an origin in its place, so the header for credentials goes
  // too.
  const kept = own.filter((_, i) => ![ALLOW_ORIGIN, ALLOW_CREDENTIALS].includes(own[i - (i % 2)]!))
  return { headers: merged(kept, defaults), narrowed: true }
}

/** The headers, with the defaults whose names are missing. */
function merged(own: readonly string[], defaults: readonly string[]): string[] {
  const names = new Set(own.filter((_, i) => i % 2 === 0))
  return [...own, ...defaults.filter((_, i) => !names.has(defaults[i - (i % 2)]!))]
}

/** True for an OPTIONS request in which a browser asks whether a page may send another one. */
export function isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/**
 * True when the host answers preflights itself, without credentials and without an instance. A function that accepts
 * OPTIONS from anyone gets the preflight itself, unless the policy lists origins.
 */
export function answersPreflights({ auth, cors, methods }: CorsPolicy): boolean {
  return cors.length > 0 && !(auth === 'none' && cors.includes('*') && methods.includes('OPTIONS'))
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

/** Browsers send no preflight for WebSockets, so the policy's list of origins is checked here. */
export function isOriginAllowed(origins: readonly string[], { origin }: IncomingHttpHeaders): boolean {
  return origin === undefined || origins.length === 0 || origins.includes('*') || origins.includes(origin)
}
