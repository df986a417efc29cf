import Delaunator from 'delaunator'

import { METERS_PER_UNIT } from './grid.ts'
import type { Samples } from './samples.ts'

/** Width of the frame around all samples, as a share of their extent and at least in metres, and points on each side of it. */
const FRAME_SHARE = 0.05
const FRAME_METERS = 400
const FRAME_POINTS = 16
/** Minimum and maximum metres that an area extends beyond a street without a neighbour. */
const LEAST_REACH = 30
const MOST_REACH = 130
/** Minimum distance of crossings from the ends of an edge, as a share of its length. */
const LEAST_SHARE = 0.01

/** A ring of points in metres from the middle of a surface, its first point not repeated. */
export interface Ring {
  readonly x: number[]
  readonly y: number[]
}

/**
 * A surface over samples: linear on the triangles of a Delaunay triangulation, within an unreachable frame. Contour
 * lines are rings that do not cross, and lower ones lie within higher ones.
 */
export class Surface {
  readonly middle: { readonly lon: number; readonly lat: number }
  readonly metersPerLon: number
  readonly metersPerLat = METERS_PER_UNIT
  readonly #count: number
  /** Places in metres from the middle: at `2 * i` to the east, then to the north. */
  readonly #xy: Float64Array
  readonly #triangles: Uint32Array
  readonly #halfedges: Int32Array

  constructor({ lon, lat, count }: Pick<Samples, 'lon' | 'lat' | 'count'>) {
    const [west, east] = extentOf(lon, count)
    const [south, north] = extentOf(lat, count)
    this.middle = { lon: (west + east) / 2, lat: (south + north) / 2 }
    this.metersPerLon = METERS_PER_UNIT * Math.cos((this.middle.lat / 1e6) * (Math.PI / 180))
    const right = ((east - west) / 2) * this.metersPerLon
    const top = ((north - south) / 2) * METERS_PER_UNIT
    const margin = Math.max(FRAME_METERS, FRAME_SHARE * 2 * Math.max(right, top))
    const xy = new Float64Array(2 * (count + 4 * FRAME_POINTS))
    for (let i = 0; i < count; i++) {
      xy[2 * i] = (lon[i]! - this.middle.lon) * this.metersPerLon
      xy[2 * i + 1] = (lat[i]! - this.middle.lat) * METERS_PER_UNIT
    }
    for (let i = 0; i < 4 * FRAME_POINTS; i++) {
      const [x, y] = frameAt(Math.floor(i / FRAME_POINTS), (i % FRAME_POINTS) / FRAME_POINTS)
      xy[2 * (count + i)] = x * (right + margin)
      xy[2 * (count + i) + 1] = y * (top + margin)
    }
    this.#count = count
    this.#xy = xy
    const { triangles, halfedges } = new Delaunator(xy)
    this.#triangles = triangles
    this.#halfedges = halfedges
  }

  /** The rings around everything up to a level. Outer rings and holes have opposite orientations. */
  rings(height: ArrayLike<number>, level: number): Ring[] {
    const triangles = this.#triangles
    const isInside = new Uint8Array(this.#xy.length / 2)
    for (let i = 0; i < this.#count; i++) isInside[i] = height[i]! <= level ? 1 : 0
    const done = new Uint8Array(triangles.length)
    const rings: Ring[] = []
    for (let first = 0; first < triangles.length; first++) {
      if (isInside[triangles[first]!] === 0 || isInside[triangles[nextHalf(first)]!] === 1 || done[first] === 1)
        continue
      const ring: Ring = { x: [], y: [] }
      for (let half = first; done[half] === 0;) {
        done[half] = 1
        this.#cross(triangles[half]!, triangles[nextHalf(half)]!, height, level, ring)
        // The ring leaves the triangle over its other crossed edge and continues in the adjacent triangle.
        let back = nextHalf(half)
        while (isInside[triangles[back]!] === 1 || isInside[triangles[nextHalf(back)]!] === 0) back = nextHalf(back)
        half = this.#halfedges[back]!
      }
      rings.push(ring)
    }
    return rings
  }

  /** Appends the point between two others at which the level is crossed. */
  #cross(inside: number, outside: number, height: ArrayLike<number>, level: number, ring: Ring): void {
    const xy = this.#xy
    const [x, y] = [xy[2 * inside]!, xy[2 * inside + 1]!]
    const [dx, dy] = [xy[2 * outside]! - x, xy[2 * outside + 1]! - y]
    const low = height[inside]!
    const high = outside < this.#count ? height[outside]! : Infinity
    const share =
      high < Infinity
        ? (level - low) / (high - low)
        : Math.min(0.5, Math.min(MOST_REACH, LEAST_REACH + level - low) / Math.hypot(dx, dy))
    const kept = Math.max(LEAST_SHARE, Math.min(1 - LEAST_SHARE, share))
    ring.x.push(x + dx * kept)
    ring.y.push(y + dy * kept)
  }
}

function extentOf(values: Float64Array, count: number): [least: number, most: number] {
  let least = Infinity
  let most = -Infinity
  for (let i = 0; i < count; i++) {
    if (values[i]! < least) least = values[i]!
    if (values[i]! > most) most = values[i]!
  }
  return [least, most]
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
