import type { Map as MapLibreMap } from 'maplibre-gl'
import type { Box } from './graticule.ts'

/** Latitude at which views of Web Mercator end. */
const MAX_LAT = 85
/** In a view that is this many times wider than a box, the box is only a dot. */
const FAR = 6

/** Moves a map to a box in degrees. */
export function lookAt(map: MapLibreMap, [west, south, east, north]: Box, maxZoom = 16): void {
  const box: [number, number, number, number] = [west, Math.max(-MAX_LAT, south), east, Math.min(MAX_LAT, north)]
  const { clientWidth, clientHeight } = map.getContainer()
  map.fitBounds(box, { padding: Math.min(48, clientWidth / 8, clientHeight / 8), maxZoom, animate: false })
}

/** True when a map shows a box at a useful scale. */
export function isLookingAt(map: MapLibreMap, [west, south, east, north]: Box): boolean {
  const { lng, lat } = map.getCenter()
  const sight = map.getBounds()
  const within = lng >= west && lng <= east && lat >= south && lat <= north
  return within && sight.getEast() - sight.getWest() < FAR * (east - west)
}
