import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { TerraneError } from '@terrane/core'
import { request as undiciRequest } from 'undici'
import { downloadFailed, downloadRefused, downloadTimeout, downloadTooLarge, urlRefused } from '../errors.ts'
import { forbiddenRange } from './addresses.ts'
import { agentFor, resolve, systemDialer, systemResolver, type DialTarget, type Dialer, type Resolver } from './dial.ts'
import { boundedBody } from './bounded-body.ts'

export interface FetchPolicy {
  /** Hosts (`name` or `name:port`) that may have private addresses and use plain http, as the operator allows. */
  readonly allowHosts?: readonly string[]
  /** Accept http URLs of every public host. */
  readonly allowHttp?: boolean
  readonly userAgent?: string
  readonly maxRedirects?: number
  readonly resolver?: Resolver
  readonly dialer?: Dialer
}

export interface FetchOptions {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable
  /** The body is cut with an error at the first byte over this; no limit when absent. */
  readonly maxBytes?: number
  /** Whole time from first dial to last byte; 10 minutes when absent. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Statuses that are returned instead of thrown, besides 2xx. */
  readonly accept?: readonly number[] | 'any'
  /** Return a redirect instead of following it. */
  readonly redirect?: 'follow' | 'manual'
}

export interface FetchResponse {
  /** The URL after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Decoded body, capped; iterate it to the end or call `cancel`. */
  readonly body: AsyncIterable<Uint8Array>
  cancel(): void
}

/** Fetches a URL under a policy that keeps private networks out of reach. */
export type GuardedFetch = (url: string, options?: FetchOptions) => Promise<FetchResponse>

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Makes the client for every outgoing request that a caller can influence:
 * - only https, or http by policy
 * - the host is resolved once, and its checked address is dialled
 * - every resolved address must be public unicast, unless the operator allows the host
 * - each redirect is checked again, and headers with credentials are dropped when it leaves the host
 * - bytes and time are limited, and credentials in URLs are refused
 *
 * Errors: URL_REFUSED, DOWNLOAD_REFUSED (4xx except 429), DOWNLOAD_FAILED, DOWNLOAD_TIMEOUT, DOWNLOAD_TOO_LARGE.
 */
export function createGuardedFetch(policy: FetchPolicy = {}): GuardedFetch {
  const resolver = policy.resolver ?? systemResolver
  const dialer = policy.dialer ?? systemDialer
  const maxRedirects = policy.maxRedirects ?? 5

  const check = async (url: URL): Promise<DialTarget> => {
    checkParts(url, policy)
    const tls = url.protocol === 'https:'
    const hostname = bareHost(url)
    const addresses = isIP(hostname) ? [hostname] : await resolve(resolver, hostname)
    if (!isTrusted(url, policy)) checkAddresses(url.hostname, addresses)
    const address = addresses[0]
    if (address === undefined) throw downloadFailed({ host: url.hostname, reason: 'the name has no address' })
    return { address, port: url.port === '' ? (tls ? 443 : 80) : Number(url.port), hostname, tls }
  }

  return async (text, options = {}) => {
    const timeoutMs = options.timeoutMs ?? 600_000
    const deadline = AbortSignal.timeout(timeoutMs)
    const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline
    let url = parse(text)
    let method = options.method ?? 'GET'
    let body = options.body
    let headers: Record<string, string> = {
      'user-agent': policy.userAgent ?? 'Terrane',
      'accept-encoding': 'identity',
      ...options.headers,
    }
    const fail = (error: unknown) => explain(error, url, deadline, options.signal, timeoutMs)

    for (let hop = 0; ; hop++) {
      const target = await check(url)
      const agent = agentFor(target, dialer)
      let response
      try {
        response = await undiciRequest(url, { method, headers, body: body ?? null, signal, dispatcher: agent })
      } catch (error) {
        void agent.destroy()
        throw fail(error)
      }
      const { statusCode: status } = response
      const location = single(response.headers['location'])
      if (REDIRECTS.has(status) && location !== undefined && options.redirect !== 'manual') {
        void agent.destroy()
        response.body.on('error', ignore)
        if (hop >= maxRedirects) throw urlRefused({ reason: `it redirects more than ${maxRedirects} times` })
        const next = parse(location, url)
        if (next.origin !== url.origin) headers = withoutCredentials(headers)
        if (status === 303 || (method === 'POST' && status < 303)) {
          method = 'GET'
          body = undefined
        } else if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
          throw urlRefused({ reason: 'it redirects an upload' })
        }
        url = next
        continue
      }
      const cancel = () => {
        response.body.on('error', ignore)
        void agent.destroy()
      }
      const asked = options.redirect === 'manual' && REDIRECTS.has(status)
      if (
        (status < 200 || status > 299) &&
        !asked &&
        options.accept !== 'any' &&
        !(options.accept ?? []).includes(status)
      ) {
        cancel()
        if (status >= 500 || status === 429)
          throw downloadFailed({ host: url.hostname, reason: `HTTP status ${status}` })
        throw downloadRefused({ host: url.hostname, status })
      }
      const limit = options.maxBytes ?? Infinity
      const announced = Number(single(response.headers['content-length']) ?? Number.NaN)
      if (method !== 'HEAD' && announced > limit) {
        cancel()
        throw downloadTooLarge({ limit, announced })
      }
      return {
        url: url.href,
        status,
        headers: flatten(response.headers),
        body: boundedBody(response.body, single(response.headers['content-encoding']), limit, cancel, fail),
        cancel,
      }
    }
  }
}

/**
 * Refuses URLs that a fetch would refuse without a look-up: invalid ones, other schemes, credentials and private
 * addresses.
 *
 * @param path JSON pointer of the URL in the request, for the error
 * @throws URL_REFUSED
 */
export function checkUrl(text: string, path: string, policy: FetchPolicy = {}): void {
  try {
    checkParts(parse(text), policy)
  } catch (error) {
    const { message, hint } = error as TerraneError
    throw new TerraneError('URL_REFUSED', 'invalid', message, {
      ...(hint !== null && { hint }),
      errors: [{ path, message: 'is not an address that this service may fetch' }],
      cause: error,
    })
  }
}

/** Checks that need only the URL. */
function checkParts(url: URL, policy: FetchPolicy): void {
  const isTrustedHost = isTrusted(url, policy)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (isTrustedHost || policy.allowHttp)))
    throw urlRefused({ reason: `only https is allowed, not ${url.protocol.replace(':', '')}` })
  if (url.username !== '' || url.password !== '') throw urlRefused({ reason: 'it carries a user name or password' })
  const hostname = bareHost(url)
  if (isIP(hostname) && !isTrustedHost) checkAddresses(url.hostname, [hostname])
}

function isTrusted(url: URL, { allowHosts = [] }: FetchPolicy): boolean {
  return allowHosts.some((host) => [url.host, url.hostname].includes(host.toLowerCase()))
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/**
 * The address of a host that a caller named for another protocol, e.g. a database: checked as a URL's host is. Connect
 * to the returned address, without another look-up.
 *
 * @throws URL_REFUSED, DOWNLOAD_FAILED when the name cannot be resolved
 */
export async function resolvePublicHost(hostname: string, policy: FetchPolicy = {}): Promise<string> {
  const bare = hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(bare) ? [bare] : await resolve(policy.resolver ?? systemResolver, bare)
  if (!policy.allowHosts?.some((host) => host.toLowerCase() === hostname.toLowerCase()))
    checkAddresses(hostname, addresses)
  const [address] = addresses
  if (address === undefined) throw downloadFailed({ host: hostname, reason: 'the name has no address' })
  return address
}

function checkAddresses(host: string, addresses: readonly string[]): void {
  for (const address of addresses) {
    const range = forbiddenRange(address)
    if (range !== null) throw urlRefused({ reason: `${host} has an address that is not public (${range})` })
  }
}

function parse(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (!url) throw urlRefused({ reason: 'it is not a URL' })
  return url
}

function explain(
  error: unknown,
  url: URL,
  deadline: AbortSignal,
  caller: AbortSignal | undefined,
  timeoutMs: number,
): unknown {
  if (error instanceof TerraneError) return error
  if (caller?.aborted) return caller.reason
  if (deadline.aborted) return downloadTimeout({ host: url.hostname, seconds: Math.round(timeoutMs / 1000) })
  return downloadFailed(
    { host: url.hostname, reason: error instanceof Error ? error.message : 'unknown' },
    { cause: error },
  )
}

function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  const secret = new Set(['authorization', 'apikey', 'cookie', 'proxy-authorization'])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secret.has(name.toLowerCase())))
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const text = single(value)
    if (text !== undefined) flat[name] = text
  }
  return flat
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function ignore(): void {}
