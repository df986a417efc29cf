import type { Http } from '@terrane/service'
import type { FastifyReply } from 'fastify'

/**
 * The page may load code and data only from its own origin and `servers` (those of the operator's basemap, or of a
 * public map). Only pages of `frames` may embed it. MapLibre draws images from bytes (blob:), and its style sheet
 * contains icons (data:).
 */
function pagePolicy(servers: readonly string[], frames: readonly string[] = []): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data: blob:`,
    `font-src 'self'`,
    `connect-src ${[`'self'`, ...servers].join(' ')}`,
    `worker-src 'self'`,
    `manifest-src 'self'`,
    `base-uri 'none'`,
    `form-action 'self'`,
    `frame-ancestors ${frames.length === 0 ? `'none'` : frames.join(' ')}`,
  ].join('; ')
}

/** Answers of /api are data, so a browser must not run anything in them. */
const API_POLICY = `default-src 'none'; frame-ancestors 'none'; sandbox`

/** Two years; browsers' preload lists require at least one. */
const HSTS = 'max-age=63072000; includeSubDomains'

/**
 * Sets the security headers of every answer. Answers of the API are not cached unless a route says otherwise. `basemap`:
 * the origin of the operator's basemap.
 */
export function addSecurityHeaders(app: Http, secure: boolean, basemap: string | null): void {
  const pageOnly = pagePolicy(serversOf(basemap))
  app.addHook('onRequest', async (request, reply) => {
    const isApi = request.url.startsWith('/api')
    reply.headers({
      'content-security-policy': isApi ? API_POLICY : pageOnly,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    })
    if (isApi) reply.header('cache-control', 'no-store')
    if (secure) reply.header('strict-transport-security', HSTS)
  })
}

/**
 * Headers of the page of a public map: tiles come from the project's origin, and pages of some origins may embed it.
 * Requests for tiles send the origin of the page, because the map's key is limited to it.
 */
export function allowPublicMap(
  reply: FastifyReply,
  basemap: string | null,
  { base, origins }: { readonly base: string; readonly origins: readonly string[] },
): void {
  reply.header('content-security-policy', pagePolicy([...serversOf(basemap), base], [`'self'`, ...origins]))
  reply.header('referrer-policy', 'strict-origin')
  reply.removeHeader('x-frame-options')
}

function serversOf(basemap: string | null): string[] {
  return basemap === null ? [] : [basemap]
}
