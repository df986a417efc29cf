import { encodeKey, type Key } from './keys.ts'
import { toHex } from './store.ts'

/** Selection of keys to list. */
export interface Selector {
  readonly prefix?: Key
  readonly start?: Key
  readonly end?: Key
}

/**
 * The range of a selector, in hexadecimal. A prefix does not contain itself.
 *
 * @throws TypeError for an invalid selector, as Deno's own database does
 */
export function rangeOf({ prefix, start, end }: Selector): [first: string, past: string] {
  const [from, to] = [start, end].map((key) => key && toHex(encodeKey(key, true)))
  if (prefix === undefined) {
    if (from === undefined || to === undefined) throw new TypeError('a selector has a prefix, or a start and an end')
    if (from > to) throw new TypeError('Start key is greater than end key')
    return [from, to]
  }
  if (from !== undefined && to !== undefined)
    throw new TypeError(`Selector can not specify both 'start' and 'end' key when specifying 'prefix'`)
  const own = toHex(encodeKey(prefix, true))
  for (const [name, key] of Object.entries({ Start: from, End: to }))
    if (key !== undefined && (!key.startsWith(own) || key === own))
      throw new TypeError(`${name} key is not in the keyspace defined by prefix`)
  return [from ?? `${own}00`, to ?? `${own}ff`]
}

/** Result of `list`: entries in order, and the cursor after the last one. */
export class ListIterator<Entry> implements AsyncIterableIterator<Entry> {
  readonly #entries: AsyncGenerator<Entry>
  readonly #cursor: () => string

  constructor(entries: AsyncGenerator<Entry>, cursor: () => string) {
    this.#entries = entries
    this.#cursor = cursor
  }
  get cursor(): string {
    return this.#cursor()
  }
  next(): Promise<IteratorResult<Entry>> {
    return this.#entries.next()
  }
  return(): Promise<IteratorResult<Entry>> {
    return this.#entries.return(undefined)
  }
  [Symbol.asyncIterator](): this {
    return this
  }
}
