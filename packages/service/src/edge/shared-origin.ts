/**
 * The policy of content that strangers wrote and that lies on an origin which others share: an answer of it is never a page
 * of this origin. Scripts may run in it where `scripts` says so, but as of no origin: they reach neither cookies nor
 * storage nor answers of this one.
 */
export function strangersPolicy(scripts: boolean): string {
  return scripts
    ? 'sandbox allow-scripts allow-forms allow-popups allow-downloads'
    : `default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; sandbox`
}

/** Headers that affect a whole origin, its connections or its visitors: functions may not set them. */
const OF_THE_ORIGIN: ReadonlySet<string> = new Set([
  'set-cookie',
  'set-cookie2',
  'service-worker-allowed',
  'clear-site-data',
  'strict-transport-security',
  'alt-svc',
  'public-key-pins',
  'expect-ct',
  'nel',
  'report-to',
  'reporting-endpoints',
  'origin-agent-cluster',
  'accept-ch',
  'critical-ch',
  'sourcemap',
  'x-sourcemap',
  'speculation-rules',
  'supports-loading-mode',
  'activate-storage-access',
  'set-login',
  'refresh',
  // Credentials, dictionaries, shared storage and trials that a browser keeps for the origin.
  'proxy-authenticate',
  'proxy-authentication-info',
  'authentication-info',
  'authentication-control',
  'optional-www-authenticate',
  'secure-session-registration',
  'secure-session-challenge',
  'secure-session-skipped',
  'sec-session-registration',
  'sec-session-challenge',
  'sec-session-id',
  'idp-signin-status',
  'sec-private-state-token',
  'sec-private-state-token-lifetime',
  'sec-redemption-record',
  'use-as-dictionary',
  'shared-storage-write',
  'origin-trial',
  'accept-ch-lifetime',
  'public-key-pins-report-only',
  'expect-staple',
  'x-dns-prefetch-control',
  'x-permitted-cross-domain-policies',
  // Advertising in the name of the origin.
  'attribution-reporting-register-source',
  'attribution-reporting-register-trigger',
  'attribution-reporting-register-os-source',
  'attribution-reporting-register-os-trigger',
  'observe-browsing-topics',
  'ad-auction-signals',
  'ad-auction-result',
  'ad-auction-result-nonce',
  'ad-auction-only',
  'ad-auction-allowed',
  'ad-auction-additional-bid',
  // Orders to proxies and caches before the origin.
  'x-accel-redirect',
  'x-accel-expires',
  'x-accel-limit-rate',
  'x-accel-charset',
  'x-sendfile',
  'x-lighttpd-send-file',
  'x-litespeed-location',
  'x-litespeed-cache-control',
  'x-litespeed-purge',
  'x-litespeed-vary',
  'x-reproxy-url',
  'surrogate-control',
  'surrogate-key',
  'cdn-cache-control',
  'cloudflare-cdn-cache-control',
  'netlify-cdn-cache-control',
  'vercel-cdn-cache-control',
  'cache-tag',
  'edge-cache-tag',
  'edge-control',
  'xkey',
])

/** Links that only say how answers belong together. Others have a browser open connections, load or keep something. */
const PLAIN_RELATIONS: ReadonlySet<string> = new Set([
  'about',
  'alternate',
  'author',
  'canonical',
  'collection',
  'describedby',
  'edit',
  'first',
  'help',
  'item',
  'last',
  'license',
  'next',
  'prev',
  'previous',
  'related',
  'self',
  'service-desc',
  'service-doc',
  'terms-of-service',
  'type',
  'up',
])

/**
 * True for a header of an answer that a stranger's code may not set on a shared origin.
 *
 * @param value without it, a header that is harmless with some values only counts as harmful
 */
export function isOfTheOrigin(name: string, value = ''): boolean {
  const lower = name.toLowerCase()
  if (lower === 'link') return !isPlainLink(value)
  if (lower === 'www-authenticate') return !asksForToken(value)
  return OF_THE_ORIGIN.has(lower)
}

function isPlainLink(value: string): boolean {
  const targets = value.split('<').length - 1
  const relations = [...value.matchAll(/;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/gi)]
  const names = relations.flatMap(([, quoted, bare = '']) => (quoted ?? bare).toLowerCase().trim().split(/\s+/))
  return relations.length === targets && names.length > 0 && names.every((name) => PLAIN_RELATIONS.has(name))
}

/** Challenges for tokens, which programs answer. For others a browser asks for a password, and keeps it for the origin. */
function asksForToken(value: string): boolean {
  return /^(?:bearer|dpop)\b/i.test(value) && !/\b(?:basic|digest|hoba|mutual|negotiate|ntlm|scram)\b/i.test(value)
}
