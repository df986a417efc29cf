import { colorOf, filterOf, type Expression } from './expressions.ts'
import type { MapLayer, VectorLayer } from './document.ts'
import { CLUSTER_COLOR, hasLabelPoints, heatColors, isClustered } from './layer-colors.ts'

export interface StyleLayer {
  readonly id: string
  readonly type: 'fill' | 'line' | 'circle' | 'heatmap' | 'symbol' | 'raster' | 'background'
  readonly source?: string
  readonly metadata: Readonly<Record<string, string>>
  readonly [name: string]: unknown
}

/** Fonts of labels, from the viewer's system or from a glyph server. */
const FONTS = ['Inter Variable', 'Noto Sans Regular']

/** The layers of a style that draw a layer of a map, from the lowest to the topmost. */
export function partsOf(layer: MapLayer): StyleLayer[] {
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
    ...filterOf(isClustered(layer) ? [] : layer.filters, geometry),
  })
  const has = (geometry: VectorLayer['geometry']) => layer.geometry === geometry || layer.geometry === 'mixed'
  return [
    ...(has('area') ? areaParts(layer, drawn, visibility) : []),
    ...(has('line') ? [linePart(layer, drawn('line', 'LineString'), visibility)] : []),
    ...(has('point') ? [pointPart(layer, drawn('point', 'Point'), visibility)] : []),
    ...(isClustered(layer) ? [countPart(drawn('count', 'Point'), visibility)] : []),
    ...labelParts(layer, drawn, visibility),
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
    const colors = heatColors(color)
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

/** Labels of areas, which have a layer of points in the tiles, and of other features. */
function labelParts(
  layer: VectorLayer,
  drawn: (part: string, geometry: string | null) => Drawn,
  visibility: Visibility,
): StyleLayer[] {
  const { label, geometry } = layer
  if (!label) return []
  const part = (name: string, kind: string | null) => labelPart(layer, label, drawn(name, kind), visibility)
  if (!hasLabelPoints(layer)) return [part('label', null)]
  const areas = part('label', null)
  const ofAreas = { ...areas, 'source-layer': `${String(areas['source-layer'])}:labels` }
  if (geometry === 'area') return [ofAreas]
  return [ofAreas, part('label-line', 'LineString'), part('label-point', 'Point')]
}

function labelPart(
  { geometry }: VectorLayer,
  label: NonNullable<VectorLayer['label']>,
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
const IS_CLUSTER = ['all', ['has', 'point_count'], ['>', COUNT, 1]]

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
