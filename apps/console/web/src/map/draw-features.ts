import type { GeoJSONSource, LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { partsOf, type VectorLayer } from '@terrane/map-style'
import { boxOf } from './box.ts'
import { positionsOf } from './geometry.ts'
import { lookAt } from './look-at.ts'

const is = (kind: string) => ['==', ['geometry-type'], kind] as ['==', ['geometry-type'], string]
const layersOf = (id: string) => [`${id}-area`, `${id}-line`, `${id}-point`] as const

/** Draws features under an id, in place of earlier ones, in one colour. */
export function drawFeatures(map: MapLibreMap, id: string, features: readonly GeoJSON.Feature[], color: string): void {
  const data: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [...features] }
  const [area, line, point] = layersOf(id)
  const source = map.getSource<GeoJSONSource>(id)
  if (source) void source.setData(data)
  else {
    map.addSource(id, { type: 'geojson', data })
    map.addLayer({ id: area, type: 'fill', source: id, filter: is('Polygon'), paint: {} })
    map.addLayer({ id: line, type: 'line', source: id, paint: { 'line-width': 2 } })
    const paint = { 'circle-radius': 5, 'circle-stroke-width': 1, 'circle-stroke-color': '#ffffff' }
    map.addLayer({ id: point, type: 'circle', source: id, filter: is('Point'), paint })
  }
  map.setPaintProperty(area, 'fill-color', color)
  map.setPaintProperty(area, 'fill-opacity', 0.25)
  map.setPaintProperty(line, 'line-color', color)
  map.setPaintProperty(point, 'circle-color', color)
}

/** Draws features under an id with the style of a layer. */
export function drawStyled(
  map: MapLibreMap,
  id: string,
  features: readonly GeoJSON.Feature[],
  layer: VectorLayer,
): void {
  map.addSource(id, { type: 'geojson', data: { type: 'FeatureCollection', features: [...features] } })
  for (const { 'source-layer': _, ...part } of partsOf(layer))
    map.addLayer({ ...part, id: `${id}-${part.id}`, source: id } as unknown as LayerSpecification)
}

/** Removes features that were drawn under an id. */
export function removeFeatures(map: MapLibreMap, id: string): void {
  if (!map.style || !map.getSource(id)) return
  for (const layer of map.getStyle().layers) if ('source' in layer && layer.source === id) map.removeLayer(layer.id)
  map.removeSource(id)
}

/** Moves a map to features, if there are any. */
export function lookAtFeatures(map: MapLibreMap, features: readonly GeoJSON.Feature[]): void {
  const box = boxOf(features.flatMap(({ geometry }) => (geometry === null ? [] : positionsOf(geometry))))
  if (box) lookAt(map, box)
}
