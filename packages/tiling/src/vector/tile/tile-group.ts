import { GrowingBytes } from '../bytes/growing-bytes.ts'
import type { RecordCursor } from '../spill/record-sorter.ts'
import { FragmentReader } from './fragment.ts'

/** The fragments of one tile, in the order of their features. The buffers are reused for each tile. */
export class TileGroup {
  count = 0
  readonly #bytes = new GrowingBytes(1 << 16)
  #ends = new Float64Array(1 << 8)
  readonly #reader = new FragmentReader()

  /** Reads all fragments of the cursor's current tile; false when no fragment follows. */
  fill(cursor: RecordCursor): boolean {
    const tile = cursor.key
    this.count = 0
    this.#bytes.at = 0
    let more = true
    do {
      if (this.count === this.#ends.length) {
        const ends = new Float64Array(this.count * 2)
        ends.set(this.#ends)
        this.#ends = ends
      }
      this.#bytes.append(cursor.bytes, cursor.start, cursor.end)
      this.#ends[this.count++] = this.#bytes.at
      more = cursor.next()
    } while (more && cursor.key === tile)
    return more
  }

  get bytes(): Uint8Array {
    return this.#bytes.bytes
  }

  endOf(index: number): number {
    return this.#ends[index]!
  }

  /** The head of a fragment; valid until the next call. */
  open(index: number): FragmentReader {
    this.#reader.open(this.#bytes.bytes, index === 0 ? 0 : this.#ends[index - 1]!)
    return this.#reader
  }
}
