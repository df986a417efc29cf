/** Most bytes of all caches of an instance: memory of the instance. */
const MAX_BYTES = 16 * 1024 * 1024

interface Entry {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array<ArrayBuffer>
  /** In `Date.now()` milliseconds. */
  readonly until: number
}

type Asked = Request | URL | string

/** All caches of an instance, those used longest ago first. */
class Entries {
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  get(key: string): Entry | undefined {
    const found = this.#entries.get(key)
    if (!found) return undefined
    this.#entries.delete(key)
    if (found.until > Date.now()) this.#entries.set(key, found)
    else this.#bytes -= found.body.length
    return found.until > Date.now() ? found : undefined
  }

  set(key: string, entry: Entry): void {
    this.delete(key)
    if (entry.body.length > MAX_BYTES) return
    this.#entries.set(key, entry)
    this.#bytes += entry.body.length
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= MAX_BYTES) return
      this.delete(oldest)
    }
  }

  delete(key: string): boolean {
    this.#bytes -= this.#entries.get(key)?.body.length ?? 0
    return this.#entries.delete(key)
  }

  deleteAll(prefix: string): boolean {
    const keys = [...this.#entries.keys()].filter((key) => key.startsWith(prefix))
    for (const key of keys) this.delete(key)
    return keys.length > 0
  }
}

/** A part of `Cache` (Service Workers, section 5.4), as Workers have it: answers of GET, as long as they may be kept. */
class MemoryCache {
  readonly #entries: Entries
  readonly #prefix: string

  constructor(entries: Entries, name: string) {
    this.#entries = entries
    this.#prefix = `${name}\n`
  }

  async match(asked: Asked, options: { readonly ignoreMethod?: boolean } = {}): Promise<Response | undefined> {
    if (methodOf(asked) !== 'GET' && options.ignoreMethod !== true) return undefined
    const found = this.#entries.get(this.#key(asked))
    if (!found) return undefined
    const { status, statusText, body } = found
    const hasBody = status !== 204 && status !== 304
    return new Response(hasBody ? body : null, { status, statusText, headers: found.headers.map(([...pair]) => pair) })
  }

  async put(asked: Asked, response: Response): Promise<void> {
    if (methodOf(asked) !== 'GET') throw new TypeError('a cache keeps answers of GET only')
    if (response.status === 206) throw new TypeError('a cache keeps no partial answers')
    if (response.headers.get('vary')?.includes('*') === true)
      throw new TypeError('a cache keeps no answer of "Vary: *"')
    const { status, statusText } = response
    const body = new Uint8Array(await response.arrayBuffer())
    const keptMs = keptFor(response.headers)
    if (keptMs > 0)
      this.#entries.set(this.#key(asked), {
        status,
        statusText,
        headers: [...response.headers],
        body,
        until: Date.now() + keptMs,
      })
  }

  async add(asked: Asked): Promise<void> {
    const response = await fetch(asked)
    if (!response.ok) throw new TypeError(`the answer has status ${response.status}`)
    await this.put(asked, response)
  }

  async delete(asked: Asked): Promise<boolean> {
    return this.#entries.delete(this.#key(asked))
  }

  #key(asked: Asked): string {
    const url = new URL(asked instanceof Request ? asked.url : String(asked), 'http://localhost')
    url.hash = ''
    return this.#prefix + url.href
  }
}

/** A part of `CacheStorage`, with Workers' `default`. What it keeps is gone with the instance. */
export class MemoryCaches {
  readonly #entries = new Entries()
  readonly #caches = new Map<string, MemoryCache>()
  readonly default = new MemoryCache(this.#entries, '')

  async open(name: string): Promise<MemoryCache> {
    const cache = this.#caches.get(name) ?? new MemoryCache(this.#entries, `=${name}`)
    this.#caches.set(name, cache)
    return cache
  }

  async has(name: string): Promise<boolean> {
    return this.#caches.has(name)
  }

  async keys(): Promise<string[]> {
    return [...this.#caches.keys()]
  }

  async delete(name: string): Promise<boolean> {
    this.#entries.deleteAll(`=${name}\n`)
    return this.#caches.delete(name)
  }

  async match(asked: Asked): Promise<Response | undefined> {
    for (const cache of this.#caches.values()) {
      const found = await cache.match(asked)
      if (found) return found
    }
    return undefined
  }
}

function methodOf(asked: Asked): string {
  return asked instanceof Request ? asked.method : 'GET'
}

/** Milliseconds that an answer may be kept for (RFC 9111, section 5.2.2); without such a header as long as there is room. */
function keptFor(headers: Headers): number {
  const control = headers.get('cache-control')?.toLowerCase() ?? ''
  if (/\b(?:no-store|no-cache|private)\b/.test(control)) return 0
  const seconds = /\bs-maxage=(\d{1,9})/.exec(control)?.[1] ?? /\bmax-age=(\d{1,9})/.exec(control)?.[1]
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000
}
