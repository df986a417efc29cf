import type { Map as MapLibreMap } from 'maplibre-gl'
import { get, projectPath } from '../lib/api.ts'
import type { Box } from './graticule.ts'

/** Metadata of the raster that an embeddings table was made from. */
export interface Imagery {
  readonly geographic_bounds: Box
  readonly minzoom: number
  readonly maxzoom: number
}

const SOURCE = 'imagery'

/** Metadata of the source of a table. The origin refuses it when the source no longer exists. */
export function readImagery(ref: string, table: string, signal?: AbortSignal): Promise<Imagery> {
  return get(rasterPath(ref, 'info', table), signal)
}

/** URL of a thumbnail of a part of a table's source. */
export function thumbnailOf(ref: string, table: string, box: Box, side: number): string {
  return rasterPath(ref, `bbox/${box.map((degrees) => degrees.toFixed(7)).join(',')}/${side}x${side}.webp`, table)
}

/** The image from which the tiles of a table were made. */
export interface TableImagery {
  readonly ref: string
  readonly table: string
  readonly imagery: Imagery
}

/** Draws the image of a table beneath a layer, or removes it. */
export function showImagery(map: MapLibreMap, image: TableImagery | null, beneath: string): void {
  if (map.getLayer(SOURCE)) map.removeLayer(SOURCE)
  if (map.getSource(SOURCE)) map.removeSource(SOURCE)
  if (image === null) return
  const { ref, table, imagery } = image
  const [west, south, east, north] = imagery.geographic_bounds
  map.addSource(SOURCE, {
    type: 'raster',
    tiles: [`${location.origin}${rasterPath(ref, 'tiles/WebMercatorQuad/{z}/{x}/{y}{ratio}.webp', table)}`],
    tileSize: 256,
    minzoom: Math.max(0, imagery.minzoom - 2),
    maxzoom: imagery.maxzoom,
    bounds: west <= east ? [west, south, east, north] : [-180, south, 180, north],
  })
  map.addLayer({ id: SOURCE, type: 'raster', source: SOURCE, paint: { 'raster-fade-duration': 120 } }, beneath)
}

function rasterPath(ref: string, rest: string, table: string): string {
  return projectPath(ref, `/raster/v1/${rest}?url=${encodeURIComponent(`embeddings://${table}`)}`)
}
