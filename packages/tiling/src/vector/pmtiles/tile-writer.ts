import { hash } from 'node:crypto'
import { ByteLog } from '../spill/byte-log.ts'
import type { OpenScratch } from '../spill/scratch.ts'
import { gzipTile, gzipTileAside, isSmall } from '../tile/gzip.ts'
import { TileEntries } from './directory.ts'
import { firstTileId } from './tile-id.ts'

/** Maximum number of tiles that wait for compression. */
const IN_FLIGHT = 16

/** Returns a smaller version of a tile whose compressed form is too large. */
export type Shrink = (gzipped: Uint8Array) => Uint8Array

/** Position of a compressed tile, once it is written. */
interface Content {
  offset: number
  length: number
}

interface PendingTile {
  readonly tileId: number
  readonly content: Content
  /** Null when the content is that of an earlier tile. */
  readonly gzipped: Uint8Array | Promise<Uint8Array> | null
  readonly shrink: Shrink | null
}

/** Writes compressed tiles by ascending TileID; equal tiles are stored once. */
export class TileWriter {
  readonly entries = new TileEntries()
  readonly data: ByteLog
  /** Number of different tiles. */
  contents = 0
  /** The largest tile of the highest zoom. */
  largest = { tileId: 0, bytes: 0 }
  readonly #highestFrom: number
  readonly #queue: PendingTile[] = []
  readonly #seen = new Map<string, Content>()

  /** @param maxZoom the highest zoom of the archive */
  constructor(maxZoom: number, openScratch: OpenScratch, memoryBytes: number) {
    this.#highestFrom = firstTileId(maxZoom)
    this.data = new ByteLog(openScratch, memoryBytes)
  }

  /**
   * Adds a tile; waits while too many are being compressed.
   *
   * @param shrink called with the compressed tile, if given; its result is written and not shared with other tiles
   */
  async add(tileId: number, tile: Uint8Array, shrink: Shrink | null): Promise<void> {
    // Only small tiles are compared, because large ones have geometry of their own location.
    if (!isSmall(tile)) return void (await this.#enqueue(tileId, gzipTileAside(tile), shrink))
    const key = shrink ? null : hash('sha256', tile, 'base64')
    const known = key === null ? undefined : this.#seen.get(key)
    const content = await this.#enqueue(tileId, known ? null : gzipTile(tile), shrink, known)
    if (key !== null) this.#seen.set(key, content)
  }

  /** Adds a tile that is compressed already. */
  async addGzipped(tileId: number, gzipped: Uint8Array): Promise<void> {
    await this.#enqueue(tileId, gzipped, null)
  }

  /** Waits for all tiles to be written. */
  async finish(): Promise<void> {
    while (this.#queue.length > 0) await this.#writeNext()
  }

  [Symbol.dispose](): void {
    this.data[Symbol.dispose]()
  }

  async #enqueue(
    tileId: number,
    gzipped: PendingTile['gzipped'],
    shrink: Shrink | null,
    known?: Content,
  ): Promise<Content> {
    const content = known ?? { offset: 0, length: 0 }
    if (!known) this.contents++
    this.#queue.push({ tileId, content, gzipped, shrink })
    // A tile compressed synchronously waits only for tiles before it.
    while (this.#queue.length > 0 && !(this.#queue[0]!.gzipped instanceof Promise)) await this.#writeNext()
    while (this.#queue.length >= IN_FLIGHT) await this.#writeNext()
    return content
  }

  async #writeNext(): Promise<void> {
    const { tileId, content, gzipped, shrink } = this.#queue.shift()!
    if (gzipped) {
      const whole = await gzipped
      const bytes = shrink ? shrink(whole) : whole
      content.offset = this.data.length
      content.length = bytes.length
      this.data.append(bytes)
    }
    this.entries.add(tileId, content.offset, content.length)
    if (tileId >= this.#highestFrom && content.length > this.largest.bytes) {
      this.largest = { tileId, bytes: content.length }
    }
  }
}
