import { badGeometry } from '../errors.ts'
import { WORLD, worldX, worldY } from '../world.ts'
import { LINE, POINT, POLYGON, Shape } from './shape.ts'

const FLAG_Z = 0x80000000
const FLAG_M = 0x40000000
const FLAG_SRID = 0x20000000
const MAX_DEPTH = 32

/** Longitudes that a feature crossing the antimeridian may have. */
const FARTHEST_LNG = 540

/**
 * Reads WKB and EWKB (OGC 06-103r4 section 8, and PostGIS's flags) into world coordinates. A collection is taken apart:
 * its points, lines and polygons come out in one shape each.
 */
export class WkbReader {
  readonly points = new Shape()
  readonly lines = new Shape()
  readonly polygons = new Shape()
  /** Bounds of the geometry read last, in degrees. */
  west = 0
  south = 0
  east = 0
  north = 0

  #view: DataView = new DataView(new ArrayBuffer(0))
  #at = 0
  #end = 0
  #row = 0
  #little = true
  #stride = 0
  #srid = 0

  /**
   * Reads `bytes[start, end)`. False when nothing in it can be drawn: it is empty, or reaches beyond 90 degrees of
   * latitude or one and a half turns of longitude.
   *
   * @throws BAD_GEOMETRY
   */
  read(bytes: Uint8Array, start: number, end: number, row: number): boolean {
    if (this.#view.buffer !== bytes.buffer || this.#view.byteOffset !== bytes.byteOffset) {
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    this.#at = start
    this.#end = end
    this.#row = row
    this.#srid = 0
    this.points.reset(POINT)
    this.lines.reset(LINE)
    this.polygons.reset(POLYGON)
    this.west = this.south = Number.POSITIVE_INFINITY
    this.east = this.north = Number.NEGATIVE_INFINITY
    if (end > start) this.#geometry(0)
    if (this.#at !== end) throw this.#bad('bytes follow its end')
    if (this.points.size > 0) this.points.endPart(false)
    if (this.points.size + this.lines.size + this.polygons.size === 0) return false
    const inRange = this.south >= -90 && this.north <= 90 && this.west >= -FARTHEST_LNG && this.east < FARTHEST_LNG
    if (!inRange) return false
    this.#normalise()
    return true
  }

  #geometry(depth: number): void {
    if (depth > MAX_DEPTH) throw this.#bad('collections are nested too deeply')
    this.#need(5)
    const order = this.#view.getUint8(this.#at)
    if (order > 1) throw this.#bad(`its byte order is ${order}, not 0 or 1`)
    this.#little = order === 1
    this.#at++
    const type = this.#uint32()
    if (type & FLAG_SRID) {
      this.#srid = this.#uint32()
      if (this.#srid !== 4326 && this.#srid !== 0) throw this.#bad(`its SRID is ${this.#srid}, not 4326`)
    }
    const iso = Math.floor((type & 0xffff) / 1000)
    const dimensions = 2 + (type & FLAG_Z || iso === 1 || iso === 3 ? 1 : 0) + (type & FLAG_M || iso >= 2 ? 1 : 0)
    this.#stride = dimensions * 8
    const base = (type & 0xffff) % 1000
    if (base === 1) this.#point()
    else if (base === 2) this.#line()
    else if (base === 3 || base === 17) this.#polygon()
    else if ((base >= 4 && base <= 7) || base === 15 || base === 16) {
      const count = this.#count(5)
      for (let i = 0; i < count; i++) this.#geometry(depth + 1)
    } else throw this.#bad(`its type ${base} is not one that tiles can hold`)
  }

  #point(): void {
    this.#need(this.#stride)
    // An empty point is written as NaN.
    if (!Number.isNaN(this.#view.getFloat64(this.#at, this.#little))) {
      this.points.ensure(1)
      this.#vertices(this.points, 1)
    } else this.#at += this.#stride
  }

  #line(): void {
    const shape = this.lines
    const count = this.#count(this.#stride)
    if (count === 0) return
    shape.ensure(count)
    this.#vertices(shape, count)
    shape.endPart(false)
  }

  #polygon(): void {
    const shape = this.polygons
    const rings = this.#count(4)
    let hasOuter = false
    for (let ring = 0; ring < rings; ring++) {
      const count = this.#count(this.#stride)
      const before = shape.size
      shape.ensure(count)
      this.#vertices(shape, count)
      // The closing vertex is implied.
      const last = 2 * (shape.size - 1)
      if (
        shape.size - before > 1 &&
        shape.xy[last] === shape.xy[2 * before] &&
        shape.xy[last + 1] === shape.xy[2 * before + 1]
      )
        shape.size--
      if (shape.size === before || (ring > 0 && (!hasOuter || shape.size - before < 3))) {
        shape.size = before
        continue
      }
      shape.endPart(ring > 0)
      if (ring === 0) hasOuter = true
    }
  }

  /** Appends vertices in world coordinates, leaving out those equal to their predecessor in the part. */
  #vertices(shape: Shape, count: number): void {
    const { xy, kind } = shape
    const view = this.#view
    const little = this.#little
    const stride = this.#stride
    const first = shape.size
    let { west, south, east, north } = this
    let at = this.#at
    let size = first
    for (let i = 0; i < count; i++, at += stride) {
      const lng = view.getFloat64(at, little)
      const lat = view.getFloat64(at + 8, little)
      // Negated comparisons: a NaN becomes a bound, and is found out of range.
      if (!(lng >= west)) west = lng
      if (!(lng <= east)) east = lng
      if (!(lat >= south)) south = lat
      if (!(lat <= north)) north = lat
      const x = Math.floor(worldX(lng) + 0.5)
      const y = Math.floor(worldY(lat) + 0.5)
      if (kind !== POINT && size > first && xy[2 * size - 2] === x && xy[2 * size - 1] === y) continue
      xy[2 * size] = x
      xy[2 * size + 1] = y
      size++
    }
    shape.size = size
    this.#at = at
    this.west = west
    this.south = south
    this.east = east
    this.north = north
  }

  /** Shifts the geometry by whole turns so that it begins on the world square. */
  #normalise(): void {
    const shift = -Math.floor(worldX(this.west) / WORLD) * WORLD
    // Exactly 180 degrees belongs to the right edge when all of the geometry lies there.
    if (shift === 0 || (this.west === 180 && this.east === 180)) return
    for (const shape of [this.points, this.lines, this.polygons]) {
      for (let i = 0; i < shape.size; i++) shape.xy[2 * i] = shape.xy[2 * i]! + shift
    }
  }

  #uint32(): number {
    this.#need(4)
    const value = this.#view.getUint32(this.#at, this.#little)
    this.#at += 4
    return value
  }

  /** A count of items that take at least `size` bytes each: a lie is found before anything is allocated for it. */
  #count(size: number): number {
    const count = this.#uint32()
    this.#need(count * size)
    return count
  }

  #need(bytes: number): void {
    if (this.#at + bytes > this.#end) throw this.#bad('it ends too early')
  }

  #bad(problem: string): Error {
    return badGeometry({ row: this.#row, problem })
  }
}
