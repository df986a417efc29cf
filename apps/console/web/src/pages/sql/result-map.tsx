import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { VectorLayer } from '@terrane/map-style'
import type { Project } from '../../lib/project.ts'
import { drawStyled, removeFeatures } from '../../map/draw-features.ts'
import { lookAt } from '../../map/look-at.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'
import { previewLayer } from '../../map/new-layer.ts'
import { useDrawn } from '../../map/use-drawn.ts'
import { Legend } from '../maps/legend.tsx'

const SOURCE = 'sql-result'

/** The rows of a statement on a map, with the style that a layer of them would get. */
export function ResultMap({
  project,
  features: { features },
}: {
  project: Project
  features: GeoJSON.FeatureCollection
}): JSX.Element {
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const [layer, setLayer] = useState<VectorLayer | null>(null)
  useEffect(() => {
    let isLatest = true
    void previewLayer('Result', features).then((next) => isLatest && setLayer(next))
    return () => void (isLatest = false)
  }, [features])
  useDrawn(
    map,
    [layer],
    (to) => {
      if (!layer) return
      drawStyled(to, SOURCE, features, layer)
      lookAt(to, layer.bounds)
    },
    (to) => removeFeatures(to, SOURCE),
  )
  return (
    <div class="sql-map">
      <MapCanvas label="Result of the statement" projectRef={project.ref} onMap={setMap}>
        {layer && <Legend layers={[layer]} />}
      </MapCanvas>
    </div>
  )
}
