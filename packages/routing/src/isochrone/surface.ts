import Delaunator from 'delaunator'

import { extentOf, type Samples } from './samples.ts'

/** Metres of a degree of latitude. */
const METERS_PER_DEGREE = 111_195
/** Width of the frame around all samples, as a share of their extent and at least in metres, and points on each side of it. */
const FRAME_SHARE = 0.05
const FRAME_METERS = 400
const FRAME_POINTS = 16
/** Metres that an area reaches beyond a street where there is none beside it, at least and at most. */
const LEAST_REACH = 30
const MOST_REACH = 130
/** Crossings keep so much of an edge's length away from its ends. */
const LEAST_SHARE = 0.01

/** A ring of points in metres from the middle of a surface, its first point not repeated. */
export interface Ring {
  readonly x: number[]
  readonly y: number[]
}

/**
 * A surface over samples: linear on the triangles of Delaunay, within a frame that nobody reaches. Lines of one height on
 * it are rings that do not cross, and those of a lower height lie within those of a higher one.
 */
export class Surface {
  readonly middle: { readonly lon: number; readonly lat: number }
  readonly metersPerLon: number
  readonly metersPerLat = METERS_PER_DEGREE
  readonly #x: Float64Array
  readonly #y: Float64Array
  readonly #triangles: Uint32Array
  readonly #halfedges: Int32Array

  constructor({ lon, lat }: Pick<Samples, 'lon' | 'lat'>) {
    const [west, east] = extentOf(lon)
    const [south, north] = extentOf(lat)
    this.middle = { lon: (west + east) / 2, lat: (south + north) / 2 }
    this.metersPerLon = METERS_PER_DEGREE * Math.cos((this.middle.lat * Math.PI) / 180)
    const right = ((east - west) / 2) * this.metersPerLon
    const top = ((north - south) / 2) * METERS_PER_DEGREE
    const margin = Math.max(FRAME_METERS, FRAME_SHARE * 2 * Math.max(right, top))
    const points = lon.length + 4 * FRAME_POINTS
    this.#x = new Float64Array(points)
    this.#y = new Float64Array(points)
    for (let i = 0; i < lon.length; i++) {
      this.#x[i] = (lon[i]! - this.middle.lon) * this.metersPerLon
      this.#y[i] = (lat[i]! - this.middle.lat) * METERS_PER_DEGREE
    }
    for (let i = 0; i < 4 * FRAME_POINTS; i++) {
      const [x, y] = frameAt(Math.floor(i / FRAME_POINTS), (i % FRAME_POINTS) / FRAME_POINTS)
      this.#x[lon.length + i] = x * (right + margin)
      this.#y[lon.length + i] = y * (top + margin)
    }
    const coordinates = new Float64Array(2 * points)
    for (let i = 0; i < points; i++) {
      coordinates[2 * i] = this.#x[i]!
      coordinates[2 * i + 1] = this.#y[i]!
    }
    const { triangles, halfedges } = new Delaunator(coordinates)
    this.#triangles = triangles
    this.#halfedges = halfedges
  }

  /** The rings around all that is at most so high. Outer rings turn one way, holes the other. */
  rings(height: ArrayLike<number>, level: number): Ring[] {
    const triangles = this.#triangles
    const heightOf = (point: number): number => (point < height.length ? height[point]! : Infinity)
    const leaves = (half: number): boolean =>
      heightOf(triangles[half]!) <= level && heightOf(triangles[nextHalf(half)]!) > level
    const done = new Uint8Array(triangles.length)
    const rings: Ring[] = []
    for (let first = 0; first < triangles.length; first++) {
      if (done[first] === 1 || !leaves(first)) continue
      const ring: Ring = { x: [], y: [] }
      for (let half = first; done[half] === 0;) {
        done[half] = 1
        this.#cross(triangles[half]!, triangles[nextHalf(half)]!, heightOf, level, ring)
        // The ring leaves the triangle over the edge on which one comes back in, and goes on in the triangle beyond.
        let back = nextHalf(half)
        while (!(heightOf(triangles[back]!) > level && heightOf(triangles[nextHalf(back)]!) <= level)) {
          back = nextHalf(back)
        }
        half = this.#halfedges[back]!
      }
      rings.push(ring)
    }
    return rings
  }

  /** Appends where a height is passed between two points. */
  #cross(inside: number, outside: number, heightOf: (point: number) => number, level: number, ring: Ring): void {
    const dx = this.#x[outside]! - this.#x[inside]!
    const dy = this.#y[outside]! - this.#y[inside]!
    const [low, high] = [heightOf(inside), heightOf(outside)]
    const share =
      high < Infinity
        ? (level - low) / (high - low)
        : Math.min(0.5, Math.min(MOST_REACH, LEAST_REACH + level - low) / Math.hypot(dx, dy))
    const kept = Math.max(LEAST_SHARE, Math.min(1 - LEAST_SHARE, share))
    ring.x.push(this.#x[inside]! + dx * kept)
    ring.y.push(this.#y[inside]! + dy * kept)
  }
}

/** The next halfedge of the same triangle. */
function nextHalf(half: number): number {
  return half % 3 === 2 ? half - 2 : half + 1
}

/** A place on the sides of the square from −1 to 1. */
function frameAt(side: number, share: number): [number, number] {
  const along = 2 * share - 1
  if (side === 0) return [along, -1]
  if (side === 1) return [1, along]
  return side === 2 ? [-along, 1] : [-1, -along]
}
