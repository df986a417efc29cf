import type { Coloring, Filter, MapDocument, MapLayer, RasterLayer, VectorLayer } from './document.ts'
import { colorsOf } from './palettes.ts'
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

export interface StyleLayer {
  readonly id: string
  readonly type: 'fill' | 'line' | 'circle' | 'heatmap' | 'symbol' | 'raster' | 'background'
  readonly source?: string
  readonly metadata: Readonly<Record<string, string>>
  readonly [name: string]: unknown
}

type Expression = readonly unknown[]

/** The colour of features that are in no class. */
export const UNCLASSED = '#8a949a'
/** Fonts of labels, from the viewer's system or from a glyph server. */
const FONTS = ['Inter Variable', 'Noto Sans Regular']
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
      tiles: [`terrane:/vector/v1/${encodeURIComponent(layer.table)}/{z}/{x}/{y}${clusterQuery(layer)}`],
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
function clusterQuery(layer: VectorLayer): string {
  if (!isClustered(layer)) return ''
  return `?${new URLSearchParams([['cluster', String(CLUSTER)], ...restConditions(layer.filters, false)]).toString()}`
}

function isClustered({ draw, geometry }: VectorLayer): boolean {
  return draw === 'cluster' && geometry === 'point'
}

/** Tiles in the resolution of the screen: MapLibre replaces `{ratio}` with `@2x` on fine screens, else with nothing. */
function rasterTiles({ url, bands, stretch, colormap }: RasterLayer): string {
  const query = new URLSearchParams({ url })
  for (const band of bands) query.append('bidx', String(band))
  for (const [from, to] of stretch) query.append('rescale', `${from},${to}`)
  if (colormap !== null && bands.length === 1) query.set('colormap_name', colormap)
  return `terrane:/raster/v1/tiles/WebMercatorQuad/{z}/{x}/{y}{ratio}.webp?${query.toString()}`
}

function partsOf(layer: MapLayer): StyleLayer[] {
  const shared = (part: string) => ({
    id: `${layer.id}:${part}`,
    source: layer.id,
    minzoom: layer.zooms[0],
    maxzoom: layer.zooms[1],
    metadata: { 'terrane:layer': layer.id, 'terrane:part': part },
  })
  const visibility = layer.isShown ? 'visible' : 'none'
  if (layer.kind === 'raster') {
    const paint = { 'raster-opacity': layer.opacity, 'raster-fade-duration': 120 }
    return [{ ...shared('picture'), type: 'raster', layout: { visibility }, paint }]
  }
  const tableName = layer.table.slice(layer.table.indexOf('.') + 1)
  const drawn = (part: string, geometry: string | null) => ({
    ...shared(part),
    'source-layer': tableName,
    filter: filterOf(isClustered(layer) ? [] : layer.filters, geometry),
  })
  const has = (geometry: VectorLayer['geometry']) => layer.geometry === geometry || layer.geometry === 'mixed'
  return [
    ...(has('area') ? areaParts(layer, drawn, visibility) : []),
    ...(has('line') ? [linePart(layer, drawn('line', 'LineString'), visibility)] : []),
    ...(has('point') ? [pointPart(layer, drawn('point', 'Point'), visibility)] : []),
    ...(isClustered(layer) ? [countPart(drawn('count', 'Point'), visibility)] : []),
    ...(layer.label ? [labelPart(layer, layer.label, drawn('label', null), visibility)] : []),
  ]
}

type Visibility = 'visible' | 'none'
type Drawn = Omit<StyleLayer, 'type'>

function areaParts(
  layer: VectorLayer,
  drawn: (part: string, geometry: string) => Drawn,
  visibility: Visibility,
): StyleLayer[] {
  const { outline, opacity } = layer
  const fill: StyleLayer = {
    ...(drawn('fill', 'Polygon') as StyleLayer),
    type: 'fill',
    layout: { visibility },
    paint: { 'fill-color': colorOf(layer.color), 'fill-opacity': opacity },
  }
  if (outline.width === 0) return [fill]
  // An outline of full width hides areas of a few pixels.
  const width = ['interpolate', ['linear'], ['zoom'], 4, outline.width / 8, 9, outline.width]
  const paint = { 'line-color': outline.color, 'line-width': width, 'line-opacity': opacity }
  const line: StyleLayer = {
    ...(drawn('outline', 'Polygon') as StyleLayer),
    type: 'line',
    layout: { visibility, 'line-join': 'round' },
    paint,
  }
  return [fill, line]
}

function linePart(layer: VectorLayer, drawn: Drawn, visibility: Visibility): StyleLayer {
  return {
    ...(drawn as StyleLayer),
    type: 'line',
    layout: { visibility, 'line-cap': 'round', 'line-join': 'round' },
    paint: {
      'line-color': colorOf(layer.color),
      'line-opacity': layer.opacity,
      'line-width': byZoom(layer.size),
    },
  }
}

function pointPart(layer: VectorLayer, drawn: Drawn, visibility: Visibility): StyleLayer {
  const { color, opacity, outline, size } = layer
  if (layer.draw === 'heat') {
    const palette = color.by === 'number' ? color.palette : 'magma'
    const colors = colorsOf(palette, 6, color.by === 'number' && color.isReversed)
    const stops = colors.flatMap((shade, i) => [(i + 1) / colors.length, shade])
    const paint = {
      'heatmap-color': ['interpolate', ['linear'], ['heatmap-density'], 0, 'rgba(0, 0, 0, 0)', ...stops],
      'heatmap-radius': size * 4,
      'heatmap-opacity': opacity,
    }
    return { ...(drawn as StyleLayer), type: 'heatmap', layout: { visibility }, paint }
  }
  return {
    ...(drawn as StyleLayer),
    type: 'circle',
    layout: { visibility },
    paint: {
      'circle-color': isClustered(layer) ? ['case', IS_CLUSTER, CLUSTER_COLOR, colorOf(color)] : colorOf(color),
      'circle-opacity': opacity,
      'circle-radius': isClustered(layer) ? byCount(size) : byZoom(size),
      'circle-stroke-color': outline.color,
      'circle-stroke-opacity': opacity,
      'circle-stroke-width': outline.width,
    },
  }
}

function labelPart(
  { geometry }: VectorLayer,
  label: { readonly property: string; readonly size: number },
  drawn: Drawn,
  visibility: Visibility,
): StyleLayer {
  const place =
    geometry === 'line'
      ? { 'symbol-placement': 'line' }
      : geometry === 'point'
        ? { 'text-variable-anchor': ['top', 'bottom', 'left', 'right'], 'text-radial-offset': 0.7 }
        : {}
  return {
    ...(drawn as StyleLayer),
    type: 'symbol',
    layout: {
      visibility,
      'text-field': ['to-string', ['get', label.property]],
      'text-font': FONTS,
      'text-size': label.size,
      'text-max-width': 9,
      ...place,
    },
    paint: { 'text-color': '#1d2529', 'text-halo-color': 'rgba(255, 255, 255, 0.9)', 'text-halo-width': 1.4 },
  }
}

const COUNT = ['get', 'point_count']
const IS_CLUSTER = ['>', ['number', COUNT, 1], 1]
const CLUSTER_COLOR = '#2f6f8f'

/** A label with the number of rows of a cluster. */
function countPart(drawn: Drawn, visibility: Visibility): StyleLayer {
  return {
    ...(drawn as StyleLayer),
    type: 'symbol',
    filter: IS_CLUSTER,
    layout: {
      visibility,
      'text-field': ['to-string', COUNT],
      'text-font': FONTS,
      'text-size': 12,
      'text-allow-overlap': true,
      'text-ignore-placement': true,
    },
    paint: { 'text-color': '#ffffff' },
  }
}

/**
 * Radius of a cluster: grows with the square root of its number of rows, up to at least four times a point's, and
 * leaves room for its label.
 */
function byCount(size: number): Expression {
  return [
    'interpolate',
    ['linear'],
    ['sqrt', ['number', COUNT, 1]],
    1,
    size,
    1.1,
    11,
    10,
    Math.max(16, size * 2.5),
    100,
    Math.max(26, size * 4),
  ]
}

/** Smaller at low zooms; full size from zoom 14. */
function byZoom(size: number): Expression {
  return ['interpolate', ['linear'], ['zoom'], 6, size * 0.6, 14, size]
}

/** The colour of a feature by its properties: a CSS colour, or an expression of MapLibre. */
export function colorOf(coloring: Coloring): string | Expression {
  if (coloring.by === 'one') return coloring.color
  const value = ['get', coloring.property]
  if (coloring.by === 'category') {
    const { values, palette } = coloring
    const colors = colorsOf(palette, values.length)
    const cases = values.slice(0, colors.length).flatMap((one, i) => [['==', value, one.value], colors[i]])
    return cases.length === 0 ? UNCLASSED : ['case', ...cases, UNCLASSED]
  }
  const { starts, palette, isReversed } = coloring
  const colors = colorsOf(palette, starts.length, isReversed)
  if (starts.length === 0) return UNCLASSED
  const stops = starts.slice(1).flatMap((start, i) => [start, colors[i + 1]])
  const step = stops.length === 0 ? colors[0] : ['step', ['number', value], colors[0], ...stops]
  // A tile may have numbers that are not finite; they belong to no class.
  const isClassed = ['all', isNumber(value), ['<=', ['abs', ['number', value]], Number.MAX_VALUE]]
  return ['case', isClassed, step, UNCLASSED]
}

function isNumber(value: Expression): Expression {
  return ['==', ['typeof', value], 'number']
}

function filterOf(filters: readonly Filter[], geometry: string | null): Expression {
  const kind = geometry === null ? [] : [['==', ['geometry-type'], geometry]]
  return ['all', ...kind, ...filters.map(conditionOf)]
}

function conditionOf({ property, is, value }: Filter): Expression {
  const found = ['get', property]
  switch (is) {
    case 'equal':
      return ['==', found, value]
    case 'not':
      return ['!=', found, value]
    case 'less':
    case 'more':
      return ['all', isNumber(found), [is === 'less' ? '<' : '>', ['number', found], Number(value)]]
    case 'contains':
      return ['in', String(value).toLowerCase(), ['downcase', ['to-string', found]]]
    case 'empty':
      return ['any', ['!', ['has', property]], ['==', found, '']]
    case 'filled':
      return ['all', ['has', property], ['!=', found, '']]
  }
}
