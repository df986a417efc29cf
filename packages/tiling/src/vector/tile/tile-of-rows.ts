import { Path, PolygonCleaner } from '@terrane/core'
import { GrowingBytes } from '../bytes/growing-bytes.ts'
import { writeVarint53 } from '../bytes/varint.ts'
import { AttributeEncoder } from '../features/attributes.ts'
import type { AttributeValue } from '../features/feature-batch.ts'
import { LINE, POINT, POLYGON, type Shape } from '../features/shape.ts'
import { WkbReader } from '../features/wkb.ts'
import { clipLines, clipPoints, clipRings } from '../geometry/clip.ts'
import { EXTENT, MAX_ZOOM } from '../world.ts'
import { commandsSizeBound, writePath, writePoints } from './commands.ts'
import { LayerEncoder } from './layer-encoder.ts'

/** One row of a table, for one tile. */
export interface TileRow {
  /** WKB or EWKB in EPSG:4326. */
  readonly geometry: Uint8Array
  readonly id: number | null
  /** In the order of the attributes' names. */
  readonly values: readonly AttributeValue[]
}

export interface RowsTile {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly layer: string
  readonly attributes: readonly string[]
  /** Buffer around the tile, in units of 1/4096 of its side. */
  readonly buffer: number
}

/**
 * One tile of rows, without simplification or omissions, for databases without `ST_AsMVT`: the same features as
 * `ST_AsMVT` over `ST_AsMVTGeom(…, 4096, buffer, true)`. Rounding and repair of geometries may differ by two units or
 * four centimetres. Null when no row is in the tile. Any zoom.
 *
 * @throws BAD_GEOMETRY
 */
export function encodeTileOfRows(rows: Iterable<TileRow>, tile: RowsTile): Uint8Array | null {
  const layer = new LayerEncoder(tile.layer, tile.attributes)
  const attributes = new AttributeEncoder(tile.attributes)
  const cutter = new RowCutter(tile)
  const reader = new WkbReader()
  const record = new GrowingBytes()
  let row = 0
  layer.begin()
  for (const { geometry, id, values } of rows) {
    if (!reader.read(geometry, 0, geometry.length, row++)) continue
    const shape = highest(reader)
    const path = shape && cutter.cut(shape)
    if (!path || path.length === 0) continue
    const hasId = id !== null && Number.isSafeInteger(id) && id >= 0
    record.at = 0
    record.ensure(10)
    if (hasId) record.at = writeVarint53(record.bytes, 0, id)
    values.forEach((value, i) => attributes.write(record, i, value))
    const commands = new Uint8Array(commandsSizeBound(path))
    const size =
      shape.kind === POINT ? writePoints(commands, 0, path) : writePath(commands, 0, path, shape.kind === POLYGON)
    const written = { bytes: record.bytes, hasId, attributesStart: 0, attributesEnd: record.at }
    layer.add(written, hasId, shape.kind, commands, 0, size)
  }
  return layer.count === 0 ? null : layer.finish(EXTENT)
}

/** The part of a collection with the highest dimension, as in PostGIS. */
function highest({ polygons, lines, points }: WkbReader): Shape | null {
  return [polygons, lines, points].find((shape) => shape.size > 0) ?? null
}

/** Transforms shapes to the grid of a tile and clips them to its buffer. */
class RowCutter {
  readonly #left: number
  readonly #top: number
  readonly #unit: number
  readonly #low: number
  readonly #high: number
  #path = new Path()
  #cut = new Path()
  readonly #cleaner = new PolygonCleaner()

  constructor({ z, x, y, buffer }: RowsTile) {
    // Beyond the last zoom of archives a tile unit is smaller than a world unit.
    this.#unit = 2 ** (MAX_ZOOM - z)
    this.#left = x * EXTENT * this.#unit
    this.#top = y * EXTENT * this.#unit
    this.#low = -buffer
    this.#high = EXTENT + buffer
  }

  cut(shape: Shape): Path {
    this.#load(shape)
    const clip = shape.kind === POINT ? clipPoints : shape.kind === LINE ? clipLines : clipRings
    for (const axis of [0, 1] as const) {
      clip(this.#path, this.#cut, axis, this.#low, this.#high)
      ;[this.#path, this.#cut] = [this.#cut, this.#path]
    }
    this.#round(shape.kind === LINE)
    if (shape.kind !== POLYGON) return this.#path
    this.#cleaner.clean(this.#path)
    return this.#cleaner.out
  }

  #load({ xy, size, ends, holes, parts }: Shape): void {
    const path = this.#path
    path.clear()
    path.ensure(size)
    let vertex = 0
    for (let part = 0; part < parts; part++) {
      for (; vertex < ends[part]!; vertex++) {
        path.push((xy[2 * vertex]! - this.#left) / this.#unit, (xy[2 * vertex + 1]! - this.#top) / this.#unit)
      }
      path.endPart(holes[part]!, 1)
    }
  }

  /** Rounds to whole units. Lines lose repeated vertices, and are dropped with only one left. */
  #round(dropsRepeated: boolean): void {
    const { xy, ends, holes, parts } = this.#path
    const out = this.#cut
    out.clear()
    out.ensure(this.#path.length / 2)
    let at = 0
    for (let part = 0; part < parts; part++) {
      const start = out.length
      for (; at < ends[part]!; at += 2) {
        const x = Math.floor(xy[at]! + 0.5)
        const y = Math.floor(xy[at + 1]! + 0.5)
        const repeats = out.length > start && out.xy[out.length - 2] === x && out.xy[out.length - 1] === y
        if (!(dropsRepeated && repeats)) out.push(x, y)
      }
      out.endPart(holes[part]!, dropsRepeated ? 2 : 1)
    }
    ;[this.#path, this.#cut] = [this.#cut, this.#path]
  }
}
