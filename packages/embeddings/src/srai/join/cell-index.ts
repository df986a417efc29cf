import type { Geometry, PolygonRings, Position } from '../geometry.ts'
import { unwrappedBoundary } from '../regions.ts'
import { BucketGrid } from './bucket-grid.ts'
import { EdgeRows } from './edge-rows.ts'
import { ringHolds, segmentMeetsRing } from './planar.ts'

/** Polygons below this number of vertices are tested directly; for larger ones edges are first sorted into rows. */
const SMALL_POLYGON = 64

/**
 * Finds the H3 cells of a set that a geometry intersects. As in srai the test is planar in longitude and latitude, with
 * straight sides of cells. A step of more than 180 degrees of longitude crosses the antimeridian.
 *
 * Layout: the outlines of all cells in one flat array, and a uniform grid of buckets about the size of a cell that list
 * the cells over them. Queries allocate no memory; only one may run at a time.
 */
export class CellIndex {
  /** The cells of the last query: the first `count` entries. */
  readonly hits: Uint32Array
  /** Outlines: vertices `[start[c], start[c + 1])` of `xy` for cell `c`. */
  readonly #xy: Float64Array
  readonly #start: Uint32Array
  /** West, south, east, north of each cell. */
  readonly #boxes: Float64Array
  readonly #grid: BucketGrid
  readonly #bucketStart: Uint32Array
  readonly #bucketItems: Uint32Array
  /** The number of the query that last hit a cell. */
  readonly #stamps: Uint32Array
  /** Whether some cells extend beyond the antimeridian. */
  readonly #wraps: boolean
  #query = 0
  #count = 0
  /** Whether the geometry of the current query extends beyond the antimeridian. */
  #crossed = false
  /** Added to all longitudes of the geometry. */
  #shift = 0
  #scratch = new Float64Array(1024)
  readonly #rows = new EdgeRows()

  constructor(cells: readonly string[]) {
    const outlines = cells.map(unwrappedBoundary)
    this.#start = new Uint32Array(cells.length + 1)
    for (const [i, ring] of outlines.entries()) this.#start[i + 1] = this.#start[i]! + ring.length
    this.#xy = new Float64Array(2 * this.#start.at(-1)!)
    this.#boxes = new Float64Array(4 * cells.length)
    for (const [i, ring] of outlines.entries()) this.#store(i, ring)
    this.#wraps = this.#boxes.some((edge, i) => i % 2 === 0 && Math.abs(edge) > 180)
    this.#grid = new BucketGrid(this.#boxes)
    const { starts, items } = this.#grid.distribute(this.#boxes)
    this.#bucketStart = starts
    this.#bucketItems = items
    this.#stamps = new Uint32Array(cells.length)
    this.hits = new Uint32Array(cells.length)
  }

  /** Finds the cells that the geometry meets; returns how many, they are in `hits`. */
  find(geometry: Geometry): number {
    this.#query++
    this.#count = 0
    this.#crossed = false
    this.#shift = 0
    this.#visit(geometry)
    if (this.#wraps || this.#crossed) {
      // Shifts by 360 degrees move the geometry to the outlines.
      for (this.#shift of [-360, 360]) this.#visit(geometry)
    }
    return this.#count
  }

  #visit(geometry: Geometry): void {
    switch (geometry.type) {
      case 'Point':
        this.#visitPoint(geometry.coordinates)
        break
      case 'MultiPoint':
        for (const point of geometry.coordinates) this.#visitPoint(point)
        break
      case 'LineString':
        this.#visitLine(geometry.coordinates)
        break
      case 'MultiLineString':
        for (const line of geometry.coordinates) this.#visitLine(line)
        break
      case 'Polygon':
        this.#visitPolygon(geometry.coordinates)
        break
      case 'MultiPolygon':
        for (const polygon of geometry.coordinates) this.#visitPolygon(polygon)
        break
      case 'GeometryCollection':
        for (const member of geometry.geometries) this.#visit(member)
        break
    }
  }

  #visitPoint([longitude, y]: Position): void {
    const x = longitude + this.#shift
    const bucket = this.#grid.bucketAt(x, y)
    if (bucket < 0) return
    for (let at = this.#bucketStart[bucket]!; at < this.#bucketStart[bucket + 1]!; at++) {
      const cell = this.#bucketItems[at]!
      if (this.#isHit(cell) || !this.#boxMeets(cell, x, y, x, y)) continue
      if (ringHolds(this.#xy, this.#start[cell]!, this.#start[cell + 1]!, x, y)) this.#hit(cell)
    }
  }

  #visitLine(line: readonly Position[]): void {
    const end = this.#load(line, 0)
    if (end === 1) this.#visitPoint(line[0]!)
    this.#visitSegments(0, end)
  }

  /**
   * Visits the cells that its rings touch first. Any other cell lies either inside or outside as a whole, so one of its
   * vertices decides.
   */
  #visitPolygon(rings: PolygonRings): void {
    const ends: number[] = []
    for (const ring of rings) {
      const start = ends.at(-1) ?? 0
      const end = this.#load(ring, start)
      ends.push(end)
      this.#visitSegments(start, end)
      if (end > start) this.#visitSegment(end - 1, start)
    }
    this.#visitInside(ends)
  }

  #visitInside(ends: readonly number[]): void {
    const xy = this.#scratch
    const outer = ends[0] ?? 0
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
    for (let i = 0; i < outer; i++) {
      west = Math.min(west, xy[2 * i]!)
      east = Math.max(east, xy[2 * i]!)
      south = Math.min(south, xy[2 * i + 1]!)
      north = Math.max(north, xy[2 * i + 1]!)
    }
    const grid = this.#grid
    if (!grid.meets(west, south, east, north)) return
    const [column0, column1] = [grid.columnOf(west), grid.columnOf(east)]
    const [row0, row1] = [grid.rowOf(south), grid.rowOf(north)]
    const total = ends.at(-1) ?? 0
    const sorted = total > SMALL_POLYGON && (row1 - row0) * (column1 - column0) > 4
    if (sorted) this.#rows.build(xy, ends, grid)
    for (let row = row0; row <= row1; row++) {
      for (let column = column0; column <= column1; column++) {
        const bucket = row * grid.columns + column
        for (let at = this.#bucketStart[bucket]!; at < this.#bucketStart[bucket + 1]!; at++) {
          const cell = this.#bucketItems[at]!
          if (this.#isHit(cell) || !this.#boxMeets(cell, west, south, east, north)) continue
          const first = this.#start[cell]!
          const x = this.#xy[2 * first]!
          const y = this.#xy[2 * first + 1]!
          if (sorted ? this.#rows.hold(xy, grid, x, y) : holds(xy, ends, x, y)) this.#hit(cell)
        }
      }
    }
  }

  #visitSegments(start: number, end: number): void {
    for (let i = start; i + 1 < end; i++) this.#visitSegment(i, i + 1)
  }

  /** Tests the cells in the buckets along the segment between two vertices of the scratch array. */
  #visitSegment(from: number, to: number): void {
    const xy = this.#scratch
    const grid = this.#grid
    const ax = xy[2 * from]!
    const ay = xy[2 * from + 1]!
    const bx = xy[2 * to]!
    const by = xy[2 * to + 1]!
    const west = Math.min(ax, bx)
    const east = Math.max(ax, bx)
    const south = Math.min(ay, by)
    const north = Math.max(ay, by)
    if (!grid.meets(west, south, east, north)) return
    const row1 = grid.rowOf(north)
    for (let row = grid.rowOf(south); row <= row1; row++) {
      let left = west
      let right = east
      if (north > south) {
        // Entry and exit of the segment in this row of buckets; a hundredth of a bucket covers all rounding.
        const slope = (bx - ax) / (by - ay)
        const low = ax + (Math.max(south, grid.south + row * grid.height) - ay) * slope
        const high = ax + (Math.min(north, grid.south + (row + 1) * grid.height) - ay) * slope
        left = Math.max(west, Math.min(low, high) - grid.width * 0.01)
        right = Math.min(east, Math.max(low, high) + grid.width * 0.01)
      }
      const column1 = grid.columnOf(right)
      for (let column = grid.columnOf(left); column <= column1; column++) {
        const bucket = row * grid.columns + column
        for (let at = this.#bucketStart[bucket]!; at < this.#bucketStart[bucket + 1]!; at++) {
          const cell = this.#bucketItems[at]!
          if (this.#isHit(cell) || !this.#boxMeets(cell, west, south, east, north)) continue
          const meets = segmentMeetsRing(this.#xy, this.#start[cell]!, this.#start[cell + 1]!, ax, ay, bx, by)
          if (meets) this.#hit(cell)
        }
      }
    }
  }

  #isHit(cell: number): boolean {
    return this.#stamps[cell] === this.#query
  }

  #hit(cell: number): void {
    this.#stamps[cell] = this.#query
    this.hits[this.#count++] = cell
  }

  #boxMeets(cell: number, west: number, south: number, east: number, north: number): boolean {
    const boxes = this.#boxes
    const at = 4 * cell
    return boxes[at]! <= east && boxes[at + 2]! >= west && boxes[at + 1]! <= north && boxes[at + 3]! >= south
  }

  /** Copies positions to vertex `start` of the scratch array, without the closing one of a ring; returns the end. */
  #load(positions: readonly Position[], start: number): number {
    if (2 * (start + positions.length) > this.#scratch.length) {
      const grown = new Float64Array(4 * (start + positions.length))
      grown.set(this.#scratch)
      this.#scratch = grown
    }
    const xy = this.#scratch
    let shift = this.#shift
    let last = positions[0]?.[0] ?? 0
    for (const [i, [x, y]] of positions.entries()) {
      if (x - last > 180) shift -= 360
      else if (last - x > 180) shift += 360
      if (shift !== this.#shift) this.#crossed = true
      last = x
      xy[2 * (start + i)] = x + shift
      xy[2 * (start + i) + 1] = y
    }
    return start + positions.length
  }

  #store(cell: number, ring: readonly Position[]): void {
    const start = this.#start[cell]!
    for (const [i, [x, y]] of ring.entries()) {
      this.#xy[2 * (start + i)] = x
      this.#xy[2 * (start + i) + 1] = y
    }
    const xs = ring.map(([x]) => x)
    const ys = ring.map(([, y]) => y)
    this.#boxes.set([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)], 4 * cell)
  }
}

/** Whether a point is inside the rings that end at `ends`, by the even-odd rule. */
function holds(xy: Float64Array, ends: readonly number[], px: number, py: number): boolean {
  let inside = false
  let start = 0
  for (const end of ends) {
    if (end > start && ringHolds(xy, start, end, px, py)) inside = !inside
    start = end
  }
  return inside
}
