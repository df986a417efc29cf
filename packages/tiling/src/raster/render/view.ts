import { valuesTooMany } from './errors.ts'
import type { Affine, RasterCrs } from '../raster-info.ts'

/** Pixel grid of a picture: square or oblong pixels in a plane. Row 0 is at the top. */
export interface View {
  readonly width: number
  readonly height: number
  /**
   * `mercator`: meters of EPSG:3857. `lnglat`: degrees. `crs`: units of `crs`. `raster`: pixels of a raster, without
   * reprojection.
   */
  readonly plane: 'mercator' | 'lnglat' | 'crs' | 'raster'
  /** The CRS of the plane `crs`. */
  readonly crs?: RasterCrs
  /** Upper left corner, and the size of a pixel, in the plane's unit; y runs down in `raster`, else up. */
  readonly left: number
  readonly top: number
  readonly pixelWidth: number
  readonly pixelHeight: number
  /** For the plane `raster`: the transform of its pixels, to read rasters with another grid in the same CRS. */
  readonly grid?: Affine
}

/** Half the side of the Web Mercator square, in meters. */
export const MERCATOR_EDGE = Math.PI * 6_378_137

/**
 * Sets of tiles, by their names in OGC's registry and in morecantile. At zoom 0, those in `lnglat` have two tiles; Web
 * Mercator has one.
 */
export const TILE_SETS = {
  WebMercatorQuad: {
    plane: 'mercator',
    left: -MERCATOR_EDGE,
    top: MERCATOR_EDGE,
    side: 2 * MERCATOR_EDGE,
    columns: 1,
    rows: 1,
  },
  WorldCRS84Quad: { plane: 'lnglat', left: -180, top: 90, side: 180, columns: 2, rows: 1 },
  WGS1984Quad: { plane: 'lnglat', left: -180, top: 90, side: 180, columns: 2, rows: 1 },
} as const

export type TileSet = keyof typeof TILE_SETS

/**
 * The view of a tile.
 *
 * @param buffer pixels added on each side
 */
export function tileView(
  z: number,
  x: number,
  y: number,
  size: number,
  buffer = 0,
  set: TileSet = 'WebMercatorQuad',
): View {
  const { plane, left, top, side } = TILE_SETS[set]
  const span = side / 2 ** z
  const pixel = span / size
  return {
    width: size + 2 * buffer,
    height: size + 2 * buffer,
    plane,
    left: left + x * span - buffer * pixel,
    top: top - y * span + buffer * pixel,
    pixelWidth: pixel,
    pixelHeight: pixel,
  }
}

/** A view of one pixel around a position, small enough to use the full resolution. */
export function pointView([lng, lat]: readonly [number, number]): View {
  const half = 1e-10
  return {
    width: 1,
    height: 1,
    plane: 'lnglat',
    left: lng - half,
    top: lat + half,
    pixelWidth: 2 * half,
    pixelHeight: 2 * half,
  }
}

/** The whole of a raster in its own plane, scaled to a size. */
export function wholeView(
  raster: { readonly width: number; readonly height: number; readonly affine?: Affine | null },
  width: number,
  height: number,
): View {
  return {
    width,
    height,
    plane: 'raster',
    left: 0,
    top: 0,
    pixelWidth: raster.width / width,
    pixelHeight: raster.height / height,
    ...(raster.affine && { grid: raster.affine }),
  }
}

/** Width and height of a picture in pixels; null for a side that follows from the other one. */
export type WantedSize = readonly [number | null, number | null]

/** A size in the proportions of a raster, whose missing side is rounded up. @throws PICTURE_TOO_LARGE */
export function fullSize(
  { width, height }: { readonly width: number; readonly height: number },
  [wantedWidth, wantedHeight]: WantedSize,
): readonly [number, number] {
  const columns = wantedWidth ?? wholePixels(((wantedHeight as number) * width) / height)
  const rows = wantedHeight ?? wholePixels((columns * height) / width)
  if (Math.max(columns, rows) > MAX_SIDE) throw valuesTooMany({ values: columns * rows, limit: MAX_SIDE * MAX_SIDE })
  return [columns, rows]
}

/** The largest size within `maxSize` on both sides that keeps a raster's proportions, and never enlarges it. */
export function fittedSize(
  raster: { readonly width: number; readonly height: number },
  maxSize: number,
): readonly [number, number] {
  if (Math.max(raster.width, raster.height) <= maxSize) return [raster.width, raster.height]
  return fullSize(raster, raster.width >= raster.height ? [maxSize, null] : [null, maxSize])
}

/** Longest side of a picture in pixels. */
const MAX_SIDE = 2048

/** Fractions of a pixel up to this are rounding errors. */
const ROUNDING = 1e-6

function wholePixels(side: number): number {
  return Math.max(1, Math.ceil(side - ROUNDING))
}
