import { segmentsMeet } from '../segments-meet.ts'

/** A closed ring as `lng, lat, lng, lat, ...` in degrees, the first position repeated at the end. */
export type Ring = Float64Array

/** Position of a box relative to an area. */
export type BoxRelation = 'outside' | 'inside' | 'crossing'

const EDGES_PER_BAND = 4
const MAX_BANDS = 4096

/** The edges of a polygon, each in all bands of latitude that it touches: a test checks only those of its bands. */
export class EdgeBands {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
  /** Four numbers per edge: the two ends. */
  readonly #edges: Float64Array
  readonly #bandStart: Uint32Array
  readonly #bandEdges: Uint32Array
  readonly #bandsPerDegree: number

  constructor(rings: readonly Ring[]) {
    const edges: number[] = []
    for (const ring of rings) {
      for (let i = 2; i < ring.length; i += 2) edges.push(ring[i - 2]!, ring[i - 1]!, ring[i]!, ring[i + 1]!)
    }
    this.#edges = Float64Array.from(edges)
    this.west = least(edges, 0)
    this.south = least(edges, 1)
    this.east = -least(edges, 0, -1)
    this.north = -least(edges, 1, -1)
    const count = edges.length / 4
    const bands = Math.min(MAX_BANDS, Math.ceil(count / EDGES_PER_BAND))
    this.#bandsPerDegree = this.north > this.south ? bands / (this.north - this.south) : 0
    this.#bandStart = new Uint32Array(bands + 1)
    for (let e = 0; e < count; e++) this.#eachBand(e, (band) => this.#bandStart[band + 1]!++)
    for (let b = 0; b < bands; b++) this.#bandStart[b + 1]! += this.#bandStart[b]!
    const next = this.#bandStart.slice()
    this.#bandEdges = new Uint32Array(next[bands]!)
    for (let e = 0; e < count; e++) {
      this.#eachBand(e, (band) => {
        this.#bandEdges[next[band]!++] = e
      })
    }
  }

  contains(lng: number, lat: number): boolean {
    if (lng < this.west || lng > this.east || lat < this.south || lat > this.north) return false
    const edges = this.#edges
    const band = this.#band(lat)
    let inside = false
    for (let i = this.#bandStart[band]!; i < this.#bandStart[band + 1]!; i++) {
      const at = this.#bandEdges[i]! * 4
      const ax = edges[at]!
      const ay = edges[at + 1]!
      const bx = edges[at + 2]!
      const by = edges[at + 3]!
      const turn = (bx - ax) * (lat - ay) - (by - ay) * (lng - ax)
      const onLine = turn === 0 && lng >= Math.min(ax, bx) && lng <= Math.max(ax, bx)
      if (onLine && lat >= Math.min(ay, by) && lat <= Math.max(ay, by)) return true
      // An edge includes its lower end, not its upper one.
      if (ay <= lat !== by <= lat && (by > ay ? turn > 0 : turn < 0)) inside = !inside
    }
    return inside
  }

  relateBox(west: number, south: number, east: number, north: number): BoxRelation {
    if (east < this.west || west > this.east || north < this.south || south > this.north) return 'outside'
    const edges = this.#edges
    const last = this.#band(north)
    for (let band = this.#band(south); band <= last; band++) {
      for (let i = this.#bandStart[band]!; i < this.#bandStart[band + 1]!; i++) {
        const at = this.#bandEdges[i]! * 4
        if (segmentTouchesBox(edges[at]!, edges[at + 1]!, edges[at + 2]!, edges[at + 3]!, west, south, east, north)) {
          return 'crossing'
        }
      }
    }
    return this.contains(west, south) ? 'inside' : 'outside'
  }

  /** True when the segment meets an edge. */
  crosses(ax: number, ay: number, bx: number, by: number): boolean {
    const west = Math.min(ax, bx)
    const east = Math.max(ax, bx)
    const south = Math.min(ay, by)
    const north = Math.max(ay, by)
    if (east < this.west || west > this.east || north < this.south || south > this.north) return false
    const edges = this.#edges
    const last = this.#band(north)
    for (let band = this.#band(south); band <= last; band++) {
      for (let i = this.#bandStart[band]!; i < this.#bandStart[band + 1]!; i++) {
        const at = this.#bandEdges[i]! * 4
        if (segmentsMeet(ax, ay, bx, by, edges[at]!, edges[at + 1]!, edges[at + 2]!, edges[at + 3]!)) return true
      }
    }
    return false
  }

  #band(lat: number): number {
    const band = Math.floor((lat - this.south) * this.#bandsPerDegree)
    return Math.max(0, Math.min(band, this.#bandStart.length - 2))
  }

  #eachBand(edge: number, visit: (band: number) => void): void {
    const a = this.#edges[edge * 4 + 1]!
    const b = this.#edges[edge * 4 + 3]!
    const last = this.#band(Math.max(a, b))
    for (let band = this.#band(Math.min(a, b)); band <= last; band++) visit(band)
  }
}

function least(edges: readonly number[], axis: 0 | 1, sign: 1 | -1 = 1): number {
  let value = Infinity
  for (let i = axis; i < edges.length; i += 2) value = Math.min(value, edges[i]! * sign)
  return value
}

function segmentTouchesBox(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  west: number,
  south: number,
  east: number,
  north: number,
): boolean {
  if ((ax < west && bx < west) || (ax > east && bx > east)) return false
  if ((ay < south && by < south) || (ay > north && by > north)) return false
  // The box's corners lie on both sides of the line, or on it.
  const sw = (bx - ax) * (south - ay) - (by - ay) * (west - ax)
  const se = (bx - ax) * (south - ay) - (by - ay) * (east - ax)
  const nw = (bx - ax) * (north - ay) - (by - ay) * (west - ax)
  const ne = (bx - ax) * (north - ay) - (by - ay) * (east - ax)
  return !((sw > 0 && se > 0 && nw > 0 && ne > 0) || (sw < 0 && se < 0 && nw < 0 && ne < 0))
}
