import { WkbCursor, WkbError } from '@terrane/core'
import { badGeometry } from '../errors.ts'
import { WORLD, worldX, worldY } from '../world.ts'
import { LINE, POINT, POLYGON, Shape } from './shape.ts'

const MAX_DEPTH = 32
/** Polyhedral surfaces and TINs. */
const SURFACES = new Set([15, 16])
const RINGED = new Set([3, 17])

/** Maximum longitude of a feature that crosses the antimeridian. */
const FARTHEST_LNG = 540

/**
 * Reads WKB and EWKB into world coordinates. A collection is split into one shape each of its points, lines and
 * polygons.
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

  readonly #cursor = new WkbCursor()

  /**
   * Reads `bytes[start, end)`. False when it cannot be drawn: when it is empty, or exceeds 90 degrees of latitude or
   * 540 degrees of longitude.
   *
   * @throws BAD_GEOMETRY
   */
  read(bytes: Uint8Array, start: number, end: number, row: number): boolean {
    this.points.reset(POINT)
    this.lines.reset(LINE)
    this.polygons.reset(POLYGON)
    this.west = this.south = Number.POSITIVE_INFINITY
    this.east = this.north = Number.NEGATIVE_INFINITY
    try {
      this.#read(bytes, start, end)
    } catch (error) {
      if (error instanceof WkbError) throw badGeometry({ row, problem: error.problem })
      throw error
    }
    if (this.points.size > 0) this.points.endPart(false)
    if (this.points.size + this.lines.size + this.polygons.size === 0) return false
    const inRange = this.south >= -90 && this.north <= 90 && this.west >= -FARTHEST_LNG && this.east < FARTHEST_LNG
    if (!inRange) return false
    this.#normalise()
    return true
  }

  #read(bytes: Uint8Array, start: number, end: number): void {
    this.#cursor.open(bytes, start, end)
    if (end > start) this.#geometry(0)
    if (!this.#cursor.isAtEnd) throw new WkbError('bytes follow its end')
  }

  #geometry(depth: number): void {
    const cursor = this.#cursor
    if (depth > MAX_DEPTH) throw new WkbError('collections are nested too deeply')
    const code = cursor.head()
    const { srid } = cursor
    if (srid !== 4326 && srid !== 0) throw new WkbError(`its SRID is ${srid}, not 4326`)
    if (code === 1) this.#point()
    else if (code === 2) this.#line()
    else if (RINGED.has(code)) this.#polygon()
    else if (code <= 7 || SURFACES.has(code)) {
      const count = cursor.count(5)
      for (let i = 0; i < count; i++) this.#geometry(depth + 1)
    } else throw new WkbError(`its type ${code} is not one that tiles can hold`)
  }

  #point(): void {
    const start = this.#cursor.positions(1)
    // An empty point is written as NaN.
    if (Number.isNaN(this.#cursor.number(start))) return
    this.points.ensure(1)
    this.#vertices(this.points, start, 1)
  }

  #line(): void {
    const shape = this.lines
    const count = this.#cursor.count()
    const start = this.#cursor.positions(count)
    if (count === 0) return
    shape.ensure(count)
    this.#vertices(shape, start, count)
    shape.endPart(false)
  }

  #polygon(): void {
    const shape = this.polygons
    const rings = this.#cursor.count(4)
    let hasOuter = false
    for (let ring = 0; ring < rings; ring++) {
      const count = this.#cursor.count()
      const start = this.#cursor.positions(count)
      const before = shape.size
      shape.ensure(count)
      this.#vertices(shape, start, count)
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
  #vertices(shape: Shape, start: number, count: number): void {
    const { xy, kind } = shape
    const { view, little, stride } = this.#cursor
    const first = shape.size
    let { west, south, east, north } = this
    let at = start
    let size = first
    for (let i = 0; i < count; i++, at += stride) {
      const lng = view.getFloat64(at, little)
      const lat = view.getFloat64(at + 8, little)
      // Negated comparisons: NaN becomes a bound and fails the range check.
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
    this.west = west
    this.south = south
    this.east = east
    this.north = north
  }

  /** Shifts the geometry by multiples of 360 degrees so that its western edge lies in the world square. */
  #normalise(): void {
    const shift = -Math.floor(worldX(this.west) / WORLD) * WORLD
    // Exactly 180 degrees belongs to the right edge when the whole geometry lies there.
    if (shift === 0 || (this.west === 180 && this.east === 180)) return
    for (const shape of [this.points, this.lines, this.polygons]) {
      for (let i = 0; i < shape.size; i++) shape.xy[2 * i] = shape.xy[2 * i]! + shift
    }
  }
}
