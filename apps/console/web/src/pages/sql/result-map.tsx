import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { Project } from '../../lib/project.ts'
import { useStore } from '../../lib/store.ts'
import { isDark } from '../../lib/theme.ts'
import { mapColors } from '../../map/colors.ts'
import { drawFeatures, lookAtFeatures } from '../../map/draw-features.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'

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
    drawFeatures(map, 'sql-result', features.features, mapColors(dark).accent)
    lookAtFeatures(map, features.features)
  }, [map, features, dark])
  return (
    <div class="sql-map">
      <MapCanvas label="Result of the statement" projectRef={project.ref} onMap={setMap} />
    </div>
  )
}
