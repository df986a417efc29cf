import type { Scopes } from './scope.ts'

/** Any host name would do: the request travels over a unix socket, and `.invalid` never resolves (RFC 6761). */
const GATEWAY_URL = 'http://gateway.invalid/'
const MAX_REDIRECTS = 20

/** Every fetch goes to the host, which knows the project API and the hosts that the policy allows. */
export function replaceFetch(send: (request: Request) => Promise<Response>, scopes: Scopes): void {
  const native = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    let request = new Request(input, init)
    const body = init?.body instanceof ReadableStream ? null : (init?.body ?? null)
    for (let hop = 0; ; hop++) {
      const target = new URL(request.url)
      if (target.protocol !== 'http:' && target.protocol !== 'https:') return native(request)
      const response = await send(rerouted(request, target, scopes.getStore()?.call ?? ''))
      const denied = response.headers.get('x-terrane-denied')
      if (denied !== null) throw new TypeError(decodeURIComponent(denied))
      Object.defineProperty(response, 'url', { value: target.href })
      const location = response.headers.get('location')
      if (location === null || ![301, 302, 303, 307, 308].includes(response.status)) return response
      if (request.redirect === 'manual') return response
      if (request.redirect === 'error' || hop === MAX_REDIRECTS) throw new TypeError('the fetch was redirected')
      await response.body?.cancel()
      request = redirected(request, body, new URL(location, target), response.status)
    }
  }
}

function rerouted(request: Request, target: URL, call: string): Request {
  const headers = new Headers(request.headers)
  headers.set('x-terrane-target', target.href)
  if (call !== '') headers.set('x-terrane-call', call)
  const { method, body, signal } = request
  return new Request(GATEWAY_URL, {
    method,
    headers,
    signal,
    redirect: 'manual',
    ...(body && ({ body, duplex: 'half' } as { body: ReadableStream })),
  })
}

/** The next request of a redirect (Fetch standard, section 4.4); a body that was a stream (null) cannot be sent twice. */
function redirected(
  request: Request,
  given: NonNullable<RequestInit['body']> | null,
  target: URL,
  status: number,
): Request {
  const toGet = status === 303 ? request.method !== 'HEAD' : status < 303 && request.method === 'POST'
  const headers = new Headers(request.headers)
  if (target.origin !== new URL(request.url).origin)
    for (const name of ['authorization', 'apikey', 'cookie']) headers.delete(name)
  const body = toGet ? null : given
  // A form is encoded again, with another boundary.
  if (toGet || body instanceof FormData) for (const name of ['content-type', 'content-length']) headers.delete(name)
  if (!toGet && request.body && body === null) throw new TypeError('the fetch was redirected and its body is spent')
  return new Request(target, { method: toGet ? 'GET' : request.method, headers, body, signal: request.signal })
}
