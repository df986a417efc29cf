import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import type { Reach } from '../lib/routing.ts'

/** Colours from the nearest area to the farthest, distinguishable also with red-green colour blindness. */
export const REACH_COLORS = ['#0b7a6d', '#2f6fd0', '#b5651d'] as const

const NOTHING: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }

/** Draws the reachable areas beneath the route, the nearest on top; null removes them. */
export function showReach(map: MapLibreMap, reach: Reach | null, beneath: string): void {
  if (!map.getSource('reach')) {
    map.addSource('reach', { type: 'geojson', data: NOTHING })
    const paint = { 'fill-color': ['get', 'shade'], 'fill-opacity': 0.22 } as const
    map.addLayer({ id: 'reach-fill', type: 'fill', source: 'reach', paint: { ...paint } as never }, beneath)
    const line = { 'line-color': ['get', 'shade'], 'line-width': 1.5 } as const
    map.addLayer({ id: 'reach-line', type: 'line', source: 'reach', paint: { ...line } as never }, beneath)
  }
  const features = reach?.features ?? []
  void map.getSource<GeoJSONSource>('reach')?.setData({
    type: 'FeatureCollection',
    // The engine returns the farthest area first.
    features: features.map((feature, i) => ({
      ...feature,
      properties: { ...feature.properties, shade: REACH_COLORS[(features.length - 1 - i) % REACH_COLORS.length] },
    })),
  })
}
