import type { Map as MapLibreMap } from 'maplibre-gl'
import type { Box } from './graticule.ts'

/** Web Mercator shows no more. */
const MAX_LAT = 85

/** Moves a map to a box of degrees. */
export function lookAt(map: MapLibreMap, [west, south, east, north]: Box, maxZoom = 16): void {
  const box: [number, number, number, number] = [west, Math.max(-MAX_LAT, south), east, Math.min(MAX_LAT, north)]
  const { clientWidth, clientHeight } = map.getContainer()
  map.fitBounds(box, { padding: Math.min(48, clientWidth / 8, clientHeight / 8), maxZoom, animate: false })
}

/** The box around positions; null for none. */
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
