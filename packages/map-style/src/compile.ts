import type { MapDocument, MapLayer, RasterLayer, VectorLayer } from './document.ts'
import { hasLabelPoints, isClustered } from './layer-colors.ts'
import { partsOf, type StyleLayer } from './layer-parts.ts'
import { restConditions } from './rest-conditions.ts'

/** The parts of a MapLibre style that maps use. */
export interface Style {
  readonly version: 8
  readonly name: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly center?: readonly [number, number]
  readonly zoom?: number
  readonly sources: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly layers: readonly StyleLayer[]
}

/** Side of the square cells whose points form one cluster, in units of 1/4096 of a tile: 64 pixels. */
const CLUSTER = 512
const BACKGROUND = '#e9edef'

/**
 * The MapLibre style of a map: layers from the lowest to the topmost, labels above all, the document itself in
 * `metadata["terrane:map"]`. URLs of tiles begin with `terrane:/`; {@link addressed} makes them absolute.
 */
export function compile(document: MapDocument): Style {
  const fromBelow = document.layers.toReversed()
  const parts = fromBelow.flatMap(partsOf)
  return {
    version: 8,
    name: document.title,
    metadata: { 'terrane:map': document },
    ...(document.view && { center: document.view.center, zoom: document.view.zoom }),
    sources: Object.fromEntries(fromBelow.map((layer) => [layer.id, sourceOf(layer)])),
    layers: [
      { id: 'background', type: 'background', metadata: {}, paint: { 'background-color': BACKGROUND } },
      ...parts.filter(({ type }) => type !== 'symbol'),
      ...parts.filter(({ type }) => type === 'symbol'),
    ],
  }
}

function sourceOf(layer: MapLayer): Record<string, unknown> {
  const { bounds, attribution } = layer
  const about = attribution === '' ? {} : { attribution }
  // A table has no bounds here, because later rows may lie elsewhere.
  if (layer.kind === 'vector')
    return {
      type: 'vector',
      tiles: [`terrane:/vector/v1/${encodeURIComponent(layer.table)}/{z}/{x}/{y}${tileQuery(layer)}`],
      maxzoom: 22,
      ...about,
    }
  const [minzoom, maxzoom] = layer.tileZooms
  return { type: 'raster', tiles: [rasterTiles(layer)], tileSize: 256, minzoom, maxzoom, bounds, ...about }
}

/**
 * Tiles apply the filters before clustering, because clusters have no properties. For texts, only null counts as empty
 * there.
 */
function tileQuery(layer: VectorLayer): string {
  if (hasLabelPoints(layer)) return '?label_points=true'
  if (!isClustered(layer)) return ''
  return `?${new URLSearchParams([['cluster', String(CLUSTER)], ...restConditions(layer.filters, false)]).toString()}`
}

/** Tiles in the resolution of the screen: MapLibre replaces `{ratio}` with `@2x` on fine screens, else with nothing. */
function rasterTiles({ url, bands, stretch, colormap }: RasterLayer): string {
  const query = new URLSearchParams({ url })
  for (const band of bands) query.append('bidx', String(band))
  for (const [from, to] of stretch) query.append('rescale', `${from},${to}`)
  if (colormap !== null && bands.length === 1) query.set('colormap_name', colormap)
  return `terrane:/raster/v1/tiles/WebMercatorQuad/{z}/{x}/{y}{ratio}.webp?${query.toString()}`
}
