import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isOfTheOrigin, strangersPolicy } from '@terrane/service'
import type { Caller } from './caller.ts'

/** Headers that concern one connection only (RFC 9110 section 7.6.1), and those the host alone writes. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'host',
  'content-length',
  'expect',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'forwarded',
  // Without WebSocket extensions such as compression, the frames state the true size of a message.
  'sec-websocket-extensions',
])
const NOT_RETURNED: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'x-request-id', 'x-function-version', 'x-error-code'])

/** Headers added to answers on a shared origin. They apply in addition to the function's own policy. */
const SHARED_ORIGIN = ['content-security-policy', strangersPolicy(true), 'x-content-type-options', 'nosniff']

/** Log message for headers that were left out on a shared origin. */
export const LEFT_OUT =
  'headers of the answers that act beyond them, such as Set-Cookie, are left out: functions share their origin with other services'

/** Headers with this prefix are reserved for host and shim. They are removed from all other messages. */
const INTERNAL = 'x-terrane-'

/** Maximum number of request headers. Runtimes answer 400 without a body to more, and the host adds a few. */
const MAX_HEADERS = 100

/** True for a request with more headers than a function can be given. */
export function hasTooManyHeaders({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > 2 * MAX_HEADERS
}

/**
 * Headers of a call by the platform, for a cron time or with messages of a queue; accepted only from the service role.
 */
const PLATFORM_HEADERS = ['x-terrane-cron', 'x-terrane-queue'] as const
const PLATFORM_VALUE = /^[\w%.!~*'()-]{1,2000}$/

/** The lines of these headers of a call by the platform; empty for calls by others. */
export function platformHeaders({ headers }: IncomingMessage, { rank }: Pick<Caller, 'rank'>): string {
  if (rank !== 'service') return ''
  const lines = PLATFORM_HEADERS.map((name) => [name, headers[name]] as const).filter(
    ([, value]) => typeof value === 'string' && PLATFORM_VALUE.test(value),
  )
  return lines.map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')
}

const NONE: readonly string[] = []
const SAFE_HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Facts about a call that its head carries to the instance. */
export interface RequestFacts {
  readonly requestId: string
  readonly call: string
  /** Address of the caller, as the last trusted proxy names it. */
  readonly client: string
  readonly claims: string | null
  readonly exchanged: Exchanged | null
  /** Whether the peer is a trusted proxy, whose headers give the address that the caller used. */
  readonly isTrusted: boolean
  /** Whether the request asks for an upgrade to a WebSocket. */
  readonly upgrades: boolean
  /** Lines of {@link platformHeaders}. */
  readonly platform: string
}

/**
 * The head of a request for the function's instance, with the blank line.
 *
 * @param path the function's name and the remaining path
 * @param bodyBytes size of the body; 0 without one, null for one whose size is not known yet
 */
export function requestHead(
  { method, rawHeaders, headers, socket }: IncomingMessage,
  path: string,
  bodyBytes: number | null,
  facts: RequestFacts,
): string {
  const { host, protocol } = publicAddress(headers, facts.isTrusted)
  const bodiless = bodyBytes === 0 && (method === 'GET' || method === 'HEAD')
  return (
    `${method} ${protocol}://${host}/${path} HTTP/1.1\r\nhost: ${host}\r\n` +
    `x-forwarded-host: ${host}\r\nx-forwarded-proto: ${protocol}\r\n` +
    forwardedHeaders(rawHeaders, headers.connection, socket.remoteAddress ?? '', facts) +
    `x-request-id: ${facts.requestId}\r\n${INTERNAL}call: ${facts.call}\r\n${INTERNAL}client: ${facts.client}\r\n` +
    (facts.claims === null ? '' : `${INTERNAL}claims: ${facts.claims}\r\n`) +
    facts.platform +
    (facts.upgrades ? 'connection: Upgrade\r\nupgrade: websocket\r\n' : '') +
    (bodiless
      ? '\r\n'
      : `${bodyBytes === null ? 'transfer-encoding: chunked' : `content-length: ${bodyBytes}`}\r\n\r\n`)
  )
}

/** Values that replace credential headers for the function; null leaves a header as received. */
export interface Exchanged {
  readonly authorization: string | null
  readonly apikey: string | null
}

/**
 * Keys of the service role are replaced by the instance's own token, which code compares with its environment; null for
 * requests without one.
 *
 * @param token of the instance
 */
export function exchangeServiceKey(
  { serviceHeaders }: Pick<Caller, 'serviceHeaders'>,
  token: string,
): Exchanged | null {
  if (serviceHeaders.length === 0) return null
  return {
    authorization: serviceHeaders.includes('authorization') ? `Bearer ${token}` : null,
    apikey: serviceHeaders.includes('apikey') ? token : null,
  }
}

/**
 * The headers of a request as the function gets them: one string, each line ended.
 *
 * @param raw names and values, alternating, as received
 * @param connection value of the Connection header, which may name further headers to leave out
 * @param client address of the peer
 * @param about isTrusted: whether the peer is a proxy whose forwarding headers are trusted
 */
export function forwardedHeaders(
  raw: readonly string[],
  connection: string | undefined,
  client: string,
  { isTrusted, exchanged }: Pick<RequestFacts, 'isTrusted' | 'exchanged'>,
): string {
  const listed = connection === undefined ? null : connectionOptions(connection)
  let text = ''
  let forwarded = client
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    if (isTrusted && name === 'x-forwarded-for') forwarded = `${raw[i + 1]!}, ${client}`
    if (NOT_FORWARDED.has(name) || name.startsWith(INTERNAL) || listed?.has(name)) continue
    const other = name === 'authorization' || name === 'apikey' ? exchanged?.[name] : null
    text += `${name}: ${other ?? raw[i + 1]!}\r\n`
  }
  return `${text}x-forwarded-for: ${forwarded}\r\n`
}

/** Contents of the head of a function's answer. */
export interface Returned {
  readonly headers: string[]
  /** Headers that begin with `access-control-`; not among the others. */
  readonly cors: readonly string[]
  /** True when headers were left out because functions share an origin. */
  readonly cut: boolean
  /** Not empty when the host is to answer in the function's place. */
  readonly failure: string
  /** True when background work continues after the answer. */
  readonly held: boolean
}

/**
 * Splits a function's answer: the headers for the caller, and the shim's own information in them.
 *
 * @param received names in lower case and values, alternating
 * @param ownOrigin false on a shared origin: the answer cannot act as a page of it, and sets no cookies
 */
export function returnedHeaders(received: readonly string[], ownOrigin: boolean): Returned {
  const headers: string[] = ownOrigin ? [] : [...SHARED_ORIGIN]
  let cors: string[] | null = null
  let failure = ''
  let held = false
  let cut = false
  for (let i = 0; i < received.length; i += 2) {
    const name = received[i]!
    if (name.startsWith(INTERNAL)) {
      if (name === 'x-terrane-failure') failure = received[i + 1]!
      else if (name === 'x-terrane-held') held = true
      continue
    }
    if (NOT_RETURNED.has(name)) continue
    if (name.startsWith('access-control-')) (cors ??= []).push(name, received[i + 1]!)
    else if (!ownOrigin && isOfTheOrigin(name, received[i + 1])) cut = true
    else if (ownOrigin || name !== 'x-content-type-options') headers.push(name, received[i + 1]!)
  }
  return { headers, cors: cors ?? NONE, cut, failure, held }
}

/** The size that an answer announces; 0 when it does not. */
export function announcedLength(received: readonly string[]): number {
  for (let i = 0; i < received.length; i += 2) if (received[i] === 'content-length') return Number(received[i + 1])
  return 0
}

/** The address that the caller used: from the request, or as the first proxy of a trusted chain received it. */
export function publicAddress(
  headers: IncomingHttpHeaders,
  isTrusted: boolean,
): { readonly host: string; readonly protocol: 'http' | 'https' } {
  const said = (name: string) =>
    isTrusted
      ? String(headers[name] ?? '')
          .split(',', 1)[0]!
          .trim()
      : ''
  const host = said('x-forwarded-host')
  return {
    host: safeHost(SAFE_HOST.test(host) ? host : headers.host),
    protocol: said('x-forwarded-proto').toLowerCase() === 'https' ? 'https' : 'http',
  }
}

/** The host name that a caller sent, or a harmless one when it is not a host name. */
export function safeHost(host: string | undefined): string {
  return host !== undefined && SAFE_HOST.test(host) ? host : 'localhost'
}

/** Header names in a Connection header other than its usual values; null when there are none. */
function connectionOptions(value: string): ReadonlySet<string> | null {
  if (value === 'keep-alive' || value === 'close') return null
  const options = value
    .toLowerCase()
    .split(',')
    .map((option) => option.trim())
  const named = options.filter((option) => option !== 'keep-alive' && option !== 'close' && option !== '')
  return named.length > 0 ? new Set(named) : null
}
