import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { projectPath } from '../lib/api.ts'
import { createStore, type Store } from '../lib/store.ts'
import { FILL_OPACITY, layerColor } from './colors.ts'
import { archiveSource, openArchive } from './engine.ts'
import type { Box } from './graticule.ts'

/** Paths of the visible layers, for all maps of the project. */
export function visibleLayers(ref: string): Store<readonly string[]> {
  const known = stores.get(ref)
  if (known) return known
  const store = createStore<readonly string[]>(readSaved(ref))
  store.subscribe(() => localStorage.setItem(`terrane.layers.${ref}`, JSON.stringify(store.get())))
  stores.set(ref, store)
  return store
}

/** False until layers are chosen in this browser. */
export function hasSavedLayers(ref: string): boolean {
  return localStorage.getItem(`terrane.layers.${ref}`) !== null
}

const stores = new Map<string, Store<readonly string[]>>()

function readSaved(ref: string): readonly string[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(`terrane.layers.${ref}`) ?? '[]')
    return Array.isArray(saved) ? saved.filter((path) => typeof path === 'string') : []
  } catch {
    return []
  }
}

interface Drawing {
  /** Layers are drawn beneath the map layer with this id. */
  readonly beneath: string | null
  /** Draws only polygons. */
  readonly areasOnly: boolean
}

/** Draws exactly these layers of the project. */
export async function showLayers(
  map: MapLibreMap,
  ref: string,
  paths: readonly string[],
  drawing: Drawing,
): Promise<void> {
  const wanted = new Set(paths.map(sourceId))
  for (const layer of map.getStyle().layers) {
    if ('source' in layer && layer.source.startsWith('layer:') && !wanted.has(layer.source)) map.removeLayer(layer.id)
  }
  for (const id of Object.keys(map.getStyle().sources)) {
    if (id.startsWith('layer:') && !wanted.has(id)) map.removeSource(id)
  }
  for (const path of paths) {
    if (!map.getSource(sourceId(path))) await addLayer(map, ref, path, drawing)
  }
}

/** Bounding box of a layer. */
export async function layerBox(ref: string, path: string): Promise<Box> {
  const { minLon, minLat, maxLon, maxLat } = await openArchive(archivePath(ref, path)).getHeader()
  return [minLon, minLat, maxLon, maxLat]
}

/** Ids of the map layers that show archives and tables. */
export function shownLayerIds(map: MapLibreMap): string[] {
  return map
    .getStyle()
    .layers.filter((layer) => 'source' in layer && /^(layer|live):/.test(layer.source))
    .map(({ id }) => id)
}

async function addLayer(map: MapLibreMap, ref: string, path: string, { beneath, areasOnly }: Drawing): Promise<void> {
  const metadata = (await openArchive(archivePath(ref, path)).getMetadata()) as { vector_layers?: { id: string }[] }
  const source = sourceId(path)
  // The archive was read asynchronously, so the map may be removed or the layer may exist already.
  if (!map.style || map.getSource(source)) return
  map.addSource(source, archiveSource(archivePath(ref, path)))
  const color = layerColor(path)
  // Live tables are drawn above archives, which may be older.
  const live = map.getStyle().layers.find((layer) => 'source' in layer && layer.source.startsWith('live:'))
  const anchor = live?.id ?? (beneath !== null && map.getLayer(beneath) ? beneath : undefined)
  for (const { id } of metadata.vector_layers ?? []) {
    for (const layer of styledLayers(`${source}:${id}`, source, id, color)) {
      if (layer.type === 'fill' || !areasOnly) map.addLayer(layer, anchor)
    }
  }
}

/** Style of features of any kind in one colour. */
function styledLayers(id: string, source: string, sourceLayer: string, color: string): LayerSpecification[] {
  const from = { source, 'source-layer': sourceLayer }
  return [
    {
      ...from,
      id: `${id}:fill`,
      type: 'fill',
      filter: ['==', '$type', 'Polygon'],
      paint: { 'fill-color': color, 'fill-opacity': FILL_OPACITY, 'fill-outline-color': color },
    },
    {
      ...from,
      id: `${id}:line`,
      type: 'line',
      filter: ['==', '$type', 'LineString'],
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': color, 'line-width': ['interpolate', ['linear'], ['zoom'], 8, 0.8, 14, 1.8, 18, 4] },
    },
    {
      ...from,
      id: `${id}:point`,
      type: 'circle',
      filter: ['==', '$type', 'Point'],
      paint: {
        'circle-color': color,
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 8, 2, 16, 5],
        'circle-stroke-color': '#ffffff',
        'circle-stroke-width': 0.8,
      },
    },
  ]
}

function sourceId(path: string): string {
  return `layer:${path}`
}

function archivePath(ref: string, path: string): string {
  return projectPath(ref, `/storage/v1/object/pmtiles/${path.split('/').map(encodeURIComponent).join('/')}`)
}
