import type { Http } from '@terrane/service'

/**
 * The page runs nothing and talks to nothing but its own origin, and the server of the operator's basemap, if there is one. MapLibre draws images from bytes (blob:) and its style
 * sheet carries icons (data:).
 */
const pagePolicy = (basemap: string | null) =>
  [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data: blob:`,
    `font-src 'self'`,
    `connect-src 'self'${basemap === null ? '' : ` ${basemap}`}`,
    `worker-src 'self'`,
    `manifest-src 'self'`,
    `base-uri 'none'`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
  ].join('; ')

/** Answers of /api are data. Nothing in them may run, whatever a service sent. */
const API_POLICY = `default-src 'none'; frame-ancestors 'none'; sandbox`

/** Two years, as browsers' preload lists require. */
const HSTS = 'max-age=63072000; includeSubDomains'

/**
 * Sets the security headers of every answer. Answers of the API are not cached unless a route says otherwise. `basemap`:
 * the origin of the operator's basemap.
 */
export function addSecurityHeaders(app: Http, secure: boolean, basemap: string | null): void {
  const pageOnly = pagePolicy(basemap)
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
