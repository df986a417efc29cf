import type { Map as MapLibreMap } from 'maplibre-gl'
import { projectPath, request } from '../lib/api.ts'
import { createStore, type Store } from '../lib/store.ts'
import { layerColor } from './colors.ts'
import { styledLayers } from './layers.ts'
import type { Box } from './graticule.ts'

/** A table or view that can be drawn as it is now. */
export interface LiveTable {
  /** `schema.table`. */
  readonly name: string
  readonly geometry_type: string
  readonly rows: number | null
}

interface LiveTileJson {
  readonly bounds: Box
  readonly maxzoom: number
  readonly attribution?: string
  readonly vector_layers: readonly { readonly id: string; readonly fields: Readonly<Record<string, string>> }[]
}

/** Tables of the project with a geometry; those of embeddings have a section of their own. */
export async function readLiveTables(ref: string, signal?: AbortSignal): Promise<readonly LiveTable[]> {
  const { tiles } = await request<{ tiles: Record<string, Omit<LiveTable, 'name'>> }>(
    'GET',
    projectPath(ref, '/vector/v1/catalog'),
    undefined,
    signal,
  )
  return Object.entries(tiles)
    .filter(([name]) => !name.startsWith('geoembeddings.'))
    .map(([name, about]) => ({ name, ...about }))
}

/** Tables of the project that are drawn. */
export function visibleTables(ref: string): Store<readonly string[]> {
  const known = stores.get(ref)
  if (known) return known
  const store = createStore<readonly string[]>([])
  stores.set(ref, store)
  return store
}

const stores = new Map<string, Store<readonly string[]>>()

/** Draws exactly these tables beneath a layer. */
export async function showTables(
  map: MapLibreMap,
  ref: string,
  names: readonly string[],
  beneath: string,
): Promise<void> {
  const wanted = new Set(names.map(sourceId))
  for (const layer of map.getStyle().layers) {
    if ('source' in layer && layer.source.startsWith('live:') && !wanted.has(layer.source)) map.removeLayer(layer.id)
  }
  for (const id of Object.keys(map.getStyle().sources)) {
    if (id.startsWith('live:') && !wanted.has(id)) map.removeSource(id)
  }
  for (const name of names) if (!map.getSource(sourceId(name))) await addTable(map, ref, name, beneath)
}

/** Bounding box of a table. */
export async function tableBox(ref: string, name: string): Promise<Box> {
  return (await readTileJson(ref, name)).bounds
}

/** Properties of a table that tiles carry. */
export async function tableProperties(ref: string, name: string, signal?: AbortSignal): Promise<readonly string[]> {
  const { vector_layers: layers } = await readTileJson(ref, name, signal)
  return layers.flatMap(({ fields }) => Object.keys(fields))
}

async function addTable(map: MapLibreMap, ref: string, name: string, beneath: string): Promise<void> {
  const { bounds, maxzoom, attribution, vector_layers: layers } = await readTileJson(ref, name)
  const source = sourceId(name)
  // The reading took a while: the map may be gone, or the table there.
  if (!map.style || map.getSource(source)) return
  map.addSource(source, {
    type: 'vector',
    tiles: [`${location.origin}${projectPath(ref, `/vector/v1/${encodeURIComponent(name)}/{z}/{x}/{y}`)}`],
    bounds: [...bounds],
    maxzoom,
    ...(attribution !== undefined && { attribution }),
  })
  for (const { id } of layers) {
    for (const layer of styledLayers(`${source}:${id}`, source, id, layerColor(name))) {
      map.addLayer(layer, map.getLayer(beneath) ? beneath : undefined)
    }
  }
}

function readTileJson(ref: string, name: string, signal?: AbortSignal): Promise<LiveTileJson> {
  return request('GET', projectPath(ref, `/vector/v1/${encodeURIComponent(name)}`), undefined, signal)
}

function sourceId(name: string): string {
  return `live:${name}`
}
