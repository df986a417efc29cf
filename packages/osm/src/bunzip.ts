// oxlint-disable-next-line typescript/triple-slash-reference -- Packages that import this one need the declaration, too.
/// <reference path="./unbzip2-stream.d.ts" />
import bitIterator from 'unbzip2-stream/lib/bit_iterator.js'
import bzip2 from 'unbzip2-stream/lib/bzip2.js'
import { osmMalformed, osmTooLarge, osmTruncated } from './errors.ts'

/** Most growth of packed data: OpenStreetMap XML grows by 10 to 20. */
const MOST_RATIO = 100
/** Unpacked data below this size are exempt. */
const SMALL_BYTES = 8 * 1024 * 1024
/** Packed bytes per step of the decoder, which holds a block of up to 900 kB. */
const SLICE_BYTES = 4096

/** Unpacks bzip2, also streams one behind the other. @throws OSM_TRUNCATED, OSM_MALFORMED, OSM_TOO_LARGE */
export async function* bunzip(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const decoder = new Decoder()
  for await (const chunk of packed) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      // Sources use the memory of a chunk again.
      decoder.give(chunk.slice(at, at + SLICE_BYTES))
      yield* decoder.blocks(false)
    }
  }
  yield* decoder.blocks(true)
}

/** Takes packed bytes and gives whole blocks. */
class Decoder {
  readonly #queue: Uint8Array[] = []
  #reader: ReturnType<typeof bitIterator> | null = null
  #taken = 0
  #given = 0
  /** Block size of the current stream, in units of 100,000 bytes; 0 before its header. */
  #blockSize = 0
  /** Null between streams. */
  #checksum: number | null = null

  give(bytes: Uint8Array): void {
    this.#queue.push(bytes)
    this.#taken += bytes.length
    this.#reader ??= bitIterator(() => this.#queue.shift())
  }

  /** The complete blocks; at the end of the input all remaining ones. */
  *blocks(hasEnded: boolean): Generator<Uint8Array> {
    const reader = this.#reader
    if (reader === null) return
    const wanted = () => (this.#blockSize === 0 ? 4 : 25_000 + 100_000 * this.#blockSize)
    while (hasEnded ? this.#taken > reader.bytesRead : this.#taken - reader.bytesRead + 1 >= wanted()) {
      const block = this.#next(reader)
      if (block !== null) yield block
    }
    if (hasEnded && this.#checksum !== null) throw osmTruncated({ at: this.#taken, wanted: 'more bzip2 data' })
  }

  /** Reads a header or a block; null when that unpacks no bytes. */
  #next(reader: ReturnType<typeof bitIterator>): Uint8Array | null {
    try {
      if (this.#blockSize === 0) {
        this.#blockSize = bzip2.header(reader)
        this.#checksum = 0
        return null
      }
      const bytes: number[] = []
      const limit = Math.max(SMALL_BYTES, this.#taken * MOST_RATIO)
      const take = (byte: number) => {
        if (++this.#given > limit) throw osmTooLarge({ what: 'The unpacked bzip2 data', size: this.#given, limit })
        bytes.push(byte)
      }
      const size = 100_000 * this.#blockSize
      this.#checksum = bzip2.decompress(reader, take, new Int32Array(size), size, this.#checksum)
      if (this.#checksum !== null) return Uint8Array.from(bytes)
      this.#blockSize = 0
      return null
    } catch (error) {
      throw refusal(error as Error, this.#taken)
    }
  }
}

/** The decoder reads beyond its last byte where blocks are cut off. */
function refusal(cause: Error, at: number): Error {
  if ('code' in cause && cause.code === 'OSM_TOO_LARGE') return cause
  if (cause instanceof TypeError) return osmTruncated({ at, wanted: 'more bzip2 data' }, { cause })
  return osmMalformed({ what: 'its bzip2 data is damaged' }, { cause })
}
