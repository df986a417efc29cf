import { LRUCache } from 'lru-cache'
import { createBlockReader } from '../decode/block-reader.ts'
import type { RasterLevel, Samples } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'

/** Bytes `[offset, offset + length)` of a file. */
export interface ByteSpan {
  readonly offset: number
  readonly length: number
}

/** Decoded blocks of all levels of one raster: the most recently used ones, up to a number of bytes. */
export interface BlockStore {
  /** Byte ranges to read for these blocks of a level; blocks in the store need none. */
  spansOf(level: RasterLevel, blocks: readonly number[]): ByteSpan[]
  /** @throws CORRUPT_TILE */
  read(level: RasterLevel, block: number): Samples | Promise<Samples>
}

/** Decoded blocks of one or many rasters, by file, image and number. */
export type BlockCache = LRUCache<string, Samples>

/** @param maxBytes memory for decoded blocks; the least recently used ones are evicted */
export function createBlockCache(maxBytes: number): BlockCache {
  const maxSize = Math.max(1, maxBytes)
  // A block larger than the cache is its only entry.
  return new LRUCache({ maxSize, sizeCalculation: ({ byteLength }) => Math.min(byteLength, maxSize) })
}

let stores = 0

/** @param empty value of blocks that were never written */
export function createBlockStore(source: ByteSource, empty: number, kept: BlockCache): BlockStore {
  const store = stores++
  const readers = new Map<
    RasterLevel,
    { readonly reader: ReturnType<typeof createBlockReader>; readonly number: number }
  >()
  const readerOf = (level: RasterLevel) => {
    const known = readers.get(level)
    if (known) return known
    const reader = createBlockReader({
      source,
      level,
      name: 'image',
      empty: level.color === 'mask' ? 0 : empty,
      cacheBytes: 0,
    })
    const made = { reader, number: readers.size }
    readers.set(level, made)
    return made
  }
  const keep = (key: string, samples: Samples): Samples => {
    kept.set(key, samples)
    return samples
  }
  return {
    spansOf(level, blocks) {
      const { number } = readerOf(level)
      return blocks.flatMap((block) => {
        const length = level.blockByteCounts[block] as number
        if (length === 0 || kept.has(`${store}:${number}:${block}`)) return []
        return [{ offset: level.blockOffsets[block] as number, length }]
      })
    },
    read(level, block) {
      const { reader, number } = readerOf(level)
      const key = `${store}:${number}:${block}`
      const known = kept.get(key)
      if (known) return known
      const samples = reader.read(block)
      return samples instanceof Promise ? samples.then((decoded) => keep(key, decoded)) : keep(key, samples)
    },
  }
}
