import { createBlockReader } from './decode/block-reader.ts'
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
 * The stored samples of one band in a window, row by row: no scaling, no nodata handling, palette indices as they are;
 * JPEG in YCbCr is RGB. The window lies inside the raster.
 *
 * @param window.band 0-based, of the stored samples
 * @throws CORRUPT_TILE
 */
export async function readWindow(
  source: ByteSource,
  raster: RasterInfo,
  window: PixelRect & { readonly band: number },
): Promise<Samples> {
  const { band, x, y, width, height } = window
  const step = raster.planar ? 1 : raster.samplesPerPixel
  const firstBlock = raster.planar ? band * raster.blocksAcross * raster.blocksDown : 0
  const reader = createBlockReader({ source, level: raster, name: 'image', empty: raster.nodata ?? 0, cacheBytes: 0 })
  const target = allocateSamples(raster.sampleType, width * height)
  for (const part of blocksOf(raster, window)) {
    const block = await reader.read(firstBlock + part.index)
    for (let row = 0; row < part.rows; row++) {
      const from = (part.pixel + row * raster.blockWidth) * step + (raster.planar ? 0 : band)
      const to = (part.top - y + row) * width + part.left - x
      for (let column = 0; column < part.columns; column++) {
        target[to + column] = block[from + column * step] as number
      }
    }
  }
  return target
}
