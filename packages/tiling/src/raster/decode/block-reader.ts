import { LRUCache } from 'lru-cache'
import { corruptBlock } from '../errors.ts'
import type { RasterLevel, Samples } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import { byteDecoderOf } from './bytes.ts'
import type { BlockShape } from './pictures.ts'
import { pictureDecoderOf } from './pictures.ts'
import { SAMPLE_BYTES, allocateSamples, storedRowBytes, toSamples } from './samples.ts'

/** Maximum size of a compressed block beyond twice its pixels, in bytes, even if a damaged directory declares more. */
const HEADROOM = 1 << 16

/** Reads decoded blocks of one level through a cache. One reader belongs to one thread. */
export interface BlockReader {
  readonly level: RasterLevel
  /**
   * The samples of a block, by its index: row by row over the full block width, samples of a pixel side by side (one
   * per pixel in planar levels). The caller must not change them. A promise only where the codec has no synchronous
   * decoder.
   *
   * @throws CORRUPT_TILE
   */
  read(index: number): Samples | Promise<Samples>
}

export interface BlockReaderOptions {
  readonly source: ByteSource
  readonly level: RasterLevel
  /** Names the level in errors: `image`, `mask`, `overview`. */
  readonly name: string
  /** Value of sparse blocks, which were never written. */
  readonly empty: number
  /** Memory for decoded blocks, in bytes. */
  readonly cacheBytes: number
}

export function createBlockReader(options: BlockReaderOptions): BlockReader {
  const { level, cacheBytes } = options
  const decode = blockDecoderOf(options)
  const samplesPerBlock = level.blockWidth * level.blockHeight * (level.planar ? 1 : level.samplesPerPixel)
  const blockBytes = samplesPerBlock * SAMPLE_BYTES[level.sampleType]
  const maxSize = Math.max(1, cacheBytes)
  // A block larger than the cache is its only entry.
  const sizeCalculation = ({ byteLength }: Samples) => Math.min(byteLength, maxSize)
  const cache = new LRUCache<number, Samples>({ maxSize, sizeCalculation })
  const keep = (index: number, samples: Samples): Samples => {
    if (cacheBytes > 0) cache.set(index, samples)
    return samples
  }
  return {
    level,
    read(index) {
      const cached = cache.get(index)
      if (cached !== undefined) return cached
      // Evicts before decoding, so that memory never exceeds the cache size (or one block).
      while (cache.size > 0 && cache.calculatedSize + blockBytes > cacheBytes) cache.pop()
      const samples = decode(index)
      return samples instanceof Promise ? samples.then((decoded) => keep(index, decoded)) : keep(index, samples)
    },
  }
}

function blockDecoderOf({ source, level, name, empty }: BlockReaderOptions): BlockReader['read'] {
  const bytes = byteDecoderOf(level.compression)
  const picture = pictureDecoderOf(level)
  const fail = (index: number, cause: unknown): never => {
    const blocks = level.blocksAcross * level.blocksDown
    const cell = index % blocks
    const column = cell % level.blocksAcross
    const row = Math.floor(cell / level.blocksAcross)
    const why = cause instanceof Error ? cause.message : 'the decoder refuses it'
    throw corruptBlock({ column, row, level: name, why }, { cause })
  }
  let blank: Samples | null = null
  return (index) => {
    const declared = level.blockByteCounts[index] as number
    const shape = shapeOf(level, index)
    if (declared === 0) return (blank ??= emptyBlock(level, empty))
    try {
      const full = fullBytes(level, shape)
      const length = Math.min(declared, 2 * full + HEADROOM)
      const read = source.read(level.blockOffsets[index] as number, length)
      if (read.length < length) throw new Error(`the file ends ${length - read.length} bytes too early`)
      const stored = level.reversedBits ? read.map(reverseBits) : read
      if (bytes !== null) return unpack(bytes(stored, full), level, shape)
      const samples = picture?.(stored, shape) as Samples | Promise<Samples>
      return samples instanceof Promise ? samples.catch((cause: unknown) => fail(index, cause)) : samples
    } catch (cause) {
      return fail(index, cause)
    }
  }
}

function unpack(bytes: Uint8Array, level: RasterLevel, shape: BlockShape): Samples {
  const rowSamples = shape.width * shape.samples
  const needed = storedRowBytes(rowSamples, level.bitsPerSample) * shape.rows
  if (bytes.length < needed) throw new Error(`it decodes to ${bytes.length} bytes instead of ${needed}`)
  // Integers instead of doubles, which makes the loops over samples twice as fast.
  return toSamples(bytes, level, { rows: shape.rows | 0, rowSamples: rowSamples | 0, step: shape.samples | 0 })
}

function reverseBits(byte: number): number {
  let reversed = 0
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >> bit) & 1) << (7 - bit)
  return reversed
}

function fullBytes(level: RasterLevel, shape: BlockShape): number {
  return storedRowBytes(shape.width * shape.samples, level.bitsPerSample) * shape.fullRows
}

/** Tiles are whole even at the edge of the image; the last strip ends with it. */
function shapeOf(level: RasterLevel, index: number): BlockShape {
  const row = Math.floor((index % (level.blocksAcross * level.blocksDown)) / level.blocksAcross)
  const left = level.height - row * level.blockHeight
  return {
    width: level.blockWidth,
    rows: level.tiled ? level.blockHeight : Math.min(level.blockHeight, left),
    fullRows: level.blockHeight,
    samples: level.planar ? 1 : level.samplesPerPixel,
  }
}

function emptyBlock(level: RasterLevel, value: number): Samples {
  const { blockWidth, blockHeight, sampleType } = level
  const block = allocateSamples(sampleType, blockWidth * blockHeight * (level.planar ? 1 : level.samplesPerPixel))
  return block.fill(emptySample(level, value))
}

/** The sample of sparse blocks. A value outside the range of the type is clamped, as in GDAL. */
export function emptySample({ sampleType }: Pick<RasterLevel, 'sampleType'>, value: number): number {
  if (sampleType.startsWith('float')) return sampleType === 'float64' ? value : Math.fround(value)
  const values = 2 ** (8 * SAMPLE_BYTES[sampleType])
  const low = sampleType.startsWith('u') ? 0 : -values / 2
  return Math.max(low, Math.min(low + values - 1, Math.round(value)))
}
