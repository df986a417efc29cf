import type { SourceGrid } from './grid.ts'
import type { ChosenLevel } from './level.ts'

/** Pixels of a level that a pixel of a view spans, across and down the level. */
export interface GridSteps {
  readonly across: number
  readonly down: number
}

/** The mean span of a view's pixels; 1 where none is inside of the level. */
export function stepsOf({ xy, width, height }: SourceGrid, { factorX, factorY, level }: ChosenLevel): GridSteps {
  let [across, down, count] = [0, 0, 0]
  const row = 2 * width
  for (let y = 0; y + 1 < height; y += STRIDE) {
    for (let x = 0; x + 1 < width; x += STRIDE) {
      const at = y * row + 2 * x
      const [column, line] = [xy[at] as number, xy[at + 1] as number]
      if (!(column >= 0 && line >= 0 && column < level.width * factorX && line < level.height * factorY)) continue
      const spanX = Math.abs((xy[at + 2] as number) - column) + Math.abs((xy[at + row] as number) - column)
      const spanY = Math.abs((xy[at + 3] as number) - line) + Math.abs((xy[at + row + 1] as number) - line)
      if (!Number.isFinite(spanX + spanY)) continue
      across += spanX / factorX
      down += spanY / factorY
      count++
    }
  }
  return count === 0 ? { across: 1, down: 1 } : { across: across / count, down: down / count }
}

/** Every so many pixels are looked at. */
const STRIDE = 8
