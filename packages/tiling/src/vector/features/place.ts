import { hilbertIndex } from '@terrane/core'
import { WORLD, WORLD_BITS } from '../world.ts'
import type { Shape } from './shape.ts'

/** Order of the Hilbert curve along which features are sorted; a cell is 0.6 m wide at the equator. */
export const PLACE_ORDER = 26

/** Side of a cell of that curve in world units. */
export const PLACE_SIDE = 2 ** (WORLD_BITS - PLACE_ORDER)

/** Hilbert position of the middle of a shape's bounds. */
export function placeOf(shape: Shape): number {
  const { xy, size } = shape
  let minX = xy[0]!
  let maxX = minX
  let minY = xy[1]!
  let maxY = minY
  for (let i = 2; i < 2 * size; i += 2) {
    const x = xy[i]!
    const y = xy[i + 1]!
    if (x < minX) minX = x
    else if (x > maxX) maxX = x
    if (y < minY) minY = y
    else if (y > maxY) maxY = y
  }
  return hilbertIndex(PLACE_ORDER, cellOf((minX + maxX) / 2), cellOf((minY + maxY) / 2))
}

function cellOf(coordinate: number): number {
  return Math.floor(Math.min(WORLD - 1, Math.max(0, coordinate)) / PLACE_SIDE)
}
