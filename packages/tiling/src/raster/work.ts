import type { TilePlan } from './plan.ts'
import type { RasterLevel } from './raster-info.ts'

/** A unit has at most so many tiles, unless one block holds more … */
const LARGEST_UNIT = 64
/** … and there are about so many units, so that readers finish together. */
const UNITS = 32

/**
 * Cuts a plan into units of work for several readers: indices of tiles that lie together, in reading order. Units end
 * where blocks end as far as stride and block size allow, so that a block is decoded by one reader. Every tile is in
 * exactly one unit.
 */
export function planWork(level: RasterLevel, plan: TilePlan): Uint32Array[] {
  const largest = Math.max(1, Math.min(LARGEST_UNIT, Math.ceil(plan.count / UNITS)))
  const across = Math.min(plan.columns, tilesPerBlock(level.blockWidth, plan.stride))
  const down = Math.min(plan.rows, tilesPerBlock(level.blockHeight, plan.stride))
  const columns = Math.min(plan.columns, across * Math.max(1, Math.floor(largest / (across * down))))
  // A block of very many tiles is decoded by each reader rather than by one while the others wait.
  const rows = across * down > LARGEST_UNIT ? Math.max(1, Math.floor(LARGEST_UNIT / columns)) : down
  const units: Uint32Array[] = []
  for (let top = 0; top < plan.rows; top += rows) {
    for (let left = 0; left < plan.columns; left += columns) {
      const width = Math.min(columns, plan.columns - left)
      const height = Math.min(rows, plan.rows - top)
      units.push(
        Uint32Array.from({ length: width * height }, (_, i) => {
          const row = Math.floor(i / width)
          return (top + row) * plan.columns + left + (i - row * width)
        }),
      )
    }
  }
  return units
}

function tilesPerBlock(block: number, stride: number): number {
  return Math.max(1, Math.ceil(block / stride))
}
