import type { Box } from './graticule.ts'

/** The bounding box of positions; null for none. */
export function boxOf(positions: Iterable<readonly number[]>): Box | null {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [lng = 0, lat = 0] of positions) {
    west = Math.min(west, lng)
    south = Math.min(south, lat)
    east = Math.max(east, lng)
    north = Math.max(north, lat)
  }
  return west <= east ? [west, south, east, north] : null
}
