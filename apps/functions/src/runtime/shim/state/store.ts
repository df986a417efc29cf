/** Store of state: `fn` is the function's own, `cache` holds its caches, `kv` is a namespace that its policy binds. */
export type StoreName = readonly [kind: 'fn' | 'cache' | 'kv', name: string]

/** An entry as the database has it. */
export interface StoredEntry {
  /** Hexadecimal. */
  readonly key: string
  readonly kind: 'v8' | 'u64' | 'raw'
  /** Base64; null when it was not requested. */
  readonly value: string | null
  readonly metadata: unknown
  readonly versionstamp: string
  /** Seconds since 1970; null: it does not expire. */
  readonly expires: number | null
}

export interface Mutation {
  readonly operation: 'set' | 'delete' | 'sum' | 'min' | 'max'
  readonly key: string
  readonly kind?: StoredEntry['kind']
  readonly value?: string
  /** Digits of an unsigned number of 64 bits. */
  readonly operand?: string
  readonly metadata?: unknown
  readonly expires_in?: number
}

/** Parts of a transaction. */
export interface Commit {
  readonly checks?: readonly { readonly key: string; readonly versionstamp: string | null }[]
  readonly writes?: readonly Mutation[]
  readonly sends?: readonly { readonly queue: string; readonly body: unknown; readonly delay_seconds: number }[]
}

/** A range of keys in hexadecimal: from `first` on, below `past`. */
export interface Range {
  readonly first: string
  readonly past: string
  readonly limit: number
  readonly reverse: boolean
  /** False: entries without their values; absent: with them. */
  readonly values?: boolean
}

/** Reads and writes a store of the project's database, through the host. */
export class Store {
  readonly #send: typeof fetch
  readonly #name: StoreName

  constructor(send: typeof fetch, name: StoreName) {
    this.#send = send
    this.#name = name
  }

  /** The existing entries of these keys, in any order. Large ones come in several answers. */
  async get(keys: readonly string[]): Promise<Map<string, StoredEntry>> {
    const entries = new Map<string, StoredEntry>()
    for (let left = [...new Set(keys)]; left.length > 0;) {
      const found = (await this.#ask({ operation: 'get', keys: left })) as readonly StoredEntry[]
      for (const entry of found) if (entry.value !== null) entries.set(entry.key, entry)
      left = found.filter(({ value }) => value === null).map(({ key }) => key)
    }
    return entries
  }

  /** Entries of a range in the order of their keys: at most its limit, and fewer when they are large. */
  async list(range: Range): Promise<readonly StoredEntry[]> {
    return (await this.#ask({ operation: 'list', ...range })) as readonly StoredEntry[]
  }

  /** The versionstamp of a commit, or null where a check failed. */
  async write({ checks = [], writes = [], sends = [] }: Commit): Promise<string | null> {
    return (await this.#ask({ operation: 'write', checks, writes, sends })) as string | null
  }

  async #ask(request: object): Promise<unknown> {
    const response = await this.#send('http://state.internal/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...request, store: this.#name }),
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok) return answer
    const { message } = (answer ?? {}) as { message?: string }
    throw new TypeError(message ?? `the state of the function cannot be reached: HTTP status ${response.status}`)
  }
}

export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** Methods of Deno that Node does not have yet. */
type Base64Bytes = Uint8Array & { readonly toBase64?: () => string }
const readBase64 = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64

export function toBase64(bytes: Base64Bytes): string {
  // Character by character it takes thirty times as long.
  if (bytes.toBase64) return bytes.toBase64()
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(text)
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (readBase64) return readBase64(text)
  const chars = atob(text)
  const bytes = new Uint8Array(chars.length)
  // `Uint8Array.from` with a function takes fifteen times as long: 190 ms for a MiB.
  for (let at = 0; at < bytes.length; at++) bytes[at] = chars.charCodeAt(at)
  return bytes
}
