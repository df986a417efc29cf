import { isPlainLngLat } from '../crs/catalogue.ts'
import { converterOf } from '../crs/converter.ts'
import type { Affine, RasterCrs } from '../raster-info.ts'
import type { PixelRing } from './zones.ts'

/** Degrees after which an edge gets a further position: straight in degrees is not straight in a projection. */
const STEP_DEGREES = 0.02

/**
 * Rings in longitude and latitude as rings in pixels of a raster.
 *
 * @param middle longitude of the raster's middle: longitudes are turned to lie around it
 */
export function toPixels(crs: RasterCrs, affine: Affine, middle: number): (ring: Float64Array) => PixelRing {
  const [x0, xc, xr, y0, yc, yr] = affine
  const determinant = xc * yr - xr * yc
  const isDegrees = isPlainLngLat(crs)
  const { forward } = isDegrees ? { forward: null } : converterOf(crs.definition)
  return (ring) => {
    const dense = isDegrees ? ring : densify(ring)
    const pixels = new Float64Array(dense.length)
    for (let i = 0; i < dense.length; i += 2) {
      const turned = dense[i]! - 360 * Math.round((dense[i]! - middle) / 360)
      const [x, y] = forward ? forward([turned, dense[i + 1]!]) : [turned, dense[i + 1]!]
      pixels[i] = ((x - x0) * yr - (y - y0) * xr) / determinant
      pixels[i + 1] = ((y - y0) * xc - (x - x0) * yc) / determinant
    }
    return pixels.every(Number.isFinite) ? pixels : new Float64Array()
  }
}

function densify(ring: Float64Array): Float64Array {
  const dense: number[] = []
  for (let i = 0; i < ring.length; i += 2) {
    const next = (i + 2) % ring.length
    const [dx, dy] = [ring[next]! - ring[i]!, ring[next + 1]! - ring[i + 1]!]
    const steps = Math.abs(dx) > 180 ? 1 : Math.max(1, Math.ceil(Math.max(Math.abs(dx), Math.abs(dy)) / STEP_DEGREES))
    for (let k = 0; k < steps; k++) dense.push(ring[i]! + (dx * k) / steps, ring[i + 1]! + (dy * k) / steps)
  }
  return Float64Array.from(dense)
}
