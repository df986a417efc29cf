import { growFloat64 } from '../grow.ts'
import type { NodeIndex } from './node-index.ts'
import type { ScratchFile } from './spill.ts'

/** Nodes of a page. */
const ROWS = 1024
/** A page: ids relative to its first one, longitudes, latitudes. */
const WORDS = 3 * ROWS
const PAGE_BYTES = 4 * WORDS
/** Placeholder for ids in a page that is not full. */
const NO_ID = 0xffffffff
const LEAST_PAGES = 16

/**
 * The locations of nodes by id in a temporary file of 12 bytes each, in pages of 1,024 nodes. As many pages stay in
 * memory as the limit allows. Nodes in ascending order are one run of pages; unordered nodes are several, and the
 * latest run with an id counts.
 */
export class SpilledNodes {
  readonly #file: ScratchFile
  #pages = 0
  /** The first id of each page. */
  #first = new Float64Array(1024)
  /** First page number of each run. */
  readonly #runs: number[] = []
  #lastId = -Infinity
  // The pages in memory: a direct-mapped cache by page number.
  #bytes = new Uint8Array(0)
  #words = new Uint32Array(0)
  #numbers = new Int32Array(0)
  #pageAt = new Int32Array(0)
  // Position of the last look-up.
  #page = 0
  #row = 0

  constructor(file: ScratchFile) {
    this.#file = file
  }

  /** Takes over the nodes of a finished index. */
  add(nodes: NodeIndex): void {
    const ids = new Float64Array(ROWS)
    const words = new Uint32Array(WORDS)
    const bytes = new Uint8Array(words.buffer)
    const lon = new Int32Array(words.buffer, 4 * ROWS, ROWS)
    const lat = new Int32Array(words.buffer, 8 * ROWS, ROWS)
    for (let row = 0; row < nodes.size;) {
      const read = nodes.copy(row, ids, lon, lat)
      const first = ids[0]!
      let count = 0
      for (; count < read && ids[count]! - first < NO_ID; count++) words[count] = ids[count]! - first
      words.fill(NO_ID, count, ROWS)
      if (row === 0 && first <= this.#lastId) this.#runs.push(this.#pages)
      this.#file.write(bytes, this.#pages * PAGE_BYTES)
      this.#first = growFloat64(this.#first, this.#pages + 1)
      this.#first[this.#pages++] = first
      this.#lastId = ids[count - 1]!
      row += count
    }
  }

  /** Must be called between the last {@link add} and the first {@link find}. */
  finish(memoryBytes: number): void {
    this.#runs.unshift(0)
    const places = Math.min(this.#pages, Math.max(LEAST_PAGES, Math.floor(memoryBytes / PAGE_BYTES)))
    this.#bytes = new Uint8Array(places * PAGE_BYTES)
    this.#words = new Uint32Array(this.#bytes.buffer)
    this.#numbers = new Int32Array(this.#bytes.buffer)
    this.#pageAt = new Int32Array(places).fill(-1)
  }

  /** The row of a node, -1 when it is absent; for {@link lon} and {@link lat} until the next look-up. */
  find(id: number): number {
    for (let run = this.#runs.length - 1; run >= 0; run--) {
      const page = this.#findPage(id, this.#runs[run]!, this.#runs[run + 1] ?? this.#pages)
      const row = page < 0 ? -1 : this.#findRow(id, page)
      if (row >= 0) return row
    }
    return -1
  }

  lon(row: number): number {
    return this.#numbers[row + ROWS]!
  }

  lat(row: number): number {
    return this.#numbers[row + 2 * ROWS]!
  }

  [Symbol.dispose](): void {
    this.#file.close()
  }

  /** The last page of a run that begins at the id or before it. */
  #findPage(id: number, start: number, end: number): number {
    const first = this.#first
    const last = this.#page
    if (last >= start && last < end && first[last]! <= id && (last + 1 === end || id < first[last + 1]!)) return last
    let from = start
    let to = end
    while (from < to) {
      const middle = (from + to) >>> 1
      if (first[middle]! <= id) from = middle + 1
      else to = middle
    }
    return from - 1 < start ? -1 : from - 1
  }

  #findRow(id: number, page: number): number {
    const place = page % this.#pageAt.length
    const start = place * WORDS
    if (this.#pageAt[place] !== page) {
      this.#file.read(this.#bytes.subarray(place * PAGE_BYTES, (place + 1) * PAGE_BYTES), page * PAGE_BYTES)
      this.#pageAt[place] = page
    }
    const wanted = id - this.#first[page]!
    if (wanted >= NO_ID) return -1
    const words = this.#words
    const end = start + ROWS
    const next = this.#page === page ? this.#row + 1 : start
    this.#page = page
    if (next < end && words[next] === wanted) return (this.#row = next)
    let from = start
    let to = end
    while (from < to) {
      const middle = (from + to) >>> 1
      if (words[middle]! < wanted) from = middle + 1
      else to = middle
    }
    if (from === end || words[from] !== wanted) return -1
    return (this.#row = from)
  }
}
