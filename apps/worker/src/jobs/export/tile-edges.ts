import { WkbCursor } from '@terrane/core'

const POLYGON = 3
const MULTI_POLYGON = 6
/** Least share of its box that a rectangle covers. */
const FULL = 0.99

/** Box of the parts of a tile, and the area that they cover. */
interface Covered {
  box: [lowX: number, lowY: number, highX: number, highY: number]
  area: number
}

/** Boxes of tiles, in the unit of their CRS. */
export class TileEdges {
  readonly #cursor = new WkbCursor()
  #boxes = new Float64Array(4 * 1024)
  #tiles = 0

  /** Adds a tile in WKB, of one or more polygons. @returns false if it is not a rectangle along the axes */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    if (end === start) return false
    const cursor = this.#cursor
    cursor.open(bytes, start, end)
    const found: Covered = { box: [Infinity, Infinity, -Infinity, -Infinity], area: 0 }
    const code = cursor.head()
    if (code !== POLYGON && code !== MULTI_POLYGON) return false
    const parts = code === MULTI_POLYGON ? cursor.count() : 1
    for (let part = 0; part < parts; part++) {
      if (code === MULTI_POLYGON) cursor.head()
      addPolygon(cursor, found)
    }
    const [lowX, lowY, highX, highY] = found.box
    const area = (highX - lowX) * (highY - lowY)
    if (!(area > 0) || !Number.isFinite(area) || found.area < FULL * area) return false
    this.#push(found.box)
    return true
  }

  get lowX(): Float64Array {
    return this.#side(0)
  }

  get lowY(): Float64Array {
    return this.#side(1)
  }

  get highX(): Float64Array {
    return this.#side(2)
  }

  get highY(): Float64Array {
    return this.#side(3)
  }

  #side(side: number): Float64Array {
    return Float64Array.from({ length: this.#tiles }, (_, i) => this.#boxes[4 * i + side]!)
  }

  #push(box: readonly number[]): void {
    if (4 * this.#tiles === this.#boxes.length) {
      const larger = new Float64Array(2 * this.#boxes.length)
      larger.set(this.#boxes)
      this.#boxes = larger
    }
    this.#boxes.set(box, 4 * this.#tiles++)
  }
}

function addPolygon(cursor: WkbCursor, found: Covered): void {
  const rings = cursor.count()
  for (let ring = 0; ring < rings; ring++) {
    const points = cursor.count(cursor.stride)
    const first = cursor.positions(points)
    let twice = 0
    for (let i = 0; i < points; i++) {
      const [x, y] = positionAt(cursor, first, i)
      const [nextX, nextY] = positionAt(cursor, first, (i + 1) % points)
      // Relative to the first position, because products of whole coordinates lose digits.
      const [x0, y0] = positionAt(cursor, first, 0)
      twice += (x - x0) * (nextY - y0) - (nextX - x0) * (y - y0)
      const { box } = found
      found.box = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)]
    }
    found.area += (ring === 0 ? 1 : -1) * Math.abs(twice / 2)
  }
}

function positionAt(cursor: WkbCursor, first: number, i: number): [number, number] {
  const at = first + i * cursor.stride
  return [cursor.number(at), cursor.number(at + 8)]
}
