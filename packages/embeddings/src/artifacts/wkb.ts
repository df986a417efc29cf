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
  const single = polygons.length === 1
  const bytes = new Uint8Array((single ? 0 : 9) + polygons.reduce((sum, polygon) => sum + sizeOf(polygon), 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  const header = (type: number, count: number): void => {
    view.setUint8(at, 1)
    view.setUint32(at + 1, type, true)
    view.setUint32(at + 5, count, true)
    at += 9
  }
  if (!single) header(6, polygons.length)
  for (const polygon of polygons) {
    header(3, polygon.length)
    for (const [i, ring] of polygon.entries()) {
      view.setUint32(at, ring.length, true)
      at += 4
      const backwards = signedArea(ring) > 0 !== (i === 0)
      for (let p = 0; p < ring.length; p++) {
        const [x, y] = ring[backwards ? ring.length - 1 - p : p]!
        view.setFloat64(at, x, true)
        view.setFloat64(at + 8, y, true)
        at += 16
      }
    }
  }
  return bytes
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

function sizeOf(polygon: Polygon): number {
  return polygon.reduce((sum, ring) => sum + 4 + ring.length * 16, 9)
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
