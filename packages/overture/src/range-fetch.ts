import { downloadFailed, downloadRefused, downloadTooLarge } from './errors.ts'

/** Options of a request. */
export interface RangeOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** The body must be cut with an error at the first byte over this. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
  /** Statuses that are returned instead of thrown, besides 2xx. */
  readonly accept?: readonly number[]
}

/** The head of an answer, and its body, which is read to the end or cancelled. */
export interface RangeResponse {
  readonly status: number
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
  cancel(): void
}

/** Fetches a URL or a range of it. A transient failure is a `TerraneError` with `retryable: true`. */
export type RangeFetch = (url: string, options: RangeOptions) => Promise<RangeResponse>

/** Dependencies of reading remote files. */
export interface RangeSource {
  readonly fetch: RangeFetch
  /** Counts requests and bytes. */
  readonly traffic: Traffic
  readonly signal: AbortSignal
}

/** Requests, and bytes of their answers. */
export interface Traffic {
  requests: number
  bytes: number
}

/**
 * A {@link RangeFetch} by the runtime's `fetch`. It checks no addresses, so a server that accepts URLs of untrusted
 * callers needs a guarded fetch.
 *
 * @throws DOWNLOAD_REFUSED (status 4xx except 429), DOWNLOAD_FAILED, DOWNLOAD_TOO_LARGE
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { webFetch } from '@terrane/overture'
 *
 * const { status, headers } = await webFetch('data:text/plain,hello', { maxBytes: 100 })
 * assert.deepEqual([status, headers['content-type']], [200, 'text/plain'])
 * ```
 */
export const webFetch: RangeFetch = async (url, { headers = {}, maxBytes, signal, accept = [] }) => {
  const stop = new AbortController()
  const response = await fetch(url, {
    headers,
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
  }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw downloadFailed({ url, reason: 'the server cannot be reached' }, { cause })
  })
  const { status } = response
  if (!response.ok && !accept.includes(status)) {
    stop.abort()
    const mayPass = status >= 500 || status === 429
    throw mayPass ? downloadFailed({ url, reason: `status ${status}` }) : downloadRefused({ url, status })
  }
  return {
    status,
    headers: Object.fromEntries(response.headers),
    body: capped(received(response, signal), maxBytes),
    cancel: () => stop.abort(),
  }
}

/** The bytes of an answer; a connection that breaks is DOWNLOAD_FAILED. */
async function* received({ body, url }: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? []
  } catch (cause) {
    signal?.throwIfAborted()
    throw downloadFailed({ url, reason: 'the connection was lost' }, { cause })
  }
}

async function* capped(body: AsyncIterable<Uint8Array>, maxBytes: number) {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw downloadTooLarge({ limit: maxBytes })
    yield chunk
  }
}

/** The whole body in memory of its own. */
export async function bytesOf(
  { body }: RangeResponse,
  onChunk?: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) {
    chunks.push(chunk)
    onChunk?.(chunk.length)
  }
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
