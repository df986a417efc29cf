import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { documentOf, type Style } from '@terrane/map-style'
import { Loading, ProblemNotice } from '../components/basics.tsx'
import { get } from '../lib/api.ts'
import { useStore } from '../lib/store.ts'
import { isDark } from '../lib/theme.ts'
import { useResource } from '../lib/use-resource.ts'
import { drawPublicMap, drawnLayers, drawnSource, removeForbiddenRasters } from '../map/draw-map.ts'
import { lookAt } from '../map/look-at.ts'
import { MapCanvas } from '../map/map-canvas.tsx'
import { FeatureCard, type ClickedFeature } from './map/feature-card.tsx'
import { Legend } from './maps/legend.tsx'
import { clickedFeatures } from './maps/use-clicks.ts'

/** A public map as a page, or embedded in another page: `/m/{project id}/{map id}`. */
export function PublicMapPage(): JSX.Element {
  const path = location.pathname
  const style = useResource(path, (signal) => get<Style>(`/api${path}`, signal))
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const [clicked, setClicked] = useState<readonly ClickedFeature[]>([])
  const [hidden, setHidden] = useState<readonly string[]>([])
  const dark = useStore(isDark)
  const document_ = style.value && documentOf(style.value)
  useEffect(() => {
    if (document_) document.title = document_.title
  }, [style.value])
  useEffect(() => {
    if (map && style.value) drawPublicMap(map, style.value, { hidden, dark })
  }, [map, style.value, dark])
  useEffect(() => {
    if (!map || !style.value || !document_) return
    removeForbiddenRasters(map, (id) => setHidden((now) => [...now, id]))
    const { view, layers } = document_
    if (view) map.jumpTo({ center: [view.center[0], view.center[1]], zoom: view.zoom })
    else if (layers[0]) lookAt(map, layers[0].bounds)
    const titles = new Map(layers.map(({ id, title }) => [drawnSource(id), title]))
    map.on('click', ({ point }) => {
      setClicked(clickedFeatures(map.queryRenderedFeatures(point, { layers: drawnLayers(map) }), titles))
    })
  }, [map, style.value])
  if (style.problem)
    return (
      <main class="center">
        <h1 class="visually-hidden">Map</h1>
        <ProblemNotice problem={style.problem} onRetry={style.reload} />
      </main>
    )
  if (!document_) return <Loading what="Opening the map" />
  return (
    <main class="public-map">
      <MapCanvas label={`Map ${document_.title}`} projectRef={path} onMap={setMap}>
        <h1 class="map-title card truncate">{document_.title}</h1>
        <Legend layers={document_.layers} />
        {hidden.length > 0 && (
          <div class="hint-bar" role="status">
            Layers that are not public:{' '}
            {document_.layers.flatMap(({ id, title }) => (hidden.includes(id) ? [title] : [])).join(', ')}
          </div>
        )}
        {clicked.length > 0 && <FeatureCard features={clicked} onClose={() => setClicked([])} />}
      </MapCanvas>
    </main>
  )
}
