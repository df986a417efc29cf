import { WkbWriter } from '@terrane/core'
import { UNITS_PER_DEGREE } from '../block.ts'

const POINT = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_LINE_STRING = 5
const MULTI_POLYGON = 6
const WGS84 = 4326
const writer = new WkbWriter('xy', WGS84)

/** Polygons in the layout of `AreaAssembler`. */
interface Polygons {
  readonly lon: Int32Array
  readonly lat: Int32Array
  readonly ringStart: Int32Array
  readonly polygonStart: Int32Array
  readonly polygonCount: number
}

/** EWKB (little-endian, SRID 4326) of a point in 1e-7 degrees. */
export function ewkbPoint(lon: number, lat: number): Uint8Array {
  writer.head(POINT)
  writer.xy(lon / UNITS_PER_DEGREE, lat / UNITS_PER_DEGREE)
  return writer.take()
}

/** EWKB of a line string of `count` points. */
export function ewkbLine(lon: Int32Array, lat: Int32Array, count: number): Uint8Array {
  writer.head(LINE_STRING)
  writePoints(lon, lat, 0, count)
  return writer.take()
}

/** EWKB of a multi line string; line `i` is the points `start[i] .. start[i + 1]`. */
export function ewkbLines(lon: Int32Array, lat: Int32Array, start: Int32Array, count: number): Uint8Array {
  writer.head(MULTI_LINE_STRING)
  writer.count(count)
  for (let i = 0; i < count; i++) {
    writer.head(LINE_STRING)
    writePoints(lon, lat, start[i]!, start[i + 1]!)
  }
  return writer.take()
}

/** EWKB of a multi polygon. */
export function ewkbPolygons({ lon, lat, ringStart, polygonStart, polygonCount }: Polygons): Uint8Array {
  writer.head(MULTI_POLYGON)
  writer.count(polygonCount)
  for (let p = 0; p < polygonCount; p++) {
    const first = polygonStart[p]!
    const last = polygonStart[p + 1]!
    writer.head(POLYGON)
    writer.count(last - first)
    for (let r = first; r < last; r++) writePoints(lon, lat, ringStart[r]!, ringStart[r + 1]!)
  }
  return writer.take()
}

function writePoints(lon: Int32Array, lat: Int32Array, from: number, to: number): void {
  writer.count(to - from)
  writer.columns(lon, lat, from, to, UNITS_PER_DEGREE)
}
