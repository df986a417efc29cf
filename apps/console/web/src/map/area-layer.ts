import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import { mapColors } from './colors.ts'
import type { Polygons } from './draw.ts'

/** Draws an area above all other layers. */
export function showArea(map: MapLibreMap, polygons: Polygons, dark: boolean): void {
  const data: GeoJSON.Feature = {
    type: 'Feature',
    properties: {},
    geometry: { type: 'MultiPolygon', coordinates: polygons as GeoJSON.Position[][][] },
  }
  const { accent } = mapColors(dark)
  const source = map.getSource<GeoJSONSource>('area')
  if (source) void source.setData(data)
  else {
    map.addSource('area', { type: 'geojson', data })
    map.addLayer({
      id: 'area-fill',
      type: 'fill',
      source: 'area',
      paint: { 'fill-color': accent, 'fill-opacity': 0.18 },
    })
    map.addLayer({ id: 'area-line', type: 'line', source: 'area', paint: { 'line-color': accent, 'line-width': 2 } })
  }
  map.setPaintProperty('area-fill', 'fill-color', accent)
  map.setPaintProperty('area-line', 'line-color', accent)
}
