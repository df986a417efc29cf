import { jsonOf } from './json.ts'
import { ListIterator, rangeOf, type Selector } from './lists.ts'
import { decodeKey, encodeKey, type Key } from './keys.ts'
import { fromBase64, fromHex, toBase64, toHex, type Mutation, type Store, type StoredEntry } from './store.ts'
import { watch } from './watch.ts'

const MAX_VALUE = 65_536
const MAX_COMMIT = 819_200
const MAX_KEYS = 10
const MAX_BATCH = 500
const MAX_DELAY_MS = 30 * 24 * 3600 * 1000

/** An unsigned number of 64 bits, which `sum`, `min` and `max` work on. */
export class KvU64 {
  readonly value: bigint
  constructor(value: bigint) {
    if (typeof value !== 'bigint') throw new TypeError('Value must be a bigint')
    if (value < 0n) throw new RangeError('Value must be a positive bigint')
    if (value > 0xffff_ffff_ffff_ffffn) throw new RangeError('Value must fit in a 64-bit unsigned integer')
    this.value = value
    Object.freeze(this)
  }
  valueOf(): bigint {
    return this.value
  }
  toString(): string {
    return this.value.toString()
  }
}

/** Structured clone as bytes. */
export interface Clone {
  serialize(value: unknown): Uint8Array
  deserialize(bytes: Uint8Array): unknown
}

interface Entry {
  readonly key: Key
  readonly value: unknown
  readonly versionstamp: string | null
}
interface EnqueueOptions {
  readonly delay?: number
  readonly keysIfUndelivered?: readonly Key[]
  readonly backoffSchedule?: readonly number[] | null
}
interface ListOptions {
  readonly limit?: number
  readonly cursor?: string
  readonly reverse?: boolean
  readonly batchSize?: number
}

/**
 * A database of a function, as `Deno.openKv` returns it.
 *
 * @param queue the queue that the function consumes; empty: none
 */
export class Kv {
  readonly #store: Store
  readonly #clone: Clone
  readonly #queue: string
  readonly #watches = new Set<() => void>()
  /** The class of Deno's own error for a closed database. */
  readonly #Closed: typeof Error
  #isClosed = false

  constructor(store: Store, clone: Clone, queue: string) {
    this.#store = store
    this.#clone = clone
    this.#queue = queue
    const { Deno } = globalThis as { Deno?: { errors?: { BadResource?: typeof Error } } }
    this.#Closed = Deno?.errors?.BadResource ?? TypeError
  }

  async get(key: Key): Promise<Entry> {
    return (await this.getMany([key]))[0]!
  }

  async getMany(keys: readonly Key[]): Promise<Entry[]> {
    const wanted = this.#assertReadable(keys)
    const found = await this.#store.get(wanted)
    return keys.map((key, at) => {
      const entry = found.get(wanted[at]!)
      return entry ? this.#entryOf(entry) : { key, value: null, versionstamp: null }
    })
  }

  async set(key: Key, value: unknown, options: { readonly expireIn?: number } = {}) {
    return (await this.atomic().set(key, value, options).commit()) as { ok: true; versionstamp: string }
  }

  async delete(key: Key): Promise<void> {
    await this.atomic().delete(key).commit()
  }

  list(selector: Selector, options: ListOptions = {}): ListIterator<Entry> {
    const { limit = Number.POSITIVE_INFINITY, reverse = false, cursor, batchSize = 100 } = options
    if (limit <= 0) throw new TypeError(`Limit must be positive`)
    let [first, past] = rangeOf(selector)
    const afterKey = (key: string) => (reverse ? (past = key) : (first = `${key}00`))
    if (cursor) afterKey(toHex(fromBase64(cursor)))
    let left = limit
    let last = ''
    const read = async function* (this: Kv): AsyncGenerator<Entry> {
      while (left > 0) {
        this.#assertOpen()
        const most = Math.min(left, Math.max(1, batchSize), MAX_BATCH)
        const entries = await this.#store.list({ first, past, limit: most, reverse })
        for (const entry of entries) {
          left--
          last = entry.key
          yield this.#entryOf(entry)
        }
        if (entries.length === 0) return
        afterKey(entries.at(-1)!.key)
      }
    }
    return new ListIterator(read.call(this), () => (last === '' ? '' : toBase64(fromHex(last))))
  }

  atomic(): Atomic {
    return new Atomic(this.#store, this.#clone, this.#queue)
  }

  async enqueue(value: unknown, options: EnqueueOptions = {}) {
    return this.atomic().enqueue(value, options).commit()
  }

  /** Yields the entries, and again after each change; the store is polled once a second. */
  watch(keys: readonly Key[]): ReadableStream<Entry[]> {
    this.#assertReadable(keys)
    const { stream, stop } = watch(
      () => this.getMany(keys),
      (entries) => JSON.stringify(entries.map(({ versionstamp }) => versionstamp)),
    )
    this.#watches.add(stop)
    return stream
  }

  listenQueue(): never {
    throw new TypeError(
      'listenQueue is not offered here: name the queue in function.json, and take its messages by fetch or queue()',
    )
  }

  close(): void {
    this.#isClosed = true
    for (const stop of this.#watches) stop()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** The keys in hexadecimal. */
  #assertReadable(keys: readonly Key[]): string[] {
    this.#assertOpen()
    if (keys.length > MAX_KEYS) throw new TypeError(`Too many ranges (max ${MAX_KEYS})`)
    return keys.map((key) => toHex(encodeKey(key)))
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new this.#Closed('the database is closed')
  }

  #entryOf({ key, kind, value, versionstamp }: StoredEntry): Entry {
    return { key: decodeKey(fromHex(key)), value: this.#valueOf(kind, fromBase64(value ?? '')), versionstamp }
  }

  #valueOf(kind: StoredEntry['kind'], bytes: Uint8Array): unknown {
    if (kind === 'u64') return new KvU64(BigInt(new TextDecoder().decode(bytes)))
    return kind === 'raw' ? bytes : this.#clone.deserialize(bytes)
  }
}

/** Operations of one transaction. */
class Atomic {
  readonly #store: Store
  readonly #clone: Clone
  readonly #queue: string
  readonly #checks: { key: string; versionstamp: string | null }[] = []
  readonly #writes: Mutation[] = []
  readonly #sends: { queue: string; body: unknown; delay_seconds: number }[] = []
  #bytes = 0

  constructor(store: Store, clone: Clone, queue: string) {
    this.#store = store
    this.#clone = clone
    this.#queue = queue
  }

  check(...checks: { readonly key: Key; readonly versionstamp?: string | null }[]): this {
    for (const { key, versionstamp = null } of checks) {
      if (versionstamp !== null && !/^[0-9a-f]{20}$/.test(versionstamp)) throw new TypeError('Invalid check')
      this.#checks.push({ key: toHex(encodeKey(key)), versionstamp })
    }
    return this
  }

  mutate(
    ...mutations: { readonly key: Key; readonly type: string; readonly value?: unknown; readonly expireIn?: number }[]
  ) {
    for (const { key, type, value, expireIn } of mutations) {
      if (type === 'set') this.set(key, value, { ...(expireIn !== undefined && { expireIn }) })
      else if (type === 'delete') this.delete(key)
      else if (type === 'sum' || type === 'min' || type === 'max') this.#reckon(type, key, value)
      else throw new TypeError('Invalid mutation type')
    }
    return this
  }

  sum(key: Key, value: bigint): this {
    return this.#reckon('sum', key, new KvU64(value))
  }
  min(key: Key, value: bigint): this {
    return this.#reckon('min', key, new KvU64(value))
  }
  max(key: Key, value: bigint): this {
    return this.#reckon('max', key, new KvU64(value))
  }

  set(key: Key, value: unknown, { expireIn }: { readonly expireIn?: number } = {}): this {
    if (expireIn !== undefined && !(expireIn > 0)) throw new TypeError('expireIn is a positive number of milliseconds')
    const isNumber = value instanceof KvU64
    const bytes = isNumber ? new TextEncoder().encode(String(value.value)) : this.#clone.serialize(value)
    if (bytes.length > MAX_VALUE) throw new TypeError(`Value too large (max ${MAX_VALUE} bytes)`)
    return this.#write({
      operation: 'set',
      key: toHex(encodeKey(key)),
      kind: isNumber ? 'u64' : 'v8',
      value: toBase64(bytes),
      ...(expireIn !== undefined && { expires_in: expireIn / 1000 }),
    })
  }

  delete(key: Key): this {
    return this.#write({ operation: 'delete', key: toHex(encodeKey(key)) })
  }

  /** Sends a message to the queue that the function consumes. */
  enqueue(value: unknown, { delay = 0, keysIfUndelivered = [], backoffSchedule }: EnqueueOptions = {}): this {
    if (keysIfUndelivered.length > 0 || backoffSchedule != null)
      throw new TypeError(
        'keysIfUndelivered and backoffSchedule are not offered here: "attempts" of function.json bounds deliveries',
      )
    if (this.#queue === '') throw new TypeError('the function consumes no queue: name one in "queue" of function.json')
    if (!(delay >= 0 && delay <= MAX_DELAY_MS)) throw new TypeError('Delay cannot be greater than 30 days')
    this.#sends.push({ queue: this.#queue, body: jsonOf(value), delay_seconds: delay / 1000 })
    return this
  }

  async commit(): Promise<{ ok: true; versionstamp: string } | { ok: false }> {
    const versionstamp = await this.#store.write({ checks: this.#checks, writes: this.#writes, sends: this.#sends })
    return versionstamp === null ? { ok: false } : { ok: true, versionstamp }
  }

  #reckon(operation: 'sum' | 'min' | 'max', key: Key, value: unknown): this {
    if (!(value instanceof KvU64)) throw new TypeError(`Cannot ${operation} Deno.KvU64 with a non-Deno.KvU64 value`)
    return this.#write({ operation, key: toHex(encodeKey(key)), operand: String(value.value) })
  }

  #write(write: Mutation): this {
    this.#bytes += write.key.length / 2 + ((write.value?.length ?? 0) * 3) / 4
    if (this.#bytes > MAX_COMMIT) throw new TypeError(`Total mutation size too large (max ${MAX_COMMIT} bytes)`)
    this.#writes.push(write)
    return this
  }
}
