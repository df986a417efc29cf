import { UNITS_PER_DEGREE } from '../block.ts'

const POINT = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_LINE_STRING = 5
const MULTI_POLYGON = 6
const SRID_FLAG = 0x20000000
const WGS84 = 4326

/** Polygons as the assembler leaves them. */
interface Polygons {
  readonly lon: Int32Array
  readonly lat: Int32Array
  readonly ringStart: Int32Array
  readonly polygonStart: Int32Array
  readonly polygonCount: number
}

/** EWKB (little-endian, SRID 4326) of a point in 1e-7 degrees. */
export function ewkbPoint(lon: number, lat: number): Uint8Array {
  const writer = new Writer(25)
  writer.head(POINT | SRID_FLAG)
  writer.point(lon, lat)
  return writer.bytes
}

/** EWKB of a line string of `count` points. */
export function ewkbLine(lon: Int32Array, lat: Int32Array, count: number): Uint8Array {
  const writer = new Writer(13 + count * 16)
  writer.head(LINE_STRING | SRID_FLAG)
  writer.points(lon, lat, 0, count)
  return writer.bytes
}

/** EWKB of a multi line string; line `i` is the points `start[i] .. start[i + 1]`. */
export function ewkbLines(lon: Int32Array, lat: Int32Array, start: Int32Array, count: number): Uint8Array {
  const writer = new Writer(13 + count * 9 + start[count]! * 16)
  writer.head(MULTI_LINE_STRING | SRID_FLAG)
  writer.uint32(count)
  for (let i = 0; i < count; i++) {
    writer.head(LINE_STRING)
    writer.points(lon, lat, start[i]!, start[i + 1]!)
  }
  return writer.bytes
}

/** EWKB of a multi polygon. */
export function ewkbPolygons({ lon, lat, ringStart, polygonStart, polygonCount }: Polygons): Uint8Array {
  const rings = polygonStart[polygonCount]!
  const writer = new Writer(13 + polygonCount * 9 + rings * 4 + ringStart[rings]! * 16)
  writer.head(MULTI_POLYGON | SRID_FLAG)
  writer.uint32(polygonCount)
  for (let p = 0; p < polygonCount; p++) {
    const first = polygonStart[p]!
    const last = polygonStart[p + 1]!
    writer.head(POLYGON)
    writer.uint32(last - first)
    for (let r = first; r < last; r++) writer.points(lon, lat, ringStart[r]!, ringStart[r + 1]!)
  }
  return writer.bytes
}

/**
 * Geometries are small and many: they are cut from slabs, for an array buffer of its own each would cost more than what
 * is written into it. A slab lives as long as one of its geometries.
 */
const SLAB_BYTES = 1 << 18
let slab = new ArrayBuffer(SLAB_BYTES)
let slabUsed = 0
let slabView = new DataView(slab)

class Writer {
  readonly bytes: Uint8Array
  readonly #view: DataView
  #at: number

  constructor(size: number) {
    if (slabUsed + size > slab.byteLength) {
      slab = new ArrayBuffer(Math.max(SLAB_BYTES, size))
      slabView = new DataView(slab)
      slabUsed = 0
    }
    this.bytes = new Uint8Array(slab, slabUsed, size)
    this.#view = slabView
    this.#at = slabUsed
    slabUsed += size
  }

  /** Byte order, type, and the SRID where the type has its flag. */
  head(type: number): void {
    this.#view.setUint8(this.#at, 1)
    this.#view.setUint32(this.#at + 1, type, true)
    this.#at += 5
    if (type & SRID_FLAG) this.uint32(WGS84)
  }

  uint32(value: number): void {
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  point(lon: number, lat: number): void {
    this.#view.setFloat64(this.#at, lon / UNITS_PER_DEGREE, true)
    this.#view.setFloat64(this.#at + 8, lat / UNITS_PER_DEGREE, true)
    this.#at += 16
  }

  /** The number of points and the points. */
  points(lon: Int32Array, lat: Int32Array, from: number, to: number): void {
    this.uint32(to - from)
    const view = this.#view
    let at = this.#at
    for (let i = from; i < to; i++) {
      view.setFloat64(at, lon[i]! / UNITS_PER_DEGREE, true)
      view.setFloat64(at + 8, lat[i]! / UNITS_PER_DEGREE, true)
      at += 16
    }
    this.#at = at
  }
}
