import type { ExpressionSpecification, GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import { boxOf } from './box.ts'
import { positionsOf } from './geometry.ts'
import { lookAt } from './look-at.ts'

const is = (kind: string) => ['==', ['geometry-type'], kind] as ['==', ['geometry-type'], string]
const layersOf = (id: string) => [`${id}-area`, `${id}-line`, `${id}-point`] as const

/** Draws features under an id, in place of earlier ones: in one colour, or by an expression of their properties. */
export function drawFeatures(
  map: MapLibreMap,
  id: string,
  features: readonly GeoJSON.Feature[],
  color: string | ExpressionSpecification,
): void {
  const data: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [...features] }
  const [area, line, point] = layersOf(id)
  const source = map.getSource<GeoJSONSource>(id)
  if (source) void source.setData(data)
  else {
    map.addSource(id, { type: 'geojson', data })
    map.addLayer({ id: area, type: 'fill', source: id, filter: is('Polygon'), paint: {} })
    map.addLayer({ id: line, type: 'line', source: id, paint: {} })
    const paint = { 'circle-radius': 5, 'circle-stroke-width': 1, 'circle-stroke-color': '#ffffff' }
    map.addLayer({ id: point, type: 'circle', source: id, filter: is('Point'), paint })
  }
  map.setPaintProperty(area, 'fill-color', color)
  // In a single colour, only strong outlines separate areas. With several colours, the preview looks like the later
  // layer.
  map.setPaintProperty(area, 'fill-opacity', typeof color === 'string' ? 0.25 : 0.75)
  map.setPaintProperty(line, 'line-width', typeof color === 'string' ? 2 : ['case', is('Polygon'), 0.5, 2])
  map.setPaintProperty(line, 'line-color', color)
  map.setPaintProperty(point, 'circle-color', color)
}

/** Removes what {@link drawFeatures} drew. */
export function removeFeatures(map: MapLibreMap, id: string): void {
  if (!map.style || !map.getSource(id)) return
  for (const layer of layersOf(id)) map.removeLayer(layer)
  map.removeSource(id)
}

/** Moves a map to features, if there are any. */
export function lookAtFeatures(map: MapLibreMap, features: readonly GeoJSON.Feature[]): void {
  const box = boxOf(features.flatMap(({ geometry }) => (geometry === null ? [] : positionsOf(geometry))))
  if (box) lookAt(map, box)
}
