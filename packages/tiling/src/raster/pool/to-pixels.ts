import { isPlainLngLat } from '../crs/catalogue.ts'
import { converterOf } from '../crs/converter.ts'
import type { Affine, RasterCrs } from '../raster-info.ts'
import type { PixelRing } from './zones.ts'

/**
 * Maximum length of an edge in degrees; longer edges get further positions, because lines that are straight in degrees
 * may be curved in a projection.
 */
const STEP_DEGREES = 0.02

/** Offsets in degrees at which an area within ±180 degrees may overlap a geographic raster. */
const TURNS = [-360, 0, 360]

/**
 * Rings of an area in longitude and latitude as rings in pixels of a raster; empty when a position cannot be projected.
 * Rings lie within ±180 degrees; for a raster in degrees, which may extend beyond, each ring is repeated.
 */
export function toPixels(crs: RasterCrs, affine: Affine): (rings: readonly Float64Array[]) => PixelRing[] {
  const isDegrees = crs.definition.includes('+proj=longlat')
  const forward = isPlainLngLat(crs) ? null : converterOf(crs.definition).forward
  return (rings) => {
    const placed = rings.flatMap((ring) => {
      const positions = project(isDegrees ? ring : densify(ring), forward)
      // A datum change may move a position across the antimeridian.
      if (isDegrees)
        for (let i = 0; i < ring.length; i += 2) positions[i]! -= 360 * Math.round((positions[i]! - ring[i]!) / 360)
      return (isDegrees ? TURNS : [0]).map((turn) => inPixels(positions, turn, affine))
    })
    return placed.every((ring) => ring.every(Number.isFinite)) ? placed : []
  }
}

function project(ring: Float64Array, forward: ReturnType<typeof converterOf>['forward'] | null): Float64Array {
  if (forward === null) return ring.slice()
  const positions = new Float64Array(ring.length)
  for (let i = 0; i < ring.length; i += 2) positions.set(forward([ring[i]!, ring[i + 1]!]), i)
  return positions
}

function inPixels(positions: Float64Array, turn: number, [x0, xc, xr, y0, yc, yr]: Affine): PixelRing {
  const determinant = xc * yr - xr * yc
  const pixels = new Float64Array(positions.length)
  for (let i = 0; i < positions.length; i += 2) {
    const x = positions[i]! + turn - x0
    const y = positions[i + 1]! - y0
    pixels[i] = (x * yr - y * xr) / determinant
    pixels[i + 1] = (y * xc - x * yc) / determinant
  }
  return pixels
}

function densify(ring: Float64Array): Float64Array {
  const dense: number[] = []
  for (let i = 0; i < ring.length; i += 2) {
    const next = (i + 2) % ring.length
    const [dx, dy] = [ring[next]! - ring[i]!, ring[next + 1]! - ring[i + 1]!]
    const span = Math.max(Math.abs(dx), Math.abs(dy))
    const steps = Number.isFinite(span) ? Math.max(1, Math.ceil(span / STEP_DEGREES)) : 1
    for (let k = 0; k < steps; k++) dense.push(ring[i]! + (dx * k) / steps, ring[i + 1]! + (dy * k) / steps)
  }
  return Float64Array.from(dense)
}
