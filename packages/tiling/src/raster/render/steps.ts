import type { SourceGrid } from './grid.ts'
import type { ChosenLevel } from './level.ts'

/** Number of pixels of a level per pixel of a view, across and down. */
export interface GridSteps {
  readonly across: number
  readonly down: number
}

/** Mean distance in the level between neighbouring pixels of the view, as in GDAL 3.12; 1 outside of the level. */
export function stepsOf({ xy, width, height }: SourceGrid, { factorX, factorY, level }: ChosenLevel): GridSteps {
  let [across, down, count] = [0, 0, 0]
  const row = 2 * width
  for (let y = 0; y + 1 < height; y += STRIDE) {
    for (let x = 0; x + 1 < width; x += STRIDE) {
      const at = y * row + 2 * x
      const [column, line] = [(xy[at] as number) / factorX, (xy[at + 1] as number) / factorY]
      if (!(column >= 0 && line >= 0 && column < level.width && line < level.height)) continue
      const [ax, ay] = [(xy[at + 2] as number) / factorX - column, (xy[at + 3] as number) / factorY - line]
      const [bx, by] = [(xy[at + row] as number) / factorX - column, (xy[at + row + 1] as number) / factorY - line]
      if (!Number.isFinite(ax + ay + bx + by)) continue
      const isUpright = Math.abs(ay) < MODEST_SLOPE * ax
      const side = Math.sqrt(Math.abs(ax * by - ay * bx))
      across += isUpright ? Math.hypot(ax, ay) : side
      down += isUpright ? Math.hypot(bx, by) : side
      count++
    }
  }
  return count === 0 ? { across: 1, down: 1 } : { across: across / count, down: down / count }
}

/** Up to this slope, about 20 degrees, the sides of a view's pixel are measured; beyond it, its area. */
const MODEST_SLOPE = 0.35
/** Distance between measured pixels. */
const STRIDE = 8
