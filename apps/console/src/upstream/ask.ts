import { Readable } from 'node:stream'
import { readJson, traceparent } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notOfferedHere, projectKeyEnded, serviceDown, serviceRefused, serviceSlow } from '../errors.ts'
import type { Endpoint } from '../projects/connections.ts'

/**
 * A request to a service on behalf of a signed-in member. Only the fields named here are taken from the browser's
 * request.
 */
export interface Ask {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  /** Path under the endpoint's base, from {@link pathOf}. */
  readonly path: string
  readonly query?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Maximum milliseconds until the answer's head arrives; its body may take longer. */
  readonly timeoutMs?: number
  /** Headers that carry the key: both, or `apikey` alone (the routing engine). */
  readonly keyIn?: 'both' | 'apikey'
}

const TIMEOUT_MS = 60_000

/** Headers of a request that services see. */
const REQUEST_HEADERS = [
  'accept',
  'range',
  'if-match',
  'if-none-match',
  'if-range',
  'last-event-id',
  'prefer',
  'idempotency-key',
]

/** Headers of an answer that the browser sees. */
const RESPONSE_HEADERS = [
  'accept-ranges',
  'content-disposition',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'last-modified',
  'preference-applied',
  'retry-after',
  'x-error-code',
]

/**
 * Path made of escaped segments.
 *
 * @throws NOT_FOUND for a segment of only dots, which would point to another path, and for half of a character
 */
export function pathOf(...segments: readonly string[]): string {
  for (const segment of segments) {
    if (segment === '' || /^\.+$/.test(segment) || !segment.isWellFormed())
      throw notOfferedHere({ what: segments.join('/') })
  }
  return `/${segments.map(encodeURIComponent).join('/')}`
}

/**
 * Sends a request to a service and returns its answer, whose body still has to be read. The request is cancelled when
 * the browser disconnects.
 *
 * @throws SERVICE_DOWN, SERVICE_TIMEOUT; PROJECT_KEY_ENDED and SERVICE_REFUSED when the service does not take the key that
 * the console sends for the project
 */
export async function ask(request: FastifyRequest, reply: FastifyReply, to: Endpoint, what: Ask): Promise<Response> {
  const response = await send(request, reply, to, what)
  if (response.status !== 401 && response.status !== 403) return response
  await response.body?.cancel()
  request.log.error({ service: to.service, status: response.status }, 'service refused the key of the console')
  throw response.status === 401 ? projectKeyEnded({ service: to.service }) : serviceRefused({ service: to.service })
}

/** Like {@link ask}, for functions of the project, whose 401 and 403 are passed on. */
export async function send(request: FastifyRequest, reply: FastifyReply, to: Endpoint, what: Ask): Promise<Response> {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  const timeoutMs = what.timeoutMs ?? TIMEOUT_MS
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  const query = what.query?.toString()
  try {
    return await fetch(`${to.base}${what.path}${query ? `?${query}` : ''}`, {
      method: what.method,
      headers: headersOf(request, to, what),
      redirect: 'manual',
      signal: AbortSignal.any([gone.signal, late.signal]),
      ...(what.body !== undefined && { body: what.body }),
    })
  } catch (cause) {
    if (late.signal.aborted) throw serviceSlow({ service: to.service, seconds: timeoutMs / 1000 }, { cause })
    throw serviceDown({ service: to.service }, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The parsed JSON of an answer for the console itself.
 *
 * @param limit longest answer in bytes
 * @throws SERVICE_DOWN for a longer answer, or one that is not JSON
 */
export async function readAnswer(to: Endpoint, response: Response, limit: number): Promise<unknown> {
  try {
    return await readJson(response.body, limit)
  } catch (cause) {
    throw serviceDown({ service: to.service }, { cause })
  }
}

/** Passes an answer on unchanged: status, the headers a browser may see, and the body as a stream. */
export function pass(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status)
  for (const name of RESPONSE_HEADERS) {
    const value = response.headers.get(name)
    if (value !== null) reply.header(name, value)
  }
  // Fastify replaces the length of an answer to HEAD by 0, but not that of a stream.
  if (response.body === null) return reply.send(reply.request.method === 'HEAD' ? Readable.from([]) : undefined)
  return reply.send(Readable.fromWeb(response.body))
}

function headersOf(request: FastifyRequest, to: Endpoint, what: Ask): Record<string, string> {
  const headers: Record<string, string> = { 'accept-encoding': 'identity', 'x-request-id': request.id, apikey: to.key }
  const trace = traceparent()
  if (trace !== null) headers['traceparent'] = trace
  if (what.keyIn !== 'apikey') headers['authorization'] = `Bearer ${to.key}`
  if (what.body !== undefined) headers['content-type'] = 'application/json'
  for (const name of REQUEST_HEADERS) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  return { ...headers, ...what.headers }
}
