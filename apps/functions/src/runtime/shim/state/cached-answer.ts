/** Metadata of a cached answer. */
export interface CachedHead {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [string, string])[]
  /** Headers of the request that the answer varies by, with their values. */
  readonly vary: readonly (readonly [string, string])[]
}

/** Maximum bytes of an answer's body. */
export const MAX_BODY = 8 * 1024 * 1024
/** Largest number of seconds: 2³¹ (RFC 9111, section 1.2.2). */
const MOST_SECONDS = 2_147_483_648

const NOT_KEPT = /\b(?:no-store|no-cache|private)\b/
/** Directives that concern only the fields that they name, e.g. `private=Set-Cookie`. */
const ABOUT_FIELDS = /\b(?:private|no-cache)=(?:"([^"]*)"|([\w-]+))/gi

/** Headers of an answer without the fields that `private` or `no-cache` name (RFC 9111, sections 5.2.2.4 and 5.2.2.7). */
export function keptHeaders(headers: Headers): Headers {
  const kept = new Headers(headers)
  for (const [, several, one] of (headers.get('cache-control') ?? '').matchAll(ABOUT_FIELDS))
    for (const name of (several ?? one ?? '').match(/[\w-]+/g) ?? []) kept.delete(name)
  return kept
}

/**
 * Seconds that an answer with these {@link keptHeaders} may be kept (RFC 9111, section 5.2.2); null means until its
 * space is needed. Answers that set cookies are not kept: they are for one caller.
 */
export function keptFor(headers: Headers): number | null {
  const control = (headers.get('cache-control') ?? '').toLowerCase().replaceAll(ABOUT_FIELDS, '')
  if (NOT_KEPT.test(control) || headers.has('set-cookie')) return 0
  const age = /\bs-maxage="?([^",\s]*)/.exec(control)?.[1] ?? /\bmax-age="?([^",\s]*)/.exec(control)?.[1]
  // A value that cannot be read counts as expired (RFC 9111, section 4.2.1).
  if (age !== undefined) return /^\d+$/.test(age) ? Math.min(Number(age), MOST_SECONDS) : 0
  const expires = headers.get('expires')
  if (expires === null) return null
  return Math.min(Math.max(0, (Date.parse(expires) - Date.now()) / 1000) || 0, MOST_SECONDS)
}

/** The values in a request of the headers that an answer varies by. @throws TypeError for `Vary: *` */
export function varyOf(answer: Headers, request: Headers): CachedHead['vary'] {
  const names = (answer.get('vary') ?? '').toLowerCase().split(',')
  const wanted = [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '').toSorted()
  if (wanted.includes('*')) throw new TypeError('a cache keeps no answer of "Vary: *"')
  return wanted.map((name) => [name, request.get(name) ?? ''])
}

/** Whether an answer was made for requests with these headers. */
export function isFor({ vary }: CachedHead, request: Headers): boolean {
  return vary.every(([name, value]) => (request.get(name) ?? '') === value)
}

/** The answer of a cache; 304 if the request names the stored version. */
export function answerOf(head: CachedHead, body: Uint8Array<ArrayBuffer>, request: Headers): Response {
  const headers = new Headers(head.headers.map(([name, value]): [string, string] => [name, value]))
  if (head.status === 200 && isKnown(headers, request)) return new Response(null, { status: 304, headers })
  const { status, statusText } = head
  const isEmpty = status === 204 || status === 205 || status === 304
  return new Response(isEmpty ? null : body, { status, statusText, headers })
}

/** `If-None-Match` takes precedence over `If-Modified-Since` (RFC 9110, section 13.1). */
function isKnown(kept: Headers, request: Headers): boolean {
  const tags = request.get('if-none-match')
  if (tags !== null) {
    const own = kept.get('etag')?.replace(/^W\//, '')
    return (
      own !== undefined && tags.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === own)
    )
  }
  const since = Date.parse(request.get('if-modified-since') ?? '')
  return Date.parse(kept.get('last-modified') ?? '') <= since
}

/** Reads a body, up to its bound. @throws TypeError for one of more than {@link MAX_BODY} bytes */
export async function bodyOf(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  if (response.bodyUsed || response.body?.locked) throw new TypeError('the body of the answer has been read already')
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) {
    bytes += part.value.length
    if (bytes > MAX_BODY) {
      await reader!.cancel().catch(() => {})
      throw new TypeError(`a cache keeps bodies of at most ${MAX_BODY} bytes`)
    }
    parts.push(part.value)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}
