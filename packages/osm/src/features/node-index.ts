import { UNDEFINED_COORDINATE } from '../block.ts'
import type { NodeColumns } from '../block.ts'
import { growFloat64, growInt32, growUint16, growUint32 } from '../grow.ts'

const BUCKET = 65536

/**
 * The locations of nodes by id, in 10 bytes each: sorted ids are stored as 16 low bits within buckets of 65,536 ids. A
 * look-up is a binary search for the bucket, usually the last one, and another within it, usually the next row.
 */
export class NodeIndex {
  /** Rows in all. */
  size = 0
  #low: Uint16Array<ArrayBuffer>
  #lon: Int32Array<ArrayBuffer>
  #lat: Int32Array<ArrayBuffer>
  // Buckets: id divided by 65,536, and the first row.
  #buckets = 0
  #high = new Float64Array(64)
  #start = new Uint32Array(64)
  #sorted = true
  #lastId = -Infinity
  // Position of the last look-up.
  #bucket = 0
  #row = 0

  /** @param rows initial capacity in nodes */
  constructor(rows = 1024) {
    this.#low = new Uint16Array(rows)
    this.#lon = new Int32Array(rows)
    this.#lat = new Int32Array(rows)
  }

  /** Adds the nodes of a block that have a location. */
  add(nodes: NodeColumns): void {
    const most = this.size + nodes.count
    this.#low = growUint16(this.#low, most)
    this.#lon = growInt32(this.#lon, most)
    this.#lat = growInt32(this.#lat, most)
    const { ids, lon, lat, count } = nodes
    let row = this.size
    let last = this.#lastId
    let high = this.#buckets > 0 ? this.#high[this.#buckets - 1]! : Number.NaN
    for (let i = 0; i < count; i++) {
      const x = lon[i]!
      if (x === UNDEFINED_COORDINATE) continue
      const id = ids[i]!
      if (id <= last) this.#sorted = false
      last = id
      const bucket = Math.floor(id / BUCKET)
      if (bucket !== high) {
        high = bucket
        this.#addBucket(bucket, row)
      }
      this.#low[row] = id - bucket * BUCKET
      this.#lon[row] = x
      this.#lat[row++] = lat[i]!
    }
    this.#lastId = last
    this.size = row
  }

  /** Must be called between the last {@link add} and the first {@link find}. The last node of an id counts. */
  finish(): void {
    if (!this.#sorted) this.#sort()
    this.#start = growUint32(this.#start, this.#buckets + 1)
    this.#start[this.#buckets] = this.size
    this.#bucket = this.#row = 0
  }

  /** The row of a node, -1 when it is absent; for {@link lon} and {@link lat}. */
  find(id: number): number {
    const bucket = Math.floor(id / BUCKET)
    const low = id - bucket * BUCKET
    if (this.#high[this.#bucket] !== bucket) {
      const found = this.#findBucket(bucket)
      if (found < 0) return -1
      this.#bucket = found
      this.#row = this.#start[found]!
    }
    const next = this.#row + 1
    let to = this.#start[this.#bucket + 1]!
    if (next < to && this.#low[next] === low) return (this.#row = next)
    let from = this.#start[this.#bucket]!
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#low[middle]! < low) from = middle + 1
      else to = middle
    }
    if (from === this.#start[this.#bucket + 1] || this.#low[from] !== low) return -1
    return (this.#row = from)
  }

  lon(row: number): number {
    return this.#lon[row]!
  }

  lat(row: number): number {
    return this.#lat[row]!
  }

  /** Copies nodes of a finished index by id, from a row on, until the arrays are full; returns their number. */
  copy(row: number, ids: Float64Array, lon: Int32Array, lat: Int32Array): number {
    const end = Math.min(row + ids.length, this.size)
    lon.set(this.#lon.subarray(row, end))
    lat.set(this.#lat.subarray(row, end))
    if (row === 0) this.#bucket = 0
    while (this.#start[this.#bucket]! > row) this.#bucket--
    for (let at = row; at < end; at++) {
      while (this.#start[this.#bucket + 1]! <= at) this.#bucket++
      ids[at - row] = this.#high[this.#bucket]! * BUCKET + this.#low[at]!
    }
    return end - row
  }

  /** Removes all nodes, and reuses the memory. */
  restart(): void {
    this.size = this.#buckets = this.#bucket = this.#row = 0
    this.#sorted = true
    this.#lastId = -Infinity
  }

  /** Removes all nodes and frees the memory at once, because garbage collection may be late. */
  clear(): void {
    this.restart()
    for (const { buffer } of [this.#low, this.#lon, this.#lat]) buffer.transfer(0)
    this.#low = new Uint16Array()
    this.#lon = new Int32Array()
    this.#lat = new Int32Array()
  }

  #findBucket(bucket: number): number {
    let from = 0
    let to = this.#buckets
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#high[middle]! < bucket) from = middle + 1
      else to = middle
    }
    return from < this.#buckets && this.#high[from] === bucket ? from : -1
  }

  #addBucket(bucket: number, row: number): void {
    const at = this.#buckets++
    this.#high = growFloat64(this.#high, at + 1)
    this.#start = growUint32(this.#start, at + 2)
    this.#high[at] = bucket
    this.#start[at] = row
  }

  /** Brings the runs of an unsorted file together by bucket, and sorts each with a table of its 65,536 low parts. */
  #sort(): void {
    const runs = this.#buckets
    const order = Uint32Array.from({ length: runs }, (_, i) => i).toSorted(
      (a, b) => this.#high[a]! - this.#high[b]! || a - b,
    )
    const low = new Uint16Array(this.size)
    const lon = new Int32Array(this.size)
    const lat = new Int32Array(this.size)
    const high = new Float64Array(runs)
    const start = new Uint32Array(runs + 1)
    const rowOf = new Int32Array(BUCKET).fill(-1)
    let buckets = 0
    let size = 0
    for (let i = 0; i < runs;) {
      const bucket = this.#high[order[i]!]!
      for (; i < runs && this.#high[order[i]!] === bucket; i++) {
        const run = order[i]!
        const end = run + 1 < runs ? this.#start[run + 1]! : this.size
        for (let row = this.#start[run]!; row < end; row++) rowOf[this.#low[row]!] = row
      }
      high[buckets] = bucket
      start[buckets++] = size
      for (let l = 0; l < BUCKET; l++) {
        const row = rowOf[l]!
        if (row < 0) continue
        rowOf[l] = -1
        low[size] = l
        lon[size] = this.#lon[row]!
        lat[size++] = this.#lat[row]!
      }
    }
    this.#low = low
    this.#lon = lon
    this.#lat = lat
    this.#high = high
    this.#start = start
    this.#buckets = buckets
    this.size = size
    this.#sorted = true
  }
}
