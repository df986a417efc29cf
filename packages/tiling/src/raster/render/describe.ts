import { TerraneError } from '@terrane/core'
import { datumNotices } from '../inspect.ts'
import type { Notice } from '../inspect.ts'
import { layerBounds } from './area-view.ts'
import type { RasterRenderer, RasterSummary } from './renderer.ts'

/** Description of a raster, as plain data. */
export interface RasterDescription extends RasterSummary {
  readonly width: number
  readonly height: number
  readonly bytes: number
  readonly dtype: string
  readonly crsName: string
  /** West, south, east, north in the raster's own CRS; of a mosaic as a whole. */
  readonly ownBounds: readonly [number, number, number, number]
  readonly compression: string
  readonly nodata: number | null
  readonly nodataType: 'Alpha' | 'Mask' | 'Nodata' | 'None'
  readonly bands: readonly {
    /** Description of the band; null without one. */
    readonly name: string | null
    readonly color: string
    readonly scale: number
    readonly offset: number
  }[]
  /** Reduction factor of each overview. */
  readonly overviews: readonly number[]
  readonly palette: boolean
  readonly defaultBands: readonly number[]
  /**
   * Displayed range of stored values of each default band, as for `rescale` of a request. Empty without a valid pixel.
   */
  readonly limits: readonly (readonly [number, number])[]
  readonly warnings: readonly Notice[]
}

/** @throws CORRUPT_TILE */
export async function describeRaster(renderer: RasterRenderer): Promise<RasterDescription> {
  const { raster, bounds, minzoom, maxzoom, epsg, defaultBands } = renderer
  const { width, height } = raster
  return {
    bounds,
    minzoom,
    maxzoom,
    epsg,
    width,
    height,
    bytes: raster.bytes,
    dtype: raster.sampleType,
    crsName: renderer.crsName,
    ownBounds: layerBounds(renderer.layer),
    compression: raster.compression,
    nodata: raster.nodata,
    nodataType: raster.alphaBand !== null ? 'Alpha' : raster.mask ? 'Mask' : raster.nodata !== null ? 'Nodata' : 'None',
    bands: raster.bands.map(({ name, color, scale, offset }) => ({ name, color, scale, offset })),
    overviews: raster.overviews.map((overview) => Math.round(width / overview.width)),
    palette: raster.palette !== null,
    defaultBands,
    limits: await renderer.limits(defaultBands).catch(noneWhenEmpty),
    warnings: datumNotices(renderer.layer.crs),
  }
}

function noneWhenEmpty(error: unknown): readonly [] {
  if (error instanceof TerraneError && error.code === 'NO_VALID_PIXELS') return []
  throw error
}
