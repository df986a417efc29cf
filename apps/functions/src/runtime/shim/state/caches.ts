import type { CacheStore } from './cache-store.ts'
import { MAX_BODY, answerOf, bodyOf, isFor, keptFor, keptHeaders, varyOf, type CachedHead } from './cached-answer.ts'
import { fromBase64, fromHex, toBase64, toHex, type Mutation, type StoredEntry } from './store.ts'

/** Bytes of a body per entry, which is the largest value of the store. */
const PART_BYTES = 1024 * 1024
/** Maximum parts of a body; earlier versions stored parts of half the size. */
const MAX_PARTS = (2 * MAX_BODY) / PART_BYTES
/** Bytes of the key of an answer. */
const KEY_BYTES = 41
/** Maximum answers of one address that are compared, where they vary by headers. */
const MAX_VARIANTS = 100
const MAX_NAME = 200
/** Looks for an answer that is replaced while its body is read. */
const MAX_LOOKS = 3

type Asked = Request | URL | string
interface MatchOptions {
  /** Requests of other methods than GET are answered as well. */
  readonly ignoreMethod?: boolean
}

/** Metadata of an answer's entry: the prefix and the number of the entries that hold its body. */
interface BodyPlace {
  readonly body: string
  readonly parts: number
}

/**
 * A cache of a function (`Cache` of Service Workers, section 5.4, as Workers and Deno have it): answers of GET, as long
 * as they may be kept and there is space. All instances of the function share it.
 */
class FunctionCache {
  readonly #store: CacheStore
  readonly #name: string

  constructor(store: CacheStore, name: string) {
    this.#store = store
    this.#name = name
  }

  async match(asked: Asked, { ignoreMethod = false }: MatchOptions = {}): Promise<Response | undefined> {
    const { method, headers, address } = readRequest(asked)
    if (method !== 'GET' && !ignoreMethod) return undefined
    const first = await this.#prefix(address)
    for (let look = 0, seen = ''; look < MAX_LOOKS; look++) {
      const found = await this.#store.list({ ...beginningWith(first), limit: MAX_VARIANTS })
      const fitting = found
        .map((entry) => ({ entry, head: headOf(entry) }))
        .filter(({ head }) => isFor(head, headers))
        .toSorted((a, b) => (a.entry.versionstamp < b.entry.versionstamp ? 1 : -1))
      const now = fitting.map(({ entry }) => (entry.metadata as BodyPlace).body).join()
      if (now === seen) return undefined
      seen = now
      for (const { entry, head } of fitting) {
        const body = await this.#bodyOf(entry)
        if (body) return answerOf(head, body, headers)
      }
    }
    return undefined
  }

  /** @throws TypeError for requests other than GET, partial and failed answers, `Vary: *`, and bodies that are too large */
  async put(asked: Asked, response: Response): Promise<void> {
    const { method, headers, address } = readRequest(asked)
    if (method !== 'GET') throw new TypeError('a cache keeps answers of GET only')
    const { status, statusText } = response
    if (status === 206) throw new TypeError('a cache keeps no partial answers')
    if (status === 0) throw new TypeError('a cache keeps no answer of Response.error()')
    const own = keptHeaders(response.headers)
    const head: CachedHead = { status, statusText, headers: [...own], vary: varyOf(own, headers) }
    const bytes = await bodyOf(response)
    const seconds = keptFor(own)
    if (seconds !== 0) await this.#keep(address, head, bytes, seconds)
  }

  async #keep(address: string, head: CachedHead, bytes: Uint8Array, seconds: number | null): Promise<void> {
    const kept = { operation: 'set', kind: 'raw', ...(seconds !== null && { expires_in: seconds }) } as const
    const place: BodyPlace = { body: `01${random()}`, parts: Math.ceil(bytes.length / PART_BYTES) }
    // Encoded when its turn comes, because the memory of an instance is small.
    const partOf = (at: number): Mutation => {
      const value = bytes.subarray(at * PART_BYTES, (at + 1) * PART_BYTES)
      return { ...kept, key: place.body + toHex(Uint8Array.of(at)), value: toBase64(value) }
    }
    const key = (await this.#prefix(address)) + (await digest(JSON.stringify(head.vary), 8))
    const value = toBase64(new TextEncoder().encode(JSON.stringify(head)))
    const name: Mutation = { operation: 'set', key: nameKey(this.#name), kind: 'raw', value: '' }
    const last = place.parts - 1
    if (!(await this.#writeParts(last, partOf))) return
    // The head is written last, in one transaction with the removal of the replaced answer, so readers see either the
    // old or the new answer.
    const replaced = await this.#store.list({ first: key, past: `${key}00`, limit: 1, reverse: false, values: false })
    const rest: Mutation[] = [{ ...kept, key, value, metadata: place }, name]
    await this.#store.part(() =>
      this.#store.write({ writes: [...deleting(replaced), ...(last < 0 ? [] : [partOf(last)]), ...rest] }),
    )
  }

  /** Writes the first parts side by side, because each waits for the network. False when one was not written. */
  async #writeParts(count: number, partOf: (at: number) => Mutation): Promise<boolean> {
    let isWhole = true
    const write = async (at: number) => {
      if (isWhole && !(await this.#store.write({ writes: [partOf(at)] }))) isWhole = false
    }
    await Promise.all(Array.from({ length: count }, (_, at) => this.#store.part(() => write(at))))
    return isWhole
  }

  async add(asked: Asked): Promise<void> {
    const response = await fetch(asked)
    if (!response.ok) throw new TypeError(`the answer has status ${response.status}`)
    await this.put(asked, response)
  }

  /** Deletes all answers for an address; false when there was none. */
  async delete(asked: Asked, { ignoreMethod = false }: MatchOptions = {}): Promise<boolean> {
    const { method, address } = readRequest(asked)
    if (method !== 'GET' && !ignoreMethod) return false
    return this.#clear(await this.#prefix(address))
  }

  /** Deletes all answers. */
  async clear(): Promise<boolean> {
    return this.#clear(`00${await digest(this.#name, 16)}`)
  }

  async #clear(first: string): Promise<boolean> {
    let some = false
    for (;;) {
      const found = await this.#store.list({ ...beginningWith(first), limit: 50, values: false })
      if (found.length === 0) return some
      if (!(await this.#store.write({ writes: deleting(found) }))) return some
      some = true
    }
  }

  /** Body of an answer; null when a part was removed to free space. */
  async #bodyOf({ metadata }: StoredEntry): Promise<Uint8Array<ArrayBuffer> | null> {
    const keys = partKeys(metadata as BodyPlace)
    let body = new Uint8Array()
    let length = 0
    for (const key of keys) {
      const isWhole = await this.#store.part(async () => {
        const value = (await this.#store.get([key])).get(key)?.value
        if (value === undefined || value === null) return false
        const part = fromBase64(value)
        // All parts but the last have the size of the first.
        if (length === 0) body = new Uint8Array(keys.length * part.length)
        body.set(part, length)
        length += part.length
        return true
      })
      if (!isWhole) return null
    }
    return body.subarray(0, length)
  }

  /** Keys of answers begin with 00, the cache and the address. */
  async #prefix(address: string): Promise<string> {
    return `00${await digest(this.#name, 16)}${await digest(address, 16)}`
  }
}

/** The caches of a function, with Workers' `default`. They are removed with the function. */
export class FunctionCaches {
  readonly default: FunctionCache
  readonly #store: CacheStore
  readonly #opened = new Map<string, FunctionCache>()

  constructor(store: CacheStore) {
    this.#store = store
    this.default = new FunctionCache(store, '')
  }

  async open(name: string): Promise<FunctionCache> {
    // oxlint-disable-next-line typescript/no-unnecessary-type-conversion -- JavaScript may give anything.
    const text = String(name)
    if (text === '' || text.length > MAX_NAME)
      throw new TypeError(`the name of a cache has 1 to ${MAX_NAME} characters`)
    const cache = this.#opened.get(text) ?? new FunctionCache(this.#store, text)
    this.#opened.set(text, cache)
    return cache
  }

  async has(name: string): Promise<boolean> {
    return (await this.keys()).includes(name)
  }

  /** Names of the caches that hold something, or were opened here. */
  async keys(): Promise<string[]> {
    const found = await this.#store.list({ first: '02', past: '03', limit: 1000, reverse: false, values: false })
    const names = found.map(({ key }) => new TextDecoder().decode(fromHex(key.slice(2))))
    return [...new Set([...names, ...this.#opened.keys()])].filter((name) => name !== '')
  }

  async delete(name: string): Promise<boolean> {
    if (!(await this.has(name))) return false
    await (await this.open(name)).clear()
    this.#opened.delete(name)
    await this.#store.write({ writes: [{ operation: 'delete', key: nameKey(name) }] })
    return true
  }

  /** The first matching answer in the caches with names. */
  async match(asked: Asked, options?: MatchOptions): Promise<Response | undefined> {
    for (const name of await this.keys()) {
      const found = await (await this.open(name)).match(asked, options)
      if (found) return found
    }
    return undefined
  }
}

function readRequest(asked: Asked): { readonly method: string; readonly headers: Headers; readonly address: string } {
  const url = new URL(asked instanceof Request ? asked.url : String(asked))
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`a cache keeps answers of http and https, not of ${url.protocol}`)
  url.hash = ''
  const isRequest = asked instanceof Request
  return {
    method: isRequest ? asked.method : 'GET',
    headers: isRequest ? asked.headers : new Headers(),
    address: url.href,
  }
}

function headOf({ value }: StoredEntry): CachedHead {
  return JSON.parse(new TextDecoder().decode(fromBase64(value ?? ''))) as CachedHead
}

/** Range of the keys with this prefix. */
function beginningWith(first: string) {
  return { first, past: first + 'ff'.repeat(KEY_BYTES), reverse: false }
}

/** Deletes answers with their bodies: at most 17 entries of each. */
function deleting(answers: readonly StoredEntry[]): Mutation[] {
  const keys = answers.flatMap(({ key, metadata }) => [key, ...partKeys(metadata as BodyPlace)])
  return keys.map((key) => ({ operation: 'delete', key }))
}

function partKeys({ body, parts }: BodyPlace): string[] {
  return Array.from({ length: Math.min(parts, MAX_PARTS) }, (_, at) => body + toHex(Uint8Array.of(at)))
}

/** Keys of names begin with 02; the default cache has the empty one. */
function nameKey(name: string): string {
  return `02${toHex(new TextEncoder().encode(name))}`
}

function random(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)))
}

/** The first bytes of the SHA-256 of a text, in hexadecimal. */
async function digest(text: string, bytes: number): Promise<string> {
  const all = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return toHex(all.subarray(0, bytes))
}
