import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl'
import type { EmbeddingTable, SearchFrom } from '../../lib/embeddings.ts'
import { readCatalogue } from '../../lib/embeddings.ts'
import type { Project } from '../../lib/project.ts'
import { navigate, usePlace } from '../../lib/router.tsx'
import { useStore } from '../../lib/store.ts'
import { isDark } from '../../lib/theme.ts'
import { useResource } from '../../lib/use-resource.ts'
import { readLayers } from '../../lib/layers.ts'
import { layerBox, shownLayerIds, visibleLayers } from '../../map/layers.ts'
import { lookAt } from '../../map/look-at.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'
import { FIRST_TILE_LAYER, addTileLayers } from '../../map/tiles.ts'
import { useBackdrop } from '../../map/use-backdrop.ts'
import { EmbeddingsSection } from './embeddings-section.tsx'
import { readExamples, withExample, writeExamples } from './examples.ts'
import { FeatureCard, type ClickedFeature } from './feature-card.tsx'
import { LayersSection } from './layers-section.tsx'

/** Maximum features of one click. */
const MAX_CLICKED = 8

/**
 * The project's data on a map: archives, the properties of their features, and embedding tiles coloured by their
 * similarity to the clicked one. `?layer=` shows an archive and `?embeddings=` a table. `like=` or `at=` give the
 * reference of a search (`like=12,15,-40`: tiles, with a minus for dissimilar ones); `before=` gives the earlier table
 * of a comparison.
 */
export function MapPage({ project }: { project: Project }): JSX.Element {
  const { path, query } = usePlace()
  const table = query.get('embeddings')
  const from = readFrom(query)
  const layer = query.get('layer')
  const before = query.get('before')
  const [clicked, setClicked] = useState<readonly ClickedFeature[]>([])
  const layers = useResource(`layers ${project.ref}`, (signal) => readLayers(project.ref, signal))
  const catalogue = useResource(`catalogue ${project.ref}`, (signal) => readCatalogue(project.ref, signal))
  const { map, takeMap } = useTileMap()
  useBackdrop(map, project.ref, FIRST_TILE_LAYER, { stay: table !== null || layer !== null })
  useEffect(() => {
    if (!map || layer === null) return
    const shown = visibleLayers(project.ref)
    if (!shown.get().includes(layer)) shown.set([...shown.get(), layer])
    layerBox(project.ref, layer)
      .then((box) => map.style && lookAt(map, box))
      .catch(() => {})
  }, [map, layer])
  useClicks(map, { table, from }, (like) => show(table, like), setClicked)
  useOnlyTable(catalogue.value, table ?? layer, (only) => show(only, null))

  const show = (next: string | null, like: SearchFrom | null, earlier: string | null = null) => {
    const asked = new URLSearchParams()
    if (next !== null) asked.set('embeddings', next)
    if (like && 'like' in like) asked.set('like', writeExamples(like).replaceAll(' ', ''))
    else if (like) asked.set('at', `${like.lat.toFixed(6)},${like.lng.toFixed(6)}`)
    if (earlier !== null) asked.set('before', earlier)
    navigate(asked.size > 0 ? `${path}?${asked}` : path, { replace: true })
  }
  return (
    <div class="map-page">
      <div class="side">
        <header>
          <h1>{table === null && layer !== null ? 'Explore archives' : 'Explore embeddings'}</h1>
        </header>
        <div class="scroll">
          <EmbeddingsSection
            project={project}
            map={map}
            catalogue={catalogue}
            table={table}
            from={from}
            before={before}
            onTable={(next) => show(next, null)}
            onFrom={(like) => show(table, like)}
            onBefore={(earlier) => show(table, null, earlier)}
          />
          <LayersSection project={project} map={map} layers={layers} />
        </div>
      </div>
      <MapCanvas label="Map of the project" projectRef={project.ref} onMap={takeMap}>
        {clicked.length > 0 && <FeatureCard features={clicked} onClose={() => setClicked([])} />}
        {table !== null && before === null && <Hint from={from} />}
      </MapCanvas>
    </div>
  )
}

/** How to choose examples on the map. */
function Hint({ from }: { from: SearchFrom | null }): JSX.Element | null {
  if (from === null) return <div class="hint-bar">Click a tile to find similar ones</div>
  if (!('like' in from)) return null
  return <div class="hint-bar">Refine with + and −, or click with Shift (similar) or Alt (different)</div>
}

/** Chooses the table of a project that has only one, unless something was chosen before. */
function useOnlyTable(
  catalogue: readonly EmbeddingTable[] | undefined,
  shown: string | null,
  onTable: (table: string) => void,
): void {
  const isOpening = useRef(true)
  useEffect(() => {
    if (!catalogue) return
    const [only] = catalogue
    if (isOpening.current && only && catalogue.length === 1 && shown === null) onTable(only.table_name)
    isOpening.current = false
  }, [catalogue])
}

/** The map with its tile layers; sections draw into them once the map is ready. */
function useTileMap() {
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const dark = useStore(isDark)
  useEffect(() => {
    if (map) addTileLayers(map, dark)
  }, [map, dark])
  const takeMap = (next: MapLibreMap | null) => {
    if (next) addTileLayers(next, isDark.get())
    setMap(next)
  }
  return { map, takeMap }
}

/**
 * A click searches for tiles similar to the one under it; with Shift the tile joins the similar examples, with Alt the
 * dissimilar ones. Without a table a click shows the features there.
 */
function useClicks(
  map: MapLibreMap | null,
  { table, from }: { readonly table: string | null; readonly from: SearchFrom | null },
  onFrom: (from: SearchFrom | null) => void,
  onFeatures: (features: readonly ClickedFeature[]) => void,
): void {
  const searching = table !== null
  useEffect(() => {
    if (!map) return
    const click = ({ point, lngLat, originalEvent: { shiftKey, altKey } }: MapMouseEvent) => {
      if (searching) {
        const [tile] = map.queryRenderedFeatures(point, { layers: ['tiles-fill'] })
        onFeatures([])
        const id = tile && String(tile.properties['id'])
        if (id === undefined) onFrom({ lng: lngLat.lng, lat: lngLat.lat })
        else if (shiftKey || altKey) onFrom(withExample(from, id, altKey ? 'unlike' : 'like'))
        else onFrom({ like: [id], unlike: [] })
        return
      }
      onFeatures(featuresAt(map, point))
    }
    const move = ({ point }: MapMouseEvent) => {
      const layers = searching ? ['tiles-fill'] : shownLayerIds(map)
      const found = layers.length > 0 && map.queryRenderedFeatures(point, { layers }).length > 0
      map.getCanvas().style.cursor = found ? 'pointer' : ''
    }
    // Box zoom takes clicks with Shift for itself.
    if (searching) map.boxZoom.disable()
    map.on('click', click)
    map.on('mousemove', move)
    return () => {
      map.boxZoom.enable()
      map.off('click', click)
      map.off('mousemove', move)
    }
  }, [map, table, from && JSON.stringify(from)])
}

/** The reference tiles or position in the URL. */
function readFrom(query: URLSearchParams): SearchFrom | null {
  const examples = readExamples(query.get('like') ?? '')
  if (examples) return examples
  const [lat = Number.NaN, lng = Number.NaN] = (query.get('at') ?? '').split(',').map(Number)
  return Number.isFinite(lat) && Number.isFinite(lng) ? { lng, lat } : null
}

function featuresAt(map: MapLibreMap, { x, y }: { x: number; y: number }): ClickedFeature[] {
  const reach = 4
  const found = map.queryRenderedFeatures(
    [
      [x - reach, y - reach],
      [x + reach, y + reach],
    ],
    { layers: shownLayerIds(map) },
  )
  const distinct = new Map(
    found.map(({ sourceLayer = '', id, properties }) => {
      const feature = { layer: sourceLayer, properties: { ...(id !== undefined && { id }), ...properties } }
      return [JSON.stringify(feature), feature]
    }),
  )
  return [...distinct.values()].slice(0, MAX_CLICKED)
}
