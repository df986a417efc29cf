import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ByteLog } from '../spill/byte-log.ts'
import type { OpenScratch } from '../spill/scratch.ts'
import { GZIP, withoutPlatform } from '../tile/gzip.ts'
import { TileEntries } from './directory.ts'
import { firstTileId } from './tile-id.ts'

const compress = promisify(gzip)

/** Tiles up to this size are compared with earlier ones: larger ones hold geometry of their own place. */
const COMPARED_BYTES = 1 << 12

/** Tiles that are compressed at a time, on the threads of the runtime. */
const IN_FLIGHT = 16

/** Gives a smaller form of a tile whose compressed form is too large. */
export type Shrink = (gzipped: Uint8Array) => Uint8Array

interface PendingTile {
  readonly tileId: number
  readonly content: number
  /** Null when the content is that of an earlier tile. */
  readonly gzipped: Promise<Uint8Array> | null
  readonly shrink: Shrink | null
}

/** Takes tiles by rising TileID, compresses them and keeps equal ones once. */
export class TileWriter {
  readonly entries = new TileEntries()
  readonly data: ByteLog
  /** Different tiles. */
  contents = 0
  /** The largest tile of the highest zoom. */
  largest = { tileId: 0, bytes: 0 }
  readonly #highestFrom: number
  readonly #queue: PendingTile[] = []
  readonly #seen = new Map<string, number>()
  readonly #places: { offset: number; length: number }[] = []

  /** @param maxZoom the highest zoom of the archive */
  constructor(maxZoom: number, openScratch: OpenScratch, memoryBytes: number) {
    this.#highestFrom = firstTileId(maxZoom)
    this.data = new ByteLog(openScratch, memoryBytes)
  }

  /**
   * Adds a tile; waits while too many are being compressed.
   *
   * @param shrink called with the compressed tile, if given; what it returns is written, and shared with no other tile
   */
  async add(tileId: number, tile: Uint8Array, shrink: Shrink | null): Promise<void> {
    const hash = !shrink && tile.length <= COMPARED_BYTES ? createHash('sha256').update(tile).digest('base64') : null
    const known = hash === null ? undefined : this.#seen.get(hash)
    const content = known ?? this.contents++
    if (hash !== null && known === undefined) this.#seen.set(hash, content)
    this.#queue.push({ tileId, content, gzipped: known === undefined ? compress(tile, GZIP) : null, shrink })
    while (this.#queue.length >= IN_FLIGHT) await this.#writeNext()
  }

  /** Adds a tile that is compressed already. */
  async addGzipped(tileId: number, gzipped: Uint8Array): Promise<void> {
    this.#queue.push({ tileId, content: this.contents++, gzipped: Promise.resolve(gzipped), shrink: null })
    while (this.#queue.length >= IN_FLIGHT) await this.#writeNext()
  }

  /** Waits for all tiles to be written. */
  async finish(): Promise<void> {
    while (this.#queue.length > 0) await this.#writeNext()
  }

  [Symbol.dispose](): void {
    this.data[Symbol.dispose]()
  }

  async #writeNext(): Promise<void> {
    const { tileId, content, gzipped, shrink } = this.#queue.shift()!
    if (gzipped) {
      const whole = await gzipped
      const bytes = withoutPlatform(shrink ? shrink(whole) : whole)
      this.#places[content] = { offset: this.data.length, length: bytes.length }
      this.data.append(bytes)
    }
    const { offset, length } = this.#places[content]!
    this.entries.add(tileId, offset, length)
    if (tileId >= this.#highestFrom && length > this.largest.bytes) this.largest = { tileId, bytes: length }
  }
}
