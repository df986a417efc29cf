import { isPlainLngLat } from '../crs/catalogue.ts'
import { converterOf } from '../crs/converter.ts'
import type { Affine, RasterCrs } from '../raster-info.ts'
import { MERCATOR_EDGE } from './view.ts'
import type { View } from './view.ts'

/** Size and georeference of a raster. */
export interface Georeference {
  readonly width: number
  readonly height: number
  readonly affine: Affine
  readonly crs: RasterCrs
}

/** Writes the position of a view's pixel in the raster, in pixels of its full resolution, to `out`; NaN outside. */
export type ToSource = (column: number, row: number, out: Float64Array, at: number) => void

const DEGREES = 180 / Math.PI

/** Exact conversion of a view's positions to positions of the raster. */
export function toSource(view: View, place: Georeference): ToSource {
  const { left, top, pixelWidth, pixelHeight, grid = place.affine } = view
  const [x0, xc, xr, y0, yc, yr] = place.affine
  if (view.plane === 'raster' && grid.every((value, i) => value === place.affine[i])) {
    return (column, row, out, at) => {
      out[at] = left + column * pixelWidth
      out[at + 1] = top + row * pixelHeight
    }
  }
  const determinant = xc * yr - xr * yc
  const write: Write = (x, y, out, at) => {
    out[at] = ((x - x0) * yr - (y - y0) * xr) / determinant
    out[at + 1] = ((y - y0) * xc - (x - x0) * yc) / determinant
  }
  if (view.plane === 'raster') {
    const [gx, gxc, gxr, gy, gyc, gyr] = grid
    return (column, row, out, at) => {
      const [x, y] = [left + column * pixelWidth, top + row * pixelHeight]
      write(gx + x * gxc + y * gxr, gy + x * gyc + y * gyr, out, at)
    }
  }
  if (view.plane === 'mercator' && place.crs.epsg === 3857) {
    return (column, row, out, at) => write(left + column * pixelWidth, top - row * pixelHeight, out, at)
  }
  if (view.plane === 'crs' && view.crs) return fromCrs(view, view.crs, place, write)
  const isPlain = view.plane === 'lnglat'
  const lngOf = (column: number): number => (left + column * pixelWidth) * (isPlain ? 1 : 180 / MERCATOR_EDGE)
  const latOf = (row: number): number => {
    const y = top - row * pixelHeight
    return isPlain ? y : (2 * Math.atan(Math.exp((y / MERCATOR_EDGE) * Math.PI)) - Math.PI / 2) * DEGREES
  }
  if (isPlainLngLat(place.crs)) {
    const west = westOf(place)
    return (column, row, out, at) => {
      const lng = lngOf(column)
      write(lng - 360 * Math.floor((lng - west) / 360), latOf(row), out, at)
    }
  }
  const { forward } = converterOf(place.crs.definition)
  return (column, row, out, at) => {
    const [x, y] = forward([lngOf(column), latOf(row)])
    write(x, y, out, at)
  }
}

type Write = (x: number, y: number, out: Float64Array, at: number) => void

/** Conversion for views in a CRS. @param write turns coordinates of the raster's CRS into pixels */
function fromCrs(
  { left, top, pixelWidth, pixelHeight }: View,
  crs: RasterCrs,
  place: Georeference,
  write: Write,
): ToSource {
  if (crs.definition === place.crs.definition) {
    return (column, row, out, at) => write(left + column * pixelWidth, top - row * pixelHeight, out, at)
  }
  const { inverse } = converterOf(crs.definition)
  const { forward } = converterOf(place.crs.definition)
  const west = isPlainLngLat(place.crs) ? westOf(place) : null
  return (column, row, out, at) => {
    const [x, y] = forward(inverse([left + column * pixelWidth, top - row * pixelHeight]))
    write(west === null ? x : x - 360 * Math.floor((x - west) / 360), y, out, at)
  }
}

/**
 * Longitude in degrees from which a view's longitudes are counted: the lowest one of the raster, minus half of the
 * longitudes that it does not cover.
 */
function westOf({ affine: [x0, xc, xr], width, height }: Georeference): number {
  const corners = [x0, x0 + width * xc, x0 + height * xr, x0 + width * xc + height * xr]
  const span = Math.max(...corners) - Math.min(...corners)
  return Math.min(...corners) - Math.max(0, (360 - span) / 2)
}
