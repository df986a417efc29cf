import { EdgeBands, type BoxRelation, type Ring } from './edge-bands.ts'

/** West, south, east, north in degrees. */
export type Bbox = readonly [west: number, south: number, east: number, north: number]

const EARTH_RADIUS_KM = 6371.0088

/** Polygons in degrees, with exact tests, border included. One over the antimeridian is stored at both sides. */
export class Aoi {
  /** The given polygons, each an outer ring and its holes; over the antimeridian they extend beyond ±180. */
  readonly given: readonly (readonly Ring[])[]
  /** The given polygons; one over the antimeridian has a copy that is shifted by 360 degrees. */
  readonly polygons: readonly (readonly Ring[])[]
  /** One box per polygon, within -180 .. 180. */
  readonly boxes: readonly Bbox[]
  /** Number of positions in all given rings. */
  readonly vertices: number
  /** Area on the sphere. */
  readonly areaKm2: number
  readonly #bands: readonly EdgeBands[]

  constructor(polygons: readonly (readonly Ring[])[]) {
    this.given = polygons
    this.vertices = polygons.flat().reduce((sum, ring) => sum + ring.length / 2, 0)
    this.areaKm2 = polygons.reduce((sum, rings) => sum + polygonKm2(rings), 0)
    this.polygons = polygons.flatMap(withCopies)
    this.#bands = this.polygons.map((rings) => new EdgeBands(rings))
    this.boxes = this.#bands.map(({ west, south, east, north }): Bbox => {
      return [Math.max(west, -180), south, Math.min(east, 180), north]
    })
  }

  /** True for a point within the area or on its border. */
  containsPoint(lng: number, lat: number): boolean {
    for (const bands of this.#bands) if (bands.contains(lng, lat)) return true
    return false
  }

  /** Relation of a box in degrees to the area: `crossing` when it is partly inside. */
  relateBox(west: number, south: number, east: number, north: number): BoxRelation {
    let relation: BoxRelation = 'outside'
    for (const bands of this.#bands) {
      const found = bands.relateBox(west, south, east, north)
      if (found === 'inside') return found
      if (found === 'crossing') relation = found
    }
    return relation
  }

  /** True when a segment has a point in common with the area. */
  touchesSegment(lng0: number, lat0: number, lng1: number, lat1: number): boolean {
    for (const bands of this.#bands) {
      if (bands.crosses(lng0, lat0, lng1, lat1) || bands.contains(lng0, lat0)) return true
    }
    return false
  }

  /** True when this area contains all of another one and their borders have no point in common. */
  contains(other: Aoi): boolean {
    for (const ring of other.polygons.flat()) {
      for (let i = 2; i < ring.length; i += 2) {
        // Each copy of a polygon over the antimeridian counts on its own side.
        const lng0 = withinEarth(ring[i - 2]!)
        const lng1 = withinEarth(ring[i]!)
        if (lng0 === lng1 && lng1 !== ring[i]) continue
        const slope = (ring[i + 1]! - ring[i - 1]!) / (ring[i]! - ring[i - 2]! || 1)
        const lat0 = ring[i - 1]! + (lng0 - ring[i - 2]!) * slope
        const lat1 = ring[i + 1]! + (lng1 - ring[i]!) * slope
        if (!this.containsPoint(lng1, lat1) || this.#crossesBorder(lng0, lat0, lng1, lat1)) return false
      }
    }
    // No borders cross, so a hole of this polygon lies completely inside or outside of the other.
    const holes = this.polygons.flatMap((rings) => rings.slice(1))
    return !holes.some((hole) => other.containsPoint(hole[0]!, hole[1]!))
  }

  /** One border point per polygon, for containment tests between areas whose borders do not touch. */
  *borderPoints(): Generator<readonly [lng: number, lat: number]> {
    for (const [outer] of this.polygons) if (outer) yield [outer[0]!, outer[1]!]
  }

  #crossesBorder(lng0: number, lat0: number, lng1: number, lat1: number): boolean {
    return this.#bands.some((bands) => bands.crosses(lng0, lat0, lng1, lat1))
  }

  /** The area as a GeoJSON geometry, with both copies of a polygon over the antimeridian. */
  toGeoJson(): { type: 'MultiPolygon'; coordinates: number[][][][] } {
    return { type: 'MultiPolygon', coordinates: this.polygons.map((rings) => rings.map(positions)) }
  }
}

/** Area of a polygon on the sphere, exact for edges that follow the parallels as drawn in degrees of sine. */
export function polygonKm2(rings: readonly Ring[]): number {
  let total = 0
  for (const [i, ring] of rings.entries()) {
    let sum = 0
    for (let at = 2; at < ring.length; at += 2) {
      const turn = radians(ring[at]! - ring[at - 2]!)
      sum += turn * (2 + Math.sin(radians(ring[at - 1]!)) + Math.sin(radians(ring[at + 1]!)))
    }
    const area = Math.abs(sum / 2) * EARTH_RADIUS_KM ** 2
    total += i === 0 ? area : -area
  }
  return total
}

function withCopies(rings: readonly Ring[]): (readonly Ring[])[] {
  const lngs = rings[0]!.filter((_, i) => i % 2 === 0)
  const copies = [rings]
  if (lngs.some((lng) => lng > 180)) copies.push(rings.map((ring) => shifted(ring, -360)))
  if (lngs.some((lng) => lng < -180)) copies.push(rings.map((ring) => shifted(ring, 360)))
  return copies
}

/** A ring moved along the parallels. */
export function shifted(ring: Ring, degrees: number): Ring {
  return ring.map((value, i) => (i % 2 === 0 ? value + degrees : value))
}

/** A longitude, limited to just within ±180 degrees. */
function withinEarth(lng: number): number {
  return Math.max(-180 + 1e-9, Math.min(lng, 180 - 1e-9))
}

function positions(ring: Ring): number[][] {
  return Array.from({ length: ring.length / 2 }, (_, i) => [ring[2 * i]!, ring[2 * i + 1]!])
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}
