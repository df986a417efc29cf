import type { Affine } from '../raster-info.ts'

/** Grid of a picture: square or oblong pixels in a plane. Row 0 is the upper one. */
export interface View {
  readonly width: number
  readonly height: number
  /** `mercator`: meters of EPSG:3857. `lnglat`: degrees. `raster`: pixels of a raster, without reprojection. */
  readonly plane: 'mercator' | 'lnglat' | 'raster'
  /** Upper left corner, and the size of a pixel, in the plane's unit; y runs down in `raster`, else up. */
  readonly left: number
  readonly top: number
  readonly pixelWidth: number
  readonly pixelHeight: number
  /** In the plane `raster`: the transform of the pixels meant, for rasters of another grid in the same CRS. */
  readonly grid?: Affine
}

/** Half the side of the Web Mercator square, in meters. */
export const MERCATOR_EDGE = Math.PI * 6_378_137

/** Sets of tiles, by their names in OGC's registry and in morecantile; `lnglat` ones have two tiles, or the world in one, at zoom 0. */
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

/** The view of a box in its proportions in a plane. */
export function fittedBoxView(
  box: readonly [number, number, number, number],
  maxSize: number,
  plane: 'mercator' | 'lnglat' = 'mercator',
): View {
  const { pixelWidth, pixelHeight } = boxView(box, 1, 1, plane)
  const pixel = Math.max(pixelWidth, pixelHeight) / maxSize
  return boxView(box, Math.max(1, Math.round(pixelWidth / pixel)), Math.max(1, Math.round(pixelHeight / pixel)), plane)
}

/** A view of one pixel around a place, so small that it uses the full resolution. */
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

/** The view of a box of longitudes and latitudes, west, south, east and north in degrees. */
export function boxView(
  box: readonly [number, number, number, number],
  width: number,
  height: number,
  plane: 'mercator' | 'lnglat' = 'mercator',
): View {
  const [west, south, east, north] = plane === 'lnglat' ? box : [xOf(box[0]), yOf(box[1]), xOf(box[2]), yOf(box[3])]
  const [pixelWidth, pixelHeight] = [(east - west) / width, (north - south) / height]
  return { width, height, plane, left: west, top: north, pixelWidth, pixelHeight }
}

/** The whole of a raster in its own plane, brought to a size. */
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

/** The largest size within `maxSize` on both sides that keeps a raster's proportions, and never enlarges it. */
export function fittedSize(
  { width, height }: { readonly width: number; readonly height: number },
  maxSize: number,
): readonly [number, number] {
  const factor = Math.min(1, maxSize / Math.max(width, height))
  return [Math.max(1, Math.round(width * factor)), Math.max(1, Math.round(height * factor))]
}

function xOf(lng: number): number {
  return (lng / 180) * MERCATOR_EDGE
}

function yOf(lat: number): number {
  return Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) * (MERCATOR_EDGE / Math.PI)
}
