import { createHash } from 'node:crypto'
import { readBytes, type GuardedFetch } from '@terrane/service'
import { stacUnusable } from '../errors.ts'
import { parseStac } from './read-text.ts'

/** Bytes of an answer with STAC items, and of all answers of a search. */
const PAGE_BYTES = 64 << 20
const ALL_BYTES = 256 << 20
const PAGE_MS = 60_000
const MAX_PAGES = 1000
/** Characters by which the request for a page may be longer than the first one. */
const MAX_GROWTH = 65_536
/** Longest time for all pages, because a slow search would occupy its place for hours. */
const ALL_MS = 30 * 60_000

/** A request for a page of items. */
interface PageRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly body: unknown
}

interface Options<T> {
  readonly fetch: GuardedFetch
  readonly signal: AbortSignal
  /** Maximum items; then no further page is requested. */
  readonly limit: number
  /** Milliseconds for all pages; no page begins after them. Default: half an hour. */
  readonly allMs?: number
  /** Converts an item to the value that is kept; `page` is the address of its page, `index` counts from 0. */
  readonly read: (item: unknown, page: string, index: number) => T
}

/**
 * The items at an address or of a search, page by page along their `next` links. Source: STAC API, Item Search 1.0:
 * links of paging with `method`, `body` and `merge`.
 *
 * @throws STAC_UNUSABLE, and what the guarded fetch throws
 */
export async function fetchItems<T>(
  url: string,
  search: Readonly<Record<string, unknown>> | null,
  { fetch, signal, limit, read, allMs = ALL_MS }: Options<T>,
): Promise<T[]> {
  const found: T[] = []
  /** Hashes of the requests made so far; requests themselves may be long. */
  const seen = new Set<string>()
  const began = performance.now()
  let bytes = 0
  let longest: number | null = null
  let next: PageRequest | null = { url, method: search === null ? 'GET' : 'POST', body: search ?? undefined }
  while (next !== null) {
    const request: PageRequest = next
    const text = JSON.stringify(request)
    longest ??= text.length + MAX_GROWTH
    if (text.length > longest)
      throw stacUnusable({ why: 'the request for the next page becomes longer and longer', at: '/stac/url' })
    const key = createHash('sha256').update(text).digest('base64')
    if (seen.has(key)) throw stacUnusable({ why: 'a page names itself or an earlier one as the next', at: '/stac/url' })
    if (seen.size === MAX_PAGES) throw stacUnusable({ why: `there are more than ${MAX_PAGES} pages`, at: '/stac/url' })
    if (seen.size > 0 && performance.now() - began >= allMs)
      throw stacUnusable({ why: `the pages take more than ${allMs / 60_000} minutes`, at: '/stac/url' })
    seen.add(key)
    const page = await fetchPage(request, fetch, signal, Math.min(PAGE_BYTES, ALL_BYTES - bytes))
    bytes += page.bytes
    for (const item of itemsOf(page.answer, '/stac/url').slice(0, limit - found.length)) {
      found.push(read(item, page.url, found.length))
    }
    if (found.length >= limit) break
    next = nextOf(page.answer, request, page.url)
  }
  return found
}

async function fetchPage(
  { url, method, body }: PageRequest,
  fetch: GuardedFetch,
  signal: AbortSignal,
  maxBytes: number,
): Promise<{ answer: unknown; url: string; bytes: number }> {
  if (maxBytes <= 0) throw stacUnusable({ why: `the pages have more than ${ALL_BYTES} bytes`, at: '/stac/url' })
  const sent = method === 'POST' && {
    method,
    body: JSON.stringify(body ?? {}),
    headers: { 'content-type': 'application/json', accept: 'application/geo+json, application/json' },
  }
  const response = await fetch(url, { ...sent, maxBytes, timeoutMs: PAGE_MS, signal })
  const bytes = await readBytes(response.body, maxBytes)
  const answer = parseStac(new TextDecoder().decode(bytes), '/stac/url')
  return { answer, url: response.url, bytes: bytes.length }
}

function nextOf(answer: unknown, before: PageRequest, base: string): PageRequest | null {
  const { links } = answer as { links?: unknown }
  const link = (Array.isArray(links) ? links : []).find((one) => (one as { rel?: unknown } | null)?.rel === 'next') as
    | { href?: unknown; method?: unknown; body?: unknown; merge?: unknown }
    | undefined
  if (link === undefined) return null
  const url = typeof link.href === 'string' ? URL.parse(link.href, base) : null
  if (url === null) throw stacUnusable({ why: 'the link to the next page has no address', at: '/stac/url' })
  const method = typeof link.method === 'string' && link.method.toUpperCase() === 'POST' ? 'POST' : 'GET'
  if (method === 'GET') return { url: url.href, method, body: undefined }
  // A link without a body keeps the body of the previous request; `merge` adds to it.
  const isOwn = link.body !== undefined && link.merge !== true
  return { url: url.href, method, body: isOwn ? link.body : { ...(before.body as object), ...(link.body as object) } }
}

/** The items of an answer. @throws STAC_UNUSABLE */
export function itemsOf(answer: unknown, at: string): readonly unknown[] {
  const { type, features } = (answer ?? {}) as { type?: unknown; features?: unknown }
  if (type === 'Feature') return [answer]
  if (type === 'FeatureCollection' && Array.isArray(features)) return features
  throw stacUnusable({
    why: 'neither a STAC Item nor an ItemCollection (a FeatureCollection with features) is there',
    at,
  })
}
