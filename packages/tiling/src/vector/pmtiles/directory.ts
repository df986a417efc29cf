import { GrowingBytes } from '../bytes/growing-bytes.ts'
import { writeVarint53 } from '../bytes/varint.ts'

/** Header and root directory must fit into the first 16 KiB, which readers fetch first. */
const ROOT_LIMIT = 16384 - 127
const FIRST_LEAF_ENTRIES = 4096

/** Compresses a directory. Browsers and Node have other libraries for it. */
export type Gzip = (bytes: Uint8Array) => Uint8Array

/** Runs of tiles with the same content, by ascending TileID. */
export class TileEntries {
  count = 0
  /** Tiles over all runs. */
  addressed = 0
  #tileIds = new Float64Array(1 << 10)
  #offsets = new Float64Array(1 << 10)
  #lengths = new Uint32Array(1 << 10)
  #runs = new Uint32Array(1 << 10)

  /** Adds a tile with a higher id than all before; it extends the last run if it follows it with the same content. */
  add(tileId: number, offset: number, length: number): void {
    this.addressed++
    const last = this.count - 1
    if (last >= 0 && this.#offsets[last] === offset && tileId === this.#tileIds[last]! + this.#runs[last]!) {
      this.#runs[last]!++
      return
    }
    this.push(tileId, offset, length, 1)
  }

  /** Adds an entry without changes; a run of 0 means a leaf directory. */
  push(tileId: number, offset: number, length: number, run: number): void {
    if (this.count === this.#tileIds.length) this.#grow()
    const at = this.count++
    this.#tileIds[at] = tileId
    this.#offsets[at] = offset
    this.#lengths[at] = length
    this.#runs[at] = run
  }

  tileId(index: number): number {
    return this.#tileIds[index]!
  }

  /** Entries `[from, to)` as a compressed directory (PMTiles v3, section 4.2). */
  serialize(from: number, to: number, gzip: Gzip): Uint8Array {
    const out = new GrowingBytes(1 << 12)
    const write = (value: number) => {
      out.ensure(8)
      out.at = writeVarint53(out.bytes, out.at, value)
    }
    write(to - from)
    for (let i = from; i < to; i++) write(this.#tileIds[i]! - (i === from ? 0 : this.#tileIds[i - 1]!))
    for (let i = from; i < to; i++) write(this.#runs[i]!)
    for (let i = from; i < to; i++) write(this.#lengths[i]!)
    for (let i = from; i < to; i++) {
      const follows = i > from && this.#offsets[i] === this.#offsets[i - 1]! + this.#lengths[i - 1]!
      write(follows ? 0 : this.#offsets[i]! + 1)
    }
    return gzip(out.written())
  }

  #grow(): void {
    const size = this.count * 2
    this.#tileIds = copied(this.#tileIds, new Float64Array(size))
    this.#offsets = copied(this.#offsets, new Float64Array(size))
    this.#lengths = copied(this.#lengths, new Uint32Array(size))
    this.#runs = copied(this.#runs, new Uint32Array(size))
  }
}

/** The directories of an archive: all entries in the root if they fit, else in leaves of equal size. */
export function buildDirectories(entries: TileEntries, gzip: Gzip): { root: Uint8Array; leaves: Uint8Array } {
  let root = entries.serialize(0, entries.count, gzip)
  if (root.length <= ROOT_LIMIT) return { root, leaves: new Uint8Array(0) }
  for (let size = FIRST_LEAF_ENTRIES; ; size = Math.ceil(size * 1.5)) {
    const index = new TileEntries()
    const leaves = new GrowingBytes(1 << 16)
    for (let from = 0; from < entries.count; from += size) {
      const leaf = entries.serialize(from, Math.min(entries.count, from + size), gzip)
      index.push(entries.tileId(from), leaves.at, leaf.length, 0)
      leaves.append(leaf, 0, leaf.length)
    }
    root = index.serialize(0, index.count, gzip)
    if (root.length <= ROOT_LIMIT) return { root, leaves: leaves.written() }
  }
}

function copied<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
