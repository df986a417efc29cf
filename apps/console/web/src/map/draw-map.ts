import type { LayerSpecification, Map as MapLibreMap, SourceSpecification } from 'maplibre-gl'
import { addressed, compile, documentOf, type MapDocument, type Style } from '@terrane/map-style'
import { isHalo, withHalos } from '@terrane/map-style/halos'
import { groundOf } from './colors.ts'
import { TileRefused } from './engine.ts'

type Layer = LayerSpecification & {
  readonly source?: string
  readonly paint?: object
  readonly layout?: object
  readonly filter?: unknown
}

/** Layers of the document have ids with this prefix, which other layers of the page do not use. */
const PREFIX = 'map:'
const isOwn = (id: string) => id.startsWith(PREFIX)

/** Id of the source of a layer of the document. */
export const drawnSource = (id: string): string => `${PREFIX}${id}`

/**
 * Draws a map; only changes since the last call are passed to the engine.
 *
 * @param dark whether the map has the dark theme
 */
export function drawMap(map: MapLibreMap, document: MapDocument, base: string, dark: boolean): void {
  const style = addressed(compile(document), base)
  drawStyle(map, { ...style, layers: withHalos(style.layers, document, groundOf(dark)) })
}

/**
 * Draws a public map, whose tiles come from another origin.
 *
 * @param hidden ids of the layers of the document that are left out
 */
export function drawPublicMap(
  map: MapLibreMap,
  style: Style,
  { hidden, dark }: { readonly hidden: readonly string[]; readonly dark: boolean },
): void {
  const sources = Object.entries(style.sources)
    .filter(([id]) => !hidden.includes(id))
    .map(([id, source]) => [id, { ...source, tiles: (source['tiles'] as string[]).map((tiles) => `page://${tiles}`) }])
  const layers = style.layers.filter(({ source = '' }) => !hidden.includes(source))
  drawStyle(map, {
    ...style,
    sources: Object.fromEntries(sources) as Style['sources'],
    layers: withHalos(layers, documentOf(style), groundOf(dark)),
  })
}

/** Draws the layers of a style that {@link compile} made. */
function drawStyle(map: MapLibreMap, style: Style): void {
  const sources = new Map(Object.entries(style.sources).map(([id, source]) => [drawnSource(id), source]))
  const layers = style.layers
    .filter(({ type }) => type !== 'background')
    .map((layer) => ({ ...layer, id: drawnSource(layer.id), source: drawnSource(layer.source ?? '') }))
  const now = map.getStyle()
  const isKept = (id: string) => same(now.sources[id], sources.get(id))
  const wanted = new Map(layers.map((layer) => [layer.id, layer]))
  for (const old of now.layers as Layer[]) {
    if (!isOwn(old.id)) continue
    const next = wanted.get(old.id)
    if (!next || next.type !== old.type || !isKept((next as { source: string }).source)) map.removeLayer(old.id)
  }
  for (const id of Object.keys(now.sources)) if (isOwn(id) && !isKept(id)) map.removeSource(id)
  for (const [id, source] of sources) if (!map.getSource(id)) map.addSource(id, source as SourceSpecification)
  for (const layer of layers) {
    if (map.getLayer(layer.id)) update(map, layer)
    else map.addLayer(layer as unknown as LayerSpecification)
  }
  const order = layers.map(({ id }) => id)
  if (map.getLayersOrder().filter(isOwn).join() !== order.join()) for (const id of order) map.moveLayer(id)
}

/**
 * Removes the rasters of a public map that the visitor may not read, because the engine would request their tiles at
 * zoom after zoom.
 *
 * @param onRemoved called with the id of each such layer of the document
 */
export function removeForbiddenRasters(map: MapLibreMap, onRemoved: (id: string) => void): void {
  map.on('error', ({ error, sourceId }: { error: unknown; sourceId?: string }) => {
    const isForbidden = error instanceof TileRefused && error.isForbidden
    // oxlint-disable-next-line no-console -- The engine does not log errors that have a listener.
    if (!isForbidden) console.error(error)
    if (!isForbidden || sourceId === undefined || map.getSource(sourceId)?.type !== 'raster') return
    for (const { id, source } of map.getStyle().layers as Layer[]) if (source === sourceId) map.removeLayer(id)
    map.removeSource(sourceId)
    onRemoved(sourceId.slice(PREFIX.length))
  })
}

/** Ids of the layers of the map that is drawn, without halos. */
export function drawnLayers(map: MapLibreMap): string[] {
  return map.getLayersOrder().filter((id) => isOwn(id) && !isHalo(id))
}

function update(map: MapLibreMap, layer: Layer): void {
  const old = map.getStyle().layers.find(({ id }) => id === layer.id) as Layer
  type Set = (id: string, name: string, value: unknown) => unknown
  for (const [kind, set] of [
    ['paint', map.setPaintProperty.bind(map) as Set],
    ['layout', map.setLayoutProperty.bind(map) as Set],
  ] as const) {
    const [before, after] = [old[kind] ?? {}, layer[kind] ?? {}] as Record<string, unknown>[]
    for (const name of new Set([...Object.keys(before!), ...Object.keys(after!)]))
      if (!same(before![name], after![name])) set(layer.id, name, after![name])
  }
  if (!same(old.filter, layer.filter)) map.setFilter(layer.id, layer.filter as never)
  map.setLayerZoomRange(layer.id, layer.minzoom ?? 0, layer.maxzoom ?? 24)
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
