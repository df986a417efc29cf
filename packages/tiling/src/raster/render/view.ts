/** What is drawn: a grid of square or oblong pixels in a plane. Row 0 is the upper one. */
export interface View {
  readonly width: number
  readonly height: number
  /** `mercator`: meters of EPSG:3857. `raster`: the raster's own pixels, so that nothing is reprojected. */
  readonly plane: 'mercator' | 'raster'
  /** Upper left corner, and the size of a pixel, in the plane's unit; y runs up in `mercator` and down in `raster`. */
  readonly left: number
  readonly top: number
  readonly pixelWidth: number
  readonly pixelHeight: number
}

/** Half the side of the Web Mercator square, in meters. */
export const MERCATOR_EDGE = Math.PI * 6_378_137

/**
 * The view of a tile of the WebMercatorQuad.
 *
 * @param buffer pixels added on each side
 */
export function tileView(z: number, x: number, y: number, size: number, buffer = 0): View {
  const span = (2 * MERCATOR_EDGE) / 2 ** z
  const pixel = span / size
  return {
    width: size + 2 * buffer,
    height: size + 2 * buffer,
    plane: 'mercator',
    left: -MERCATOR_EDGE + x * span - buffer * pixel,
    top: MERCATOR_EDGE - y * span + buffer * pixel,
    pixelWidth: pixel,
    pixelHeight: pixel,
  }
}

/** The view of a box of longitudes and latitudes, west, south, east and north in degrees. */
export function boxView(box: readonly [number, number, number, number], width: number, height: number): View {
  const [west, south, east, north] = box
  return {
    width,
    height,
    plane: 'mercator',
    left: xOf(west),
    top: yOf(north),
    pixelWidth: (xOf(east) - xOf(west)) / width,
    pixelHeight: (yOf(north) - yOf(south)) / height,
  }
}

/** The whole of a raster in its own plane, brought to a size. */
export function wholeView(
  raster: { readonly width: number; readonly height: number },
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
