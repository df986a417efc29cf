import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import { mapColors } from './colors.ts'

/** Id of the lowest layer of this page; archives are drawn beneath it. */
export const FIRST_ROUTE_LAYER = 'others-line'

/** The usual OSM attribution, spelled as elsewhere: the map leaves out a text that is part of another attribution. */
const OSM_ATTRIBUTION = '<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap contributors</a>'

/** Adds the route layers to a map, or switches them to another theme. */
export function addRouteLayers(map: MapLibreMap, dark: boolean): void {
  const { accent, casing, label } = mapColors(dark)
  if (!map.getSource('route')) {
    const data: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }
    // Every graph is built from OpenStreetMap's data.
    map.addSource('route', { type: 'geojson', data, attribution: OSM_ATTRIBUTION })
    map.addSource('maneuver', { type: 'geojson', data })
    map.addSource('others', { type: 'geojson', data })
    const layout = { 'line-cap': 'round', 'line-join': 'round' } as const
    map.addLayer({ id: 'others-line', type: 'line', source: 'others', layout, paint: { 'line-width': 5 } })
    map.addLayer({ id: 'route-casing', type: 'line', source: 'route', layout, paint: { 'line-width': 9 } })
    map.addLayer({ id: 'route-line', type: 'line', source: 'route', layout, paint: { 'line-width': 5 } })
    map.addLayer({ id: 'maneuver-line', type: 'line', source: 'maneuver', layout, paint: { 'line-width': 5 } })
  }
  map.setPaintProperty('others-line', 'line-color', label)
  map.setPaintProperty('route-casing', 'line-color', casing)
  map.setPaintProperty('route-line', 'line-color', accent)
  map.setPaintProperty('maneuver-line', 'line-color', dark ? '#ffd166' : '#d9480f')
}

/** Draws lines of [lng, lat]: the legs of a route, or the part of one maneuver. */
export function showLines(
  map: MapLibreMap,
  source: 'route' | 'maneuver',
  lines: readonly (readonly [number, number][])[],
): void {
  void map.getSource<GeoJSONSource>(source)?.setData({
    type: 'Feature',
    properties: {},
    geometry: { type: 'MultiLineString', coordinates: lines.map((line) => [...line]) },
  })
}

/** Draws the alternative routes beneath the chosen one. Each has its index as a property. */
export function showOthers(
  map: MapLibreMap,
  others: readonly { readonly index: number; readonly lines: readonly (readonly [number, number][])[] }[],
): void {
  void map.getSource<GeoJSONSource>('others')?.setData({
    type: 'FeatureCollection',
    features: others.map(({ index, lines }) => ({
      type: 'Feature',
      properties: { index },
      geometry: { type: 'MultiLineString', coordinates: lines.map((line) => [...line]) },
    })),
  })
}
