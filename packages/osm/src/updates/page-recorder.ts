import type { BlockVisitor, NodeColumns, OsmBlock, OsmHeader } from '../block.ts'
import { UNDEFINED_COORDINATE } from '../block.ts'
import { blockElements } from '../element.ts'
import type { OsmRelation, OsmWay } from '../element.ts'
import { osmNotUpdatable } from '../errors.ts'
import type { OsmReader, ReadOptions } from '../reader.ts'
import type { OsmSource } from '../source.ts'
import {
  NODE_PAGE,
  RELATIONS_OF_WAYS,
  RELATION_PAGE,
  WAYS_OF_NODES,
  WAY_PAGE,
  encodeElements,
  encodeIds,
  encodeNodes,
  pageOf,
  withWaysOnly,
} from './pages.ts'
import type { Location, Page, PageKind } from './pages.ts'

/** References kept in memory before they are written as one part of each page. */
const MOST_REFERENCES = 1 << 20
/** Pages handed over at a time. */
const BATCH_PAGES = 4096

/** Passes elements on to an import and writes pages for updates. Memory: a page of each kind, a million references. */
export class PageRecorder implements OsmReader {
  readonly source: OsmSource
  readonly #reader: OsmReader
  readonly #write: (pages: readonly Page[]) => Promise<void>
  #ready: Page[] = []
  readonly #nodes = new OpenPage<Location>(NODE_PAGE, encodeNodes, (page) => this.#ready.push(page))
  readonly #ways = new OpenPage<OsmWay>(WAY_PAGE, encodeElements, (page) => this.#ready.push(page))
  readonly #relations = new OpenPage<OsmRelation>(RELATION_PAGE, encodeElements, (page) => this.#ready.push(page))
  #references = new Map<PageKind, Map<number, number[]>>()
  #count = 0
  #part = 0

  constructor(reader: OsmReader, write: (pages: readonly Page[]) => Promise<void>) {
    this.source = reader.source
    this.#reader = reader
    this.#write = write
  }

  header(signal?: AbortSignal): Promise<OsmHeader> {
    return this.#reader.header(signal)
  }

  estimateNodes(signal?: AbortSignal): Promise<number | null> {
    return this.#reader.estimateNodes(signal)
  }

  /** Each kind may be read once. @throws OSM_NOT_UPDATABLE for unsorted or repeated elements, and located ways */
  async read(visit: BlockVisitor, options?: ReadOptions): Promise<OsmHeader> {
    const header = await this.#reader.read(async (block) => {
      this.#take(block)
      await visit(block)
      if (this.#count > MOST_REFERENCES) this.#endPart()
      if (this.#ready.length >= BATCH_PAGES) await this.#flush()
    }, options)
    for (const open of [this.#nodes, this.#ways, this.#relations]) open.end()
    this.#endPart()
    await this.#flush()
    return header
  }

  #take(block: OsmBlock): void {
    if (block.ways.count > 0 && block.ways.hasLocations) throw osmNotUpdatable({ why: 'locations stand on its ways' })
    this.#takeNodes(block.nodes)
    for (const element of blockElements(block)) {
      if (element.type === 'way') {
        this.#ways.add(element.id, element)
        for (const ref of element.refs) this.#refer(WAYS_OF_NODES, ref, element.id)
      } else if (element.type === 'relation') {
        const relation = withWaysOnly(element)
        if (relation.members.length === 0) continue
        this.#relations.add(element.id, relation)
        for (const { ref } of relation.members) this.#refer(RELATIONS_OF_WAYS, ref, element.id)
      }
    }
  }

  #takeNodes({ ids, lon, lat, count }: NodeColumns): void {
    for (let i = 0; i < count; i++) {
      if (lon[i] !== UNDEFINED_COORDINATE) this.#nodes.add(ids[i]!, [lon[i]!, lat[i]!])
    }
  }

  #refer(kind: PageKind, to: number, from: number): void {
    let lists = this.#references.get(kind)
    if (!lists) this.#references.set(kind, (lists = new Map()))
    const page = pageOf(kind, to)
    const list = lists.get(page)
    if (list?.at(-1) === from) return
    if (list) list.push(from)
    else lists.set(page, [from])
    this.#count++
  }

  #endPart(): void {
    for (const [kind, lists] of this.#references) {
      const sorted = [...lists].toSorted(([a], [b]) => a - b)
      for (const [page, ids] of sorted)
        this.#ready.push({ kind, page, part: this.#part, data: encodeIds(new Set(ids)) })
    }
    this.#references = new Map()
    this.#count = 0
    this.#part++
  }

  async #flush(): Promise<void> {
    const pages = this.#ready
    this.#ready = []
    if (pages.length > 0) await this.#write(pages)
  }
}

/** Collects the elements of one page; the next id beyond it ends it. */
class OpenPage<Entry> {
  readonly #kind: PageKind
  readonly #encode: (entries: ReadonlyMap<number, Entry>) => Uint8Array
  readonly #done: (page: Page) => void
  readonly #entries = new Map<number, Entry>()
  #page = -Infinity
  #last = -Infinity

  constructor(kind: PageKind, encode: (entries: ReadonlyMap<number, Entry>) => Uint8Array, done: (page: Page) => void) {
    this.#kind = kind
    this.#encode = encode
    this.#done = done
  }

  add(id: number, entry: Entry): void {
    if (id <= this.#last) throw osmNotUpdatable({ why: 'its elements are not in the order of their ids, each once' })
    this.#last = id
    const page = pageOf(this.#kind, id)
    if (page !== this.#page) this.end()
    this.#page = page
    this.#entries.set(id, entry)
  }

  end(): void {
    if (this.#entries.size === 0) return
    this.#done({ kind: this.#kind, page: this.#page, part: 0, data: this.#encode(this.#entries) })
    this.#entries.clear()
  }
}
