import { uuidv7 } from '@terrane/core'
import {
  breaksOf,
  type ClassMethod,
  type Coloring,
  type Distribution,
  type MapLayer,
  type VectorLayer,
} from '@terrane/map-style'
import { get, projectPath, request } from '../lib/api.ts'
import { fieldsOf, sampleStats } from '../lib/sample-stats.ts'
import { tableLabel } from '../lib/tables.ts'
import { boxOf } from './box.ts'
import { layerColor } from './colors.ts'
import { firstColoring } from './first-coloring.ts'
import { positionsOf } from './geometry.ts'
import type { Box } from './graticule.ts'
import { readStats, readTileJson } from './live.ts'

/** Metadata of a raster from `/raster/v1/info`. */
export interface RasterInfo {
  readonly count: number
  readonly geographic_bounds: Box
  readonly minzoom: number
  readonly maxzoom: number
  readonly palette: unknown
  readonly band_descriptions: readonly (readonly [string, string])[]
  readonly shown: { readonly bidx: readonly number[]; readonly rescale: readonly (readonly [number, number])[] | null }
}

const newId = () => uuidv7().slice(-8)
const ANY_ZOOM = [0, 24] as const
const WORLD: Box = [-180, -85, 180, 85]
/** Layers with more rows have no outlines at first. */
const MOST_OUTLINED = 5000

/** A layer of a table with a suggested style: categories by colours, numbers by classes, else one colour. */
export async function tableLayer(ref: string, table: string, signal?: AbortSignal): Promise<VectorLayer> {
  const {
    bounds,
    attribution = '',
    vector_layers: [about],
  } = await readTileJson(ref, table, signal)
  let rows = 0
  const statsOf = async (name: string) => {
    const stats = await readStats(ref, table, name, signal)
    rows = stats.rows
    return stats
  }
  const color = await firstColoring(about?.fields ?? {}, statsOf).catch(() => null)
  return featureLayer({ table, bounds, attribution, geometry: geometryOf(about?.geometry_type ?? ''), color }, rows)
}

/** The layer that features of a file will have once they are a table, with the style by their values. */
export async function previewLayer(table: string, features: readonly GeoJSON.Feature[]): Promise<VectorLayer> {
  const color = await firstColoring(fieldsOf(features), (name) => sampleStats(features, name))
  const kinds = [...new Set(features.map(({ geometry }) => geometryOf(geometry.type)))]
  const geometry = kinds.length === 1 ? kinds[0]! : 'mixed'
  const bounds = boxOf(features.flatMap((feature) => positionsOf(feature.geometry))) ?? WORLD
  return featureLayer({ table, bounds, attribution: '', geometry, color }, features.length)
}

/** A layer with the suggested style of its geometry; `color` null is one colour; `rows` 0 when no column was counted. */
function featureLayer(
  about: Pick<VectorLayer, 'table' | 'bounds' | 'attribution' | 'geometry'> & { readonly color: Coloring | null },
  rows: number,
): VectorLayer {
  const { table, geometry, color } = about
  return {
    ...about,
    id: newId(),
    title: tableLabel(table).replaceAll('_', ' '),
    isShown: true,
    opacity: geometry === 'area' ? 0.75 : 0.9,
    zooms: ANY_ZOOM,
    kind: 'vector',
    draw: 'features',
    color: color ?? { by: 'one', color: layerColor(table) },
    size: geometry === 'line' ? 2 : 5,
    // Outlines of many small features would cover their colours, and take longer to draw than the features.
    outline: { color: '#ffffff', width: geometry === 'line' || rows > MOST_OUTLINED ? 0 : 0.8 },
    label: null,
    filters: [],
  }
}

/**
 * Title of the layer of a raster: the name of its file without the ending, as layers of tables are named.
 *
 * @param url in the notation of `/raster/v1`
 */
export function rasterTitle(url: string): string {
  const name = url.slice(url.lastIndexOf('/') + 1)
  return name.replace(/(?<=.)\.tiff?$/i, '').replaceAll('_', ' ')
}

/** A layer of a GeoTIFF, with a stretch from its histogram. */
export async function rasterLayer(ref: string, url: string): Promise<MapLayer> {
  const { geographic_bounds: bounds, minzoom, maxzoom, shown } = await readRaster(ref, url)
  const [west, south, east, north] = bounds
  return {
    id: newId(),
    title: rasterTitle(url),
    isShown: true,
    opacity: 1,
    zooms: ANY_ZOOM,
    bounds: west <= east ? bounds : [-180, south, 180, north],
    attribution: '',
    kind: 'raster',
    url,
    bands: shown.bidx.length > 3 ? shown.bidx.slice(0, 3) : shown.bidx,
    stretch: shown.rescale ?? [],
    colormap: shown.bidx.length === 1 && shown.rescale ? 'viridis' : null,
    tileZooms: [Math.max(0, minzoom - 2), Math.max(minzoom, maxzoom)],
  }
}

export function readRaster(ref: string, url: string, signal?: AbortSignal): Promise<RasterInfo> {
  return get(projectPath(ref, `/raster/v1/info?url=${encodeURIComponent(url)}`), signal)
}

/** Classification of numbers; `starts` are the limits of manual classes. */
export interface ClassWish {
  readonly method: ClassMethod
  readonly count: number
  readonly palette: string
  readonly isReversed: boolean
  readonly starts: readonly number[]
}

/** Classes of a column of numbers over all rows. */
export async function classify(
  ref: string,
  of: { readonly table: string; readonly property: string },
  how: ClassWish,
): Promise<Coloring & { readonly by: 'number' }> {
  const { table, property } = of
  const { method, count, palette, isReversed, starts: entered } = how
  const told = await readDistribution(ref, table, property)
  const starts = method === 'manual' ? [...entered] : breaksOf(method, count, told)
  const { counts } = starts.length === 0 ? told : await readDistribution(ref, table, property, starts)
  const { high, missing } = told
  return { by: 'number', property, method, palette, isReversed, starts, high: high ?? 0, rows: counts, missing }
}

export function readDistribution(
  ref: string,
  table: string,
  property: string,
  breaks?: readonly number[],
): Promise<Distribution> {
  const dot = table.indexOf('.')
  const args = { p_schema: table.slice(0, dot), p_table: table.slice(dot + 1), p_column: property }
  return request('POST', projectPath(ref, '/rest/v1/rpc/number_classes'), {
    ...args,
    ...(breaks && { p_breaks: breaks }),
  })
}

function geometryOf(type: string): VectorLayer['geometry'] {
  if (/point/i.test(type)) return 'point'
  if (/line|string|curve$/i.test(type) && !/polygon/i.test(type)) return 'line'
  return /polygon|surface/i.test(type) ? 'area' : 'mixed'
}
