import { createBlockReader } from './decode/block-reader.ts'
import type { BlockReaderOptions } from './decode/block-reader.ts'
import { allocateSamples } from './decode/samples.ts'
import type { PixelRect } from './plan.ts'
import type { RasterInfo, RasterLevel, Samples } from './raster-info.ts'
import type { ByteSource } from './source.ts'

/** A block that a rectangle touches, and the part of both that overlaps. */
export interface BlockPart {
  /** Index of the block of the first plane. */
  readonly index: number
  readonly left: number
  readonly top: number
  readonly columns: number
  readonly rows: number
  /** The overlap's first pixel, counted in pixels of the block. */
  readonly pixel: number
}

/** The blocks that a rectangle touches, row by row. */
export function blocksOf(level: RasterLevel, rect: PixelRect): BlockPart[] {
  const { blockWidth, blockHeight, blocksAcross } = level
  const right = rect.x + rect.width
  const bottom = rect.y + rect.height
  const parts: BlockPart[] = []
  for (let row = Math.floor(rect.y / blockHeight); row * blockHeight < bottom; row++) {
    const top = Math.max(rect.y, row * blockHeight)
    const rows = Math.min(bottom, (row + 1) * blockHeight) - top
    for (let column = Math.floor(rect.x / blockWidth); column * blockWidth < right; column++) {
      const left = Math.max(rect.x, column * blockWidth)
      const columns = Math.min(right, (column + 1) * blockWidth) - left
      const pixel = (top - row * blockHeight) * blockWidth + left - column * blockWidth
      parts.push({ index: row * blocksAcross + column, left, top, columns, rows, pixel })
    }
  }
  return parts
}

/** A window of one band; `band` is 0-based, of the stored samples. */
export interface BandWindow extends PixelRect {
  readonly band: number
}

/** Reads windows of one level, with a cache of blocks; see {@link readWindow}. */
export type WindowReader = (window: BandWindow) => Promise<Samples>

/** @param name of the level in errors. @param cacheBytes memory for decoded blocks */
export function createWindowReader(
  source: ByteSource,
  level: RasterLevel,
  { name, empty, cacheBytes }: Pick<BlockReaderOptions, 'name' | 'empty' | 'cacheBytes'>,
): WindowReader {
  const reader = createBlockReader({ source, level, name, empty, cacheBytes })
  const step = level.planar ? 1 : level.samplesPerPixel
  return async (window) => {
    const { band, x, y, width, height } = window
    const firstBlock = level.planar ? band * level.blocksAcross * level.blocksDown : 0
    const target = allocateSamples(level.sampleType, width * height)
    for (const part of blocksOf(level, window)) {
      const read = reader.read(firstBlock + part.index)
      const block = read instanceof Promise ? await read : read
      for (let row = 0; row < part.rows; row++) {
        const from = (part.pixel + row * level.blockWidth) * step + (level.planar ? 0 : band)
        const to = (part.top - y + row) * width + part.left - x
        for (let column = 0; column < part.columns; column++) {
          target[to + column] = block[from + column * step] as number
        }
      }
    }
    return target
  }
}

/**
 * The stored samples of one band in a window, row by row: no scaling, no nodata handling, palette indices as they are;
 * JPEG in YCbCr is RGB. The window lies inside the raster.
 *
 * @throws CORRUPT_TILE
 */
export function readWindow(source: ByteSource, raster: RasterInfo, window: BandWindow): Promise<Samples> {
  return createWindowReader(source, raster, { name: 'image', empty: raster.nodata ?? 0, cacheBytes: 0 })(window)
}
