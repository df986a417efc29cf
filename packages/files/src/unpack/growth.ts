import { Transform, type TransformCallback } from 'node:stream'
import type { Compressors } from 'hyparquet'
import { growthRefused } from '../errors.ts'

/** Maximum ratio of unpacked to packed bytes of a file: data stay well below it, zip bombs do not. */
const MOST_RATIO = 100
/** Content below this size is exempt. */
const SMALL_BYTES = 1 << 16

/** Compares the output of a compressed file with the file's own size. */
export class Growth {
  readonly #most: number
  #bytes = 0

  /** @param packedBytes size of the compressed data, all together: single parts such as sparse indexes may grow more */
  constructor(packedBytes: number) {
    this.#most = Math.max(SMALL_BYTES, packedBytes * MOST_RATIO)
  }

  /** @throws ZIP_REFUSED when the output exceeds the allowed growth */
  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#most) throw growthRefused({ ratio: MOST_RATIO })
  }

  /**
   * Unpacks one part.
   *
   * @param size its declared or maximum size
   * @param unpack must return at most the given number of bytes, or throw a RangeError
   * @throws ZIP_REFUSED, and what `unpack` throws
   */
  unpack(size: number, unpack: (maxBytes: number) => Uint8Array): Uint8Array {
    const left = this.#most - this.#bytes
    try {
      const unpacked = unpack(Math.max(1, Math.min(size, left)))
      this.add(unpacked.length)
      return unpacked
    } catch (cause) {
      if (cause instanceof RangeError && left < size) throw growthRefused({ ratio: MOST_RATIO }, { cause })
      throw cause
    }
  }
}

/** Lets the unpacked content of a file pass while it does not grow too much. */
export class CountedGrowth extends Transform {
  readonly #growth: Growth

  constructor(packedBytes: number) {
    super()
    this.#growth = new Growth(packedBytes)
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    try {
      this.#growth.add(chunk.length)
    } catch (error) {
      return done(error as Error)
    }
    done(null, chunk)
  }
}

/**
 * The codecs of a Parquet file of a size in bytes; they refuse pages whose declared size exceeds the allowed growth.
 */
export function countedCompressors(compressors: Compressors, packedBytes: number): Compressors {
  const growth = new Growth(packedBytes)
  return Object.fromEntries(
    Object.entries(compressors).map(([name, unpack]) => [
      name,
      (input: Uint8Array, size: number) => {
        growth.add(size)
        return unpack(input, size)
      },
    ]),
  )
}
