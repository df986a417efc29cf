import type { Bbox } from './aoi.ts'

/** The corners of a box as the ring of a polygon: counter-clockwise, the first one again at its end. */
export function boxRing([west, south, east, north]: Bbox): [number, number][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}
