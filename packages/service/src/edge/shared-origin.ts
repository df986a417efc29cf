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

/** Headers that speak for a whole origin, its connections or its visitors, and so are not a stranger's to set. */
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
])

/** True for a header of an answer that a stranger's code may not set on a shared origin. */
export function isOfTheOrigin(name: string): boolean {
  return OF_THE_ORIGIN.has(name.toLowerCase())
}
