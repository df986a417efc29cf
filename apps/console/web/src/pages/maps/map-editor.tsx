import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { MapDocument, MapLayer } from '@terrane/map-style'
import { ProblemNotice } from '../../components/basics.tsx'
import { savePicture, type KeptMap } from '../../lib/maps.ts'
import { isDropWaiting } from '../../lib/dropped.ts'
import { formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { navigate } from '../../lib/router.tsx'
import { lookAt } from '../../map/look-at.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'
import { smallPictureOf } from '../../map/print-map.ts'
import { FeatureCard, type ClickedFeature } from '../map/feature-card.tsx'
import { AddLayer } from './add-layer.tsx'
import { Compare, useDrawn, usePair } from './compare.tsx'
import { LayerPanel, type LayerChange } from './layer-panel.tsx'
import { Legend } from './legend.tsx'
import { RowPanel } from './row-panel.tsx'
import { Notes, TitleBar, Unsaved } from './title-bar.tsx'
import { useClicks } from './use-clicks.ts'
import { useDropped } from './use-dropped.ts'
import { useKeys } from './use-keys.ts'
import { useMap } from './use-map.ts'

/** Time from a save to the picture of the map. */
const PICTURE_MS = 1000
/** Initial title of a map without layers. */
export const NEW_MAP = 'New map'

/** The map editor: layers at the side, the legend on the map, and the rows of a layer below. */
export function MapEditor(props: { project: Project; kept: KeptMap; onReload: () => void }): JSX.Element {
  const { project, kept, onReload } = props
  const { map, current, takeMap, show } = useOpenedMap(kept.document)
  const edited = useMap(project.ref, kept, () => viewOf(current.current))
  const document_ = edited.map
  const { layers } = document_
  const { selected, select, selectOnceDrawn } = useSelected(layers.length === 1 ? layers[0]!.id : null, map)
  const [isAdding, setAdding] = useState(layers.length === 0 && !isDropWaiting())
  const [clicked, setClicked] = useState<readonly ClickedFeature[]>([])
  const { pair, setPair, drawn } = usePair(document_)
  useDrawn(map, drawn, project.ref)
  usePicture(project.ref, kept, edited.version, map)
  useDraftAddress(edited.version, `/p/${project.ref}/maps/${kept.id}`)
  useClicks(map, document_, setClicked)
  useKeys(edited)
  const change: LayerChange = (edit, key) => edited.change((now) => ({ ...now, layers: edit(now.layers) }), key)
  const add = (made: readonly MapLayer[]) => {
    if (!made[0]) return
    edited.change((now) => withLayers(now, made))
    selectOnceDrawn(made[0].id)
    setAdding(false)
    show(made[0].bounds)
  }
  const { problem, previews, previewed, isImporting } = useDropped(project.ref, map, add)
  const shown = layers.find(({ id }) => id === selected)
  return (
    <div class="map-page studio">
      <div class="side">
        <TitleBar project={project} kept={kept} edited={edited} map={map} onReload={onReload} />
        <div class="scroll">
          <Unsaved edited={edited} onReload={onReload} />
          {problem && <ProblemNotice problem={problem} />}
          <LayerPanel
            project={project}
            layers={layers}
            selected={selected}
            onSelect={select}
            onChange={change}
            onLook={(layer) => map && lookAt(map, layer.bounds)}
            onAdd={() => setAdding(true)}
          />
          <Notes map={document_} onChange={edited.change} />
        </div>
      </div>
      <div class="studio-main">
        <MapCanvas label={`Map ${document_.title}`} projectRef={project.ref} onMap={takeMap}>
          <Compare projectRef={project.ref} map={map} document_={document_} pair={pair} onPair={setPair} />
          <Legend layers={[...previews, ...layers]} />
          {clicked.length > 0 && <FeatureCard features={clicked} onClose={() => setClicked([])} />}
          <Hint {...{ previewed, isImporting }} isEmpty={layers.length === 0} />
        </MapCanvas>
        {shown?.kind === 'vector' && <RowPanel key={shown.id} project={project} layer={shown} map={map} />}
      </div>
      {isAdding && <AddLayer project={project} onAdd={(layer) => add([layer])} onClose={() => setAdding(false)} />}
    </div>
  )
}

/** The layer whose options are open. */
function useSelected(first: string | null, map: MapLibreMap | null) {
  const [selected, setSelected] = useState(first)
  const awaited = useRef<string | null>(null)
  const select = (id: string | null) => {
    awaited.current = null
    setSelected(id)
  }
  // The options read the table, which would delay its first tiles. A layer that is selected meanwhile stays selected.
  const selectOnceDrawn = (id: string) => {
    awaited.current = id
    const selectNow = () => awaited.current === id && select(id)
    if (map) void map.once('idle', selectNow)
    else selectNow()
  }
  return { selected, select, selectOnceDrawn }
}

/** The map of the editor once it is loaded. It shows layers that were added before, or else the stored view. */
function useOpenedMap(kept: MapDocument) {
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const current = useRef<MapLibreMap | null>(null)
  const awaited = useRef<MapLayer['bounds'] | null>(null)
  const takeMap = (next: MapLibreMap | null) => {
    current.current = next
    setMap(next)
    if (next && awaited.current) lookAt(next, awaited.current)
    else if (next) open(next, kept)
  }
  const show = (bounds: MapLayer['bounds']) => {
    if (current.current) lookAt(current.current, bounds)
    else awaited.current = bounds
  }
  return { map, current, takeMap, show }
}

function Hint(props: { previewed: number; isImporting: boolean; isEmpty: boolean }): JSX.Element | null {
  const { previewed, isImporting, isEmpty } = props
  if (!isImporting && !isEmpty) return null
  const rest = isImporting ? 'Importing …' : 'Drop a file here, or add a layer'
  return (
    <div class="hint-bar" role="status">
      {previewed > 0 ? `Preview of ${formatNumber(previewed)} features` : rest}
    </div>
  )
}

/** Stores a small picture of the map, for lists, once it is drawn after a save. */
function usePicture(ref: string, { id, version: opened }: KeptMap, version: number, map: MapLibreMap | null): void {
  useEffect(() => {
    if (!map || version === opened) return
    // A map without its picture is whole, so a failure is not reported.
    const keep = () =>
      void smallPictureOf(map)
        .then((picture) => savePicture(ref, id, picture))
        .catch(() => {})
    const timer = setTimeout(() => {
      void map.once('idle', keep)
      map.triggerRepaint()
    }, PICTURE_MS)
    return () => {
      clearTimeout(timer)
      map.off('idle', keep)
    }
  }, [map, version])
}

/** A draft gets the address of its map when it is saved. */
function useDraftAddress(version: number, path: string): void {
  useEffect(() => {
    if (version > 0 && location.pathname.endsWith('/new')) navigate(path, { replace: true })
  }, [version])
}

/** The map with further layers on top; a new map gets the title of its first layer. */
function withLayers(map: MapDocument, made: readonly MapLayer[]): MapDocument {
  const isNew = map.title === NEW_MAP && map.layers.length === 0
  return { ...map, title: (isNew && made[0]?.title) || map.title, layers: [...made, ...map.layers] }
}

/** Moves to the stored view of a map, or to all of its layers. */
function open(map: MapLibreMap, { view, layers }: MapDocument): void {
  if (view) map.jumpTo({ center: [view.center[0], view.center[1]], zoom: view.zoom })
  else if (layers[0]) lookAt(map, layers[0].bounds)
}

function viewOf(map: MapLibreMap | null): MapDocument['view'] {
  if (!map) return null
  const { lng, lat } = map.getCenter()
  return { center: [Number(lng.toFixed(6)), Number(lat.toFixed(6))], zoom: Number(map.getZoom().toFixed(2)) }
}
