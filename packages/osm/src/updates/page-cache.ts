import { decodeIds, encodeIds, pageOf } from './pages.ts'
import type { Page, PageKind, PageStore } from './pages.ts'

/** Encoding of the entries of a page. */
export interface PageCodec<Entry> {
  readonly encode: (entries: ReadonlyMap<number, Entry>) => Uint8Array
  readonly decode: (page: number, data: Uint8Array) => Map<number, Entry>
}

/** Elements by id, loaded by page; changed pages are written as a whole. */
export class ElementPages<Entry> {
  readonly #kind: PageKind
  readonly #codec: PageCodec<Entry>
  readonly #store: PageStore
  readonly #pages = new Map<number, Map<number, Entry>>()
  readonly #changed = new Set<number>()

  constructor(kind: PageKind, codec: PageCodec<Entry>, store: PageStore) {
    this.#kind = kind
    this.#codec = codec
    this.#store = store
  }

  /** Loads the pages of these ids. */
  async load(ids: Iterable<number>): Promise<void> {
    const wanted = new Set<number>()
    for (const id of ids) {
      const page = pageOf(this.#kind, id)
      if (!this.#pages.has(page)) wanted.add(page)
    }
    for (const page of wanted) this.#pages.set(page, new Map())
    if (wanted.size === 0) return
    for (const { page, data } of await this.#store.read(this.#kind, [...wanted])) {
      this.#pages.set(page, this.#codec.decode(page, data))
    }
  }

  /** The current state of the element; it must have been loaded. */
  get(id: number): Entry | undefined {
    return this.#pages.get(pageOf(this.#kind, id))?.get(id)
  }

  set(id: number, entry: Entry | null): void {
    const page = pageOf(this.#kind, id)
    const entries = this.#pages.get(page)!
    if (entry === null) entries.delete(id)
    else entries.set(id, entry)
    this.#changed.add(page)
  }

  /** The pages that are to be written. */
  changed(): Page[] {
    return [...this.#changed].map((page) => ({
      kind: this.#kind,
      page,
      part: 0,
      data: this.#codec.encode(this.#pages.get(page)!),
    }))
  }
}

/** Ids of referring elements, by pages of the elements that they refer to. */
export class ReferencePages {
  readonly #kind: PageKind
  readonly #store: PageStore
  readonly #pages = new Map<number, Set<number>>()
  readonly #changed = new Set<number>()

  constructor(kind: PageKind, store: PageStore) {
    this.#kind = kind
    this.#store = store
  }

  async load(ids: Iterable<number>): Promise<void> {
    const wanted = new Set<number>()
    for (const id of ids) {
      const page = pageOf(this.#kind, id)
      if (!this.#pages.has(page)) wanted.add(page)
    }
    for (const page of wanted) this.#pages.set(page, new Set())
    if (wanted.size === 0) return
    for (const { page, data } of await this.#store.read(this.#kind, [...wanted])) {
      const known = this.#pages.get(page)!
      for (const id of decodeIds(data)) known.add(id)
    }
  }

  /** Elements that may refer to one of the given ones; also elements that refer to others of the same pages. */
  candidates(ids: Iterable<number>): Set<number> {
    const found = new Set<number>()
    const pages = new Set([...ids].map((id) => pageOf(this.#kind, id)))
    for (const page of pages) for (const id of this.#pages.get(page) ?? []) found.add(id)
    return found
  }

  /** Replaces the references of `from` from `before` to `after`; their pages must be loaded. */
  move(from: number, before: readonly number[], after: readonly number[]): void {
    const kept = new Set(after.map((id) => pageOf(this.#kind, id)))
    for (const page of new Set(before.map((id) => pageOf(this.#kind, id)))) {
      if (!kept.has(page) && this.#pages.get(page)!.delete(from)) this.#changed.add(page)
    }
    for (const page of kept) {
      const list = this.#pages.get(page)!
      if (list.has(from)) continue
      list.add(from)
      this.#changed.add(page)
    }
  }

  /** The pages to write, each as one part that replaces all of its stored parts. */
  changed(): Page[] {
    return [...this.#changed].map((page) => {
      const ids = this.#pages.get(page)!
      return { kind: this.#kind, page, part: 0, data: encodeIds(ids) }
    })
  }
}
