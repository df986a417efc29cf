import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import type { Project } from '../../lib/project.ts'
import { useStore } from '../../lib/store.ts'
import { isDark } from '../../lib/theme.ts'
import { boxOf } from '../../map/box.ts'
import { mapColors } from '../../map/colors.ts'
import { positionsOf } from '../../map/geometry.ts'
import { lookAt } from '../../map/look-at.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'

const ID = 'sql-result'
const is = (kind: string) => ['==', ['geometry-type'], kind] as ['==', ['geometry-type'], string]

/** The rows of a statement on a map. */
export function ResultMap({
  project,
  features,
}: {
  project: Project
  features: GeoJSON.FeatureCollection
}): JSX.Element {
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const dark = useStore(isDark)
  useEffect(() => {
    if (!map) return
    show(map, features, mapColors(dark).accent)
    const box = boxOf(features.features.flatMap(({ geometry }) => positionsOf(geometry)))
    if (box) lookAt(map, box)
  }, [map, features, dark])
  return (
    <div class="sql-map">
      <MapCanvas label="Result of the statement" projectRef={project.ref} onMap={setMap} />
    </div>
  )
}

function show(map: MapLibreMap, data: GeoJSON.FeatureCollection, color: string): void {
  const source = map.getSource<GeoJSONSource>(ID)
  if (source) void source.setData(data)
  else {
    map.addSource(ID, { type: 'geojson', data })
    map.addLayer({ id: `${ID}-area`, type: 'fill', source: ID, filter: is('Polygon'), paint: { 'fill-opacity': 0.25 } })
    map.addLayer({ id: `${ID}-line`, type: 'line', source: ID, paint: { 'line-width': 2 } })
    const paint = { 'circle-radius': 5, 'circle-stroke-width': 1, 'circle-stroke-color': '#ffffff' }
    map.addLayer({ id: `${ID}-point`, type: 'circle', source: ID, filter: is('Point'), paint })
  }
  map.setPaintProperty(`${ID}-area`, 'fill-color', color)
  map.setPaintProperty(`${ID}-line`, 'line-color', color)
  map.setPaintProperty(`${ID}-point`, 'circle-color', color)
}
