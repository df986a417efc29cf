import { fromBase64, fromHex, toBase64, toHex, type Store, type StoredEntry } from './store.ts'

const MAX_KEY = 512
const MAX_METADATA = 1024
const MAX_VALUE = 1024 * 1024

type Type = 'text' | 'json' | 'arrayBuffer' | 'stream'
interface PutOptions {
  /** Seconds since 1970. */
  readonly expiration?: number
  /** Seconds from now. */
  readonly expirationTtl?: number
  readonly metadata?: unknown
}

/** A namespace of Workers' KV. Writes are visible to the next read. */
export class KvNamespace {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async get(key: string | readonly string[], options?: Type | { readonly type?: Type }): Promise<unknown> {
    if (typeof key !== 'string') return this.#many(key, (entry) => valueOf(entry, typeOf(options)))
    return (await this.getWithMetadata(key, options)).value
  }

  async getWithMetadata(key: string, options?: Type | { readonly type?: Type }) {
    const wanted = keyOf(key)
    const entry = (await this.#store.get([wanted])).get(wanted)
    return {
      value: entry ? valueOf(entry, typeOf(options)) : null,
      metadata: entry?.metadata ?? null,
      cacheStatus: null,
    }
  }

  async put(key: string, value: unknown, { expiration, expirationTtl, metadata }: PutOptions = {}): Promise<void> {
    const isKept = typeof value === 'string' || value instanceof ArrayBuffer || ArrayBuffer.isView(value)
    if (!isKept && !(value instanceof ReadableStream))
      throw new TypeError('KV: a value is a string, an ArrayBuffer, a view of one, or a ReadableStream')
    const bytes = new Uint8Array(await new Response(value as string).arrayBuffer())
    if (bytes.length > MAX_VALUE) throw new TypeError(`KV: a value has at most ${MAX_VALUE} bytes`)
    const noted = metadata === undefined ? '' : JSON.stringify(metadata)
    if (new TextEncoder().encode(noted).length > MAX_METADATA)
      throw new TypeError(`KV: metadata has at most ${MAX_METADATA} bytes of JSON`)
    const seconds = expirationTtl ?? (expiration === undefined ? undefined : expiration - Date.now() / 1000)
    if (seconds !== undefined && !(seconds > 0)) throw new TypeError('KV: an entry has to expire in the future')
    await this.#store.write({
      writes: [
        {
          operation: 'set',
          key: keyOf(key),
          kind: 'raw',
          value: toBase64(bytes),
          ...(metadata !== undefined && { metadata }),
          ...(seconds !== undefined && { expires_in: seconds }),
        },
      ],
    })
  }

  async delete(key: string): Promise<void> {
    await this.#store.write({ writes: [{ operation: 'delete', key: keyOf(key) }] })
  }

  async list({
    prefix = '',
    limit = 1000,
    cursor,
  }: { prefix?: string | null; limit?: number; cursor?: string | null } = {}) {
    const start = toHex(new TextEncoder().encode(prefix ?? ''))
    const most = Math.min(1000, Math.max(1, limit))
    const first = cursor ? `${toHex(fromBase64(cursor))}00` : start
    // UTF-8 has no byte 0xff. One entry more than requested shows whether there are more.
    const found = await this.#store.list({ first, past: `${start}ff`, limit: most + 1, reverse: false, values: false })
    const keys = found.slice(0, most).map(({ key, expires, metadata }) => ({
      name: decode(fromHex(key)),
      ...(expires !== null && { expiration: Math.round(expires) }),
      ...(metadata !== null && { metadata }),
    }))
    const last = found.at(keys.length - 1)
    // The database returns fewer entries than the limit when values are large.
    const isComplete = found.length <= most && (found.length < 1 || !(await this.#hasMore(last!, `${start}ff`)))
    return isComplete
      ? { keys, list_complete: true as const, cacheStatus: null }
      : { keys, list_complete: false as const, cursor: toBase64(fromHex(last!.key)), cacheStatus: null }
  }

  async #hasMore({ key }: StoredEntry, past: string): Promise<boolean> {
    return (await this.#store.list({ first: `${key}00`, past, limit: 1, reverse: false, values: false })).length > 0
  }

  async #many(keys: readonly string[], read: (entry: StoredEntry) => unknown): Promise<Map<string, unknown>> {
    if (keys.length > 100) throw new TypeError('KV: at most 100 keys can be read at once')
    const wanted = keys.map(keyOf)
    const found = await this.#store.get(wanted)
    return new Map(
      keys.map((key, at) => {
        const entry = found.get(wanted[at]!)
        return [key, entry ? read(entry) : null]
      }),
    )
  }
}

function typeOf(options: Type | { readonly type?: Type } | undefined): Type {
  return (typeof options === 'string' ? options : options?.type) ?? 'text'
}

function valueOf({ value }: StoredEntry, type: Type): unknown {
  const bytes = fromBase64(value ?? '')
  if (type === 'arrayBuffer') return bytes.buffer
  if (type === 'stream') return new Response(bytes).body
  return type === 'json' ? (JSON.parse(new TextDecoder().decode(bytes)) as unknown) : decode(bytes)
}

/** The unchanged text: a byte order mark at its beginning stays. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

function keyOf(key: string): string {
  const bytes = new TextEncoder().encode(key)
  if (typeof key !== 'string' || bytes.length === 0 || bytes.length > MAX_KEY || key === '.' || key === '..')
    throw new TypeError(`KV: a key is a text of 1 to ${MAX_KEY} bytes, and neither . nor ..`)
  return toHex(bytes)
}
