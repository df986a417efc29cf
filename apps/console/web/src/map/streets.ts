import type { Map as MapLibreMap } from 'maplibre-gl'
import { projectPath } from '../lib/api.ts'
import { mapColors } from './colors.ts'

/**
 * First and last zoom of the routing engine's tiles: below the first they are empty, and beyond the last they are
 * enlarged.
 */
const [LOWEST_ZOOM, HIGHEST_ZOOM] = [7, 16]

/** Layers that this page draws beneath the streets are inserted before this layer. */
export const FIRST_STREET_LAYER = 'streets-line'

/** Draws the streets of the routing engine's graph beneath a layer, or switches them to another theme. */
export function drawStreets(map: MapLibreMap, ref: string, dark: boolean, beneath: string): void {
  if (!map.getSource('streets')) {
    map.addSource('streets', {
      type: 'vector',
      tiles: [`${location.origin}${projectPath(ref, '/streets/{z}/{x}/{y}')}`],
      minzoom: LOWEST_ZOOM,
      maxzoom: HIGHEST_ZOOM,
    })
    map.addLayer(
      {
        id: FIRST_STREET_LAYER,
        type: 'line',
        source: 'streets',
        'source-layer': 'edges',
        layout: { 'line-cap': 'round', 'line-join': 'round' },
        paint: {
          'line-opacity': 0.55,
          'line-width': [
            'interpolate',
            ['exponential', 1.5],
            ['zoom'],
            8,
            width(1, 0.5, 0.3),
            18,
            width(9, 6, 3),
          ] as never,
        },
      },
      beneath,
    )
  }
  map.setPaintProperty(FIRST_STREET_LAYER, 'line-color', mapColors(dark).label)
}

/** Widths in pixels by road class. */
function width(highway: number, arterial: number, local: number): [string, ...unknown[]] {
  return ['match', ['get', 'tile_level'], 0, highway, 1, arterial, local]
}
