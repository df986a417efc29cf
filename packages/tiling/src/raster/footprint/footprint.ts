import type { Affine, RasterCrs } from '../raster-info.ts'

/** `[longitude, latitude]` in degrees, WGS 84. */
export type Position = readonly [number, number]

/** A part of a raster in pixels. */
export interface PixelRect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Closed counter-clockwise rings: one polygon, or two where the antimeridian cuts the area. No holes. */
export interface Footprint {
  readonly polygons: readonly (readonly Position[])[]
}

/**
 * The outline of a pixel rectangle in EPSG:4326.
 *
 * @throws OUTSIDE_CRS
 */
export function footprint(_crs: RasterCrs, _affine: Affine, _rect: PixelRect): Footprint {
  throw new Error('pending')
}
