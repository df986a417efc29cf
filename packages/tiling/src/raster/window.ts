import { createBlockReader } from './decode/block-reader.ts'
import type { BlockReader } from './decode/block-reader.ts'
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

/**
 * Copies one band of a rectangle, row by row, into `target`.
 *
 * @throws CORRUPT_TILE
 */
export async function copyWindow(reader: BlockReader, rect: PixelRect, band: number, target: Samples): Promise<void> {
  const { level } = reader
  const step = level.planar ? 1 : level.samplesPerPixel
  const first = level.planar ? band * level.blocksAcross * level.blocksDown : 0
  for (const part of blocksOf(level, rect)) {
    const block = await reader.read(first + part.index)
    for (let row = 0; row < part.rows; row++) {
      let from = (part.pixel + row * level.blockWidth) * step + (level.planar ? 0 : band)
      let to = (part.top - rect.y + row) * rect.width + part.left - rect.x
      for (const end = to + part.columns; to < end; to++, from += step) target[to] = block[from] as number
    }
  }
}

/**
 * The stored samples of one band in a window: no scaling, no nodata handling, palette indices as they are; JPEG in
 * YCbCr is RGB. The window lies inside the raster.
 *
 * @param band 0-based, of the stored samples
 * @throws CORRUPT_TILE
 */
export async function readWindow(
  source: ByteSource,
  raster: RasterInfo,
  window: PixelRect & { readonly band: number },
): Promise<Samples> {
  const empty = raster.nodata ?? 0
  const reader = createBlockReader({ source, level: raster, name: 'image', empty, cacheBytes: 0 })
  const target = allocateSamples(raster.sampleType, window.width * window.height)
  await copyWindow(reader, window, window.band, target)
  return target
}
