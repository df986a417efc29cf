import type { tileJson } from './tile-json.ts'
import { labelLayerOf } from './tile-sql.ts'

type TileJson = Awaited<ReturnType<typeof tileJson>>

interface VectorLayer {
  readonly id: string
  readonly geometry_type?: string
}

const COLORS = ['#3d7ab8', '#c8553d', '#4f8f5b', '#8a5a9e', '#b8860b', '#2a8a8a']
/** Types of features that a layer of a style draws, by the kind of geometry. */
const DRAWN = {
  polygon: ['Polygon', 'MultiPolygon'],
  line: ['LineString', 'MultiLineString'],
  point: ['Point', 'MultiPoint'],
} as const

/** Types of a column, by the kind of its geometries. */
const KINDS = { point: /point/i, line: /string|compoundcurve|multicurve/i, polygon: /polygon|surface|tin|triangle/i }

/** A MapLibre style that draws sources: areas, lines and points, each layer in a colour of its own, without labels. */
export function defaultStyle({ name, tiles, minzoom, maxzoom, bounds, vector_layers: layers, ...about }: TileJson) {
  const [west = -180, south = -85, east = 180, north = 85] = bounds
  return {
    version: 8,
    name,
    center: [(west + east) / 2, (south + north) / 2],
    // The zoom at which the bounds are about 512 pixels wide.
    zoom: Math.max(0, Math.min(18, Math.floor(Math.log2(360 / Math.max(east - west, north - south, 1e-6))))),
    sources: {
      terrane: {
        type: 'vector',
        tiles,
        minzoom,
        maxzoom,
        bounds,
        ...(about.attribution && { attribution: about.attribution }),
      },
    },
    layers: [
      { id: 'background', type: 'background', paint: { 'background-color': '#f6f4ef' } },
      ...(['polygon', 'line', 'point'] as const).flatMap((kind) =>
        (layers as readonly VectorLayer[]).flatMap((layer, i, all) =>
          mayHave(layer, kind) && !all.some(({ id }) => layer.id === labelLayerOf({ table: id }))
            ? [styleLayer(layer.id, kind, COLORS[i % COLORS.length]!)]
            : [],
        ),
      ),
    ],
  }
}

/** A layer without a geometry type may have all kinds. */
function mayHave({ geometry_type: type = '' }: VectorLayer, kind: keyof typeof DRAWN): boolean {
  const found = (['point', 'line', 'polygon'] as const).find((one) => KINDS[one].test(type))
  return found === undefined || found === kind
}

function styleLayer(layer: string, kind: keyof typeof DRAWN, color: string) {
  const drawn = {
    polygon: { type: 'fill', paint: { 'fill-color': color, 'fill-opacity': 0.4, 'fill-outline-color': color } },
    line: { type: 'line', paint: { 'line-color': color, 'line-width': 1.5 } },
    point: {
      type: 'circle',
      paint: { 'circle-color': color, 'circle-radius': 4, 'circle-stroke-color': '#ffffff', 'circle-stroke-width': 1 },
    },
  } as const
  return {
    id: `${layer} ${kind}`,
    source: 'terrane',
    'source-layer': layer,
    filter: ['match', ['geometry-type'], DRAWN[kind], true, false],
    ...drawn[kind],
  }
}
