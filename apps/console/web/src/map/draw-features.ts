import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { partsOf, type VectorLayer } from '@terrane/map-style'

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
