import type { PixelRect } from '../plan.ts'
import type { RasterLevel } from '../raster-info.ts'
import type { BlockPart } from '../window.ts'
import type { PlaneRect, SampleRect } from './stretch.ts'

// `| 0` makes positions integers. The loops over samples take twice as long when V8 sees a position that was computed
// as a double, such as a quotient rounded by Math.floor.

/** The samples of a part of a block. @param offset of the band in a pixel */
export function rectOf(part: BlockPart, level: RasterLevel, offset: number): SampleRect {
  const step = level.planar ? 1 : level.samplesPerPixel
  return {
    start: (part.pixel * step + offset) | 0,
    step: step | 0,
    rowStep: (level.blockWidth * step) | 0,
    columns: part.columns | 0,
    rows: part.rows | 0,
  }
}

/** The window of a plane: its upper left pixel, and the pixels of a row. */
export type PlaneWindow = Pick<PixelRect, 'x' | 'y' | 'width'>

/** The place of a part of a block in a plane. */
export function placeOf(part: BlockPart, { x, y, width }: PlaneWindow): PlaneRect {
  return { start: ((part.top - y) * width + part.left - x) | 0, rowStep: width | 0 }
}
