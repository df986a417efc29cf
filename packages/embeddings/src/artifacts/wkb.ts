import { WkbWriter } from '@terrane/core'

const writer = new WkbWriter('xy')

/** `[longitude, latitude]` in degrees. */
export type Position = readonly [number, number]

/** Rings of a polygon: the outer one, then holes; each closed. */
export type Polygon = readonly (readonly Position[])[]

/** West, south, east, north. */
export type BoundingBox = readonly [number, number, number, number]

/**
 * Well-known binary of one polygon, or of a multi-polygon when there are several; little-endian. Outer rings become
 * counter-clockwise and holes clockwise, as GeoParquet's `orientation` promises.
 */
export function encodeWkb(polygons: readonly Polygon[]): Uint8Array {
  if (polygons.length !== 1) {
    writer.head(6)
    writer.count(polygons.length)
  }
  for (const polygon of polygons) {
    writer.head(3)
    writer.count(polygon.length)
    for (const [i, ring] of polygon.entries()) {
      writer.count(ring.length)
      const backwards = signedArea(ring) > 0 !== (i === 0)
      for (let p = 0; p < ring.length; p++) writer.position(ring[backwards ? ring.length - 1 - p : p]!)
    }
  }
  return writer.take()
}

/** The smallest box around all outer rings. */
export function boundsOf(polygons: readonly Polygon[]): BoundingBox {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [outer] of polygons) {
    for (const [x, y] of outer ?? []) {
      west = Math.min(west, x)
      south = Math.min(south, y)
      east = Math.max(east, x)
      north = Math.max(north, y)
    }
  }
  return [west, south, east, north]
}

/** Twice the area; positive when counter-clockwise. */
function signedArea(ring: readonly Position[]): number {
  let sum = 0
  for (let i = 1; i < ring.length; i++) {
    const [x0, y0] = ring[i - 1]!
    const [x1, y1] = ring[i]!
    sum += x0 * y1 - x1 * y0
  }
  return sum
}
