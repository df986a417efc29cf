import type { InspectedRaster, RasterInfo, Scale, TilePlan } from '@terrane/tiling/raster'

import type { ModelManifest } from '../models/manifest.ts'
import type { GeoTiffReaderOptions } from './geotiff-reader.ts'
import type { TileSource } from './tile-source.ts'

export interface GeoTiffTiles {
  /** The file; every inference thread opens it by itself. */
  readonly path: string
  /** The checked raster. */
  readonly inspected: InspectedRaster
  readonly scale: Scale
  /** The model that the tiles are for: it sets their normalisation and size. */
  readonly manifest: ModelManifest
}

/** The tiles of a GeoTIFF file as tensors for a model. */
export function geoTiffTiles({ path, inspected, scale, manifest }: GeoTiffTiles): TileSource {
  const { raster, plan, bands } = inspected
  const { mean, std, size } = manifest.input
  const options: GeoTiffReaderOptions = { path, raster, plan, bands, scale, mean, std, ...(size && { size }) }
  return {
    module: new URL('./geotiff-reader.ts', import.meta.url).href,
    options,
    count: plan.count,
    bandTiles: tilesPerBand(plan, raster),
  }
}

/**
 * Number of consecutive tiles that share blocks: 1 when every block belongs to one tile, else all tiles in the rows
 * that a row of blocks touches.
 */
function tilesPerBand(plan: TilePlan, { blockWidth, blockHeight }: RasterInfo): number {
  const { tileSize, stride, originX, originY, columns } = plan
  const apart = (block: number, origin: number): boolean =>
    [tileSize, stride, origin].every((step) => step % block === 0)
  if (apart(blockWidth, originX) && apart(blockHeight, originY)) return 1
  return columns * Math.max(1, Math.ceil(blockHeight / stride))
}
