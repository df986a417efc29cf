import { Path, PolygonCleaner, hilbertIndex, twiceArea } from '@terrane/core'
import type { Kind } from '../features/shape.ts'
import { LINE, POINT, POLYGON } from '../features/shape.ts'
import { clipLines, clipPoints, clipRings } from '../geometry/clip.ts'
import type { Axis } from '../geometry/clip.ts'
import { firstTileId } from '../pmtiles/tile-id.ts'
import type { RecordSorter } from '../spill/record-sorter.ts'
import { BUFFER, EXTENT } from '../world.ts'
import { commandsSizeBound, writePath, writePoints } from './commands.ts'
import { FRAGMENT_HEAD, writeFragmentHead } from './fragment.ts'

/**
 * Cuts geometry on the grid of one zoom into tiles and puts a fragment per tile into a sorter. A path that spans many
 * tiles is halved recursively, so that the work is proportional to its vertices times the logarithm of the tiles; tiles
 * that a polygon covers are not clipped. Not re-entrant.
 */
export class Slicer {
  readonly #fragments: RecordSorter
  readonly #halves: Path[] = []
  readonly #local = new Path()
  readonly #square = new Path()
  readonly #cleaner = new PolygonCleaner()
  #zoom = 0
  #tiles = 1
  #kind: Kind = POINT
  #feature = 0
  #emitted = 0
  readonly #layer: number
  /** The last written tile per zoom; neighbours on the Hilbert curve mostly share it. */
  readonly #lastTile: { x: number; y: number; id: number }[] = []

  /** @param layer number of the layer that the fragments belong to */
  constructor(fragments: RecordSorter, layer: number) {
    this.#fragments = fragments
    this.#layer = layer
  }

  /**
   * Cuts one path; returns how many fragments it gave.
   *
   * @param path measured geometry on the grid of `zoom`, whole coordinates
   * @param feature the address that the fragments refer to
   */
  slice(path: Path, kind: Kind, zoom: number, feature: number): number {
    this.#zoom = zoom
    this.#tiles = 2 ** zoom
    this.#kind = kind
    this.#feature = feature
    this.#emitted = 0
    if (path.parts > 0) this.#descend(path, ...this.#tileRange(path), 0)
    return this.#emitted
  }

  /** The tiles whose buffered squares the bounds of a path touch. */
  #tileRange(path: Path): [number, number, number, number] {
    return [
      Math.ceil((path.minX - BUFFER) / EXTENT) - 1,
      Math.floor((path.maxX + BUFFER) / EXTENT),
      Math.max(0, Math.ceil((path.minY - BUFFER) / EXTENT) - 1),
      Math.min(this.#tiles - 1, Math.floor((path.maxY + BUFFER) / EXTENT)),
    ]
  }

  /** Handles the tiles `x0..x1` by `y0..y1`, which contain the whole path. */
  #descend(path: Path, x0: number, x1: number, y0: number, y1: number, depth: number): void {
    if (x0 > x1 || y0 > y1) return
    if (x0 === x1 && y0 === y1) return this.#emit(path, x0, y0)
    if (this.#kind === POLYGON && fills(path, x0, x1, y0, y1)) {
      for (let x = x0; x <= x1; x++) for (let y = y0; y <= y1; y++) this.#emit(squareOf(x, y, this.#square), x, y)
      return
    }
    if (x1 - x0 >= y1 - y0) {
      const middle = (x0 + x1) >> 1
      this.#half(path, 0, x0, middle, (low, high, half) => this.#descend(half, low, high, y0, y1, depth + 1), depth)
      this.#half(path, 0, middle + 1, x1, (low, high, half) => this.#descend(half, low, high, y0, y1, depth + 1), depth)
    } else {
      const middle = (y0 + y1) >> 1
      this.#half(path, 1, y0, middle, (low, high, half) => this.#descend(half, x0, x1, low, high, depth + 1), depth)
      this.#half(path, 1, middle + 1, y1, (low, high, half) => this.#descend(half, x0, x1, low, high, depth + 1), depth)
    }
  }

  /** Clips to the tiles `first..last` of one axis, then each part along the other axis. */
  #half(
    path: Path,
    axis: Axis,
    first: number,
    last: number,
    descend: (low: number, high: number, half: Path) => void,
    depth: number,
  ): void {
    const low = first * EXTENT - BUFFER
    const high = (last + 1) * EXTENT + BUFFER
    const min = axis === 0 ? path.minX : path.minY
    const max = axis === 0 ? path.maxX : path.maxY
    if (max < low || min > high) return
    let half = path
    if (min < low || max > high) {
      half = this.#halves[depth] ??= new Path()
      if (this.#kind === POLYGON) clipRings(path, half, axis, low, high)
      else if (this.#kind === LINE) clipLines(path, half, axis, low, high)
      else clipPoints(path, half, axis, low, high)
      if (half.parts === 0) return
      half.measure()
    }
    const halfMin = axis === 0 ? half.minX : half.minY
    const halfMax = axis === 0 ? half.maxX : half.maxY
    descend(
      Math.max(first, Math.ceil((halfMin - BUFFER) / EXTENT) - 1),
      Math.min(last, Math.floor((halfMax + BUFFER) / EXTENT)),
      half,
    )
  }

  /** Writes the fragment of a path that lies within the buffered square of the tile. */
  #emit(path: Path, tileX: number, tileY: number): void {
    const local = this.#local
    const offsetX = tileX * EXTENT
    const offsetY = tileY * EXTENT
    local.clear()
    local.ensure(path.length / 2)
    if (this.#kind === POLYGON) this.#emitPolygons(path, offsetX, offsetY, tileX, tileY)
    else if (this.#kind === LINE) this.#emitLines(path, offsetX, offsetY, tileX, tileY)
    else this.#emitPoints(path, offsetX, offsetY, tileX, tileY)
  }

  #emitPoints(path: Path, offsetX: number, offsetY: number, tileX: number, tileY: number): void {
    const local = this.#local
    for (let i = 0; i < path.length; i += 2) local.push(path.xy[i]! - offsetX, path.xy[i + 1]! - offsetY)
    local.endPart(0, 1)
    let at = this.#begin(commandsSizeBound(local), local.length / 2)
    at = writePoints(this.#fragments.log.bytes, at, local)
    this.#commit(tileX, tileY, at)
  }

  #emitLines(path: Path, offsetX: number, offsetY: number, tileX: number, tileY: number): void {
    const local = this.#local
    let length = 0
    for (let part = 0; part < path.parts; part++) length += appendLine(path, part, offsetX, offsetY, local)
    if (local.parts === 0) return
    let at = this.#begin(commandsSizeBound(local), length)
    at = writePath(this.#fragments.log.bytes, at, local, false)
    this.#commit(tileX, tileY, at)
  }

  #emitPolygons(path: Path, offsetX: number, offsetY: number, tileX: number, tileY: number): void {
    const local = this.#local
    for (let part = 0; part < path.parts; part++) {
      const end = path.ends[part]!
      for (let i = path.startOf(part); i < end; i += 2) {
        local.push(Math.round(path.xy[i]!) - offsetX, Math.round(path.xy[i + 1]!) - offsetY)
      }
      local.endPart(path.holes[part]!, 3)
    }
    this.#cleaner.clean(local)
    const clean = this.#cleaner.out
    if (clean.parts === 0) return
    let area = 0
    for (let part = 0; part < clean.parts; part++) {
      area += twiceArea(clean.xy, clean.startOf(part) / 2, clean.ends[part]! / 2) / 2
    }
    let at = this.#begin(commandsSizeBound(clean), area)
    at = writePath(this.#fragments.log.bytes, at, clean, true)
    this.#commit(tileX, tileY, at)
  }

  #begin(geometrySize: number, weight: number): number {
    this.#fragments.reserve(FRAGMENT_HEAD + geometrySize)
    const { log } = this.#fragments
    return writeFragmentHead(log.bytes, log.at, this.#kind, this.#layer, weight, this.#feature)
  }

  #commit(tileX: number, tileY: number, end: number): void {
    this.#fragments.commit(this.#tileId(tileX, tileY), end)
    this.#emitted++
  }

  /** Tiles beyond the antimeridian are the tiles on the other side. */
  #tileId(tileX: number, y: number): number {
    const x = ((tileX % this.#tiles) + this.#tiles) % this.#tiles
    const last = (this.#lastTile[this.#zoom] ??= { x: -1, y: -1, id: -1 })
    if (last.x !== x || last.y !== y) {
      last.x = x
      last.y = y
      last.id = firstTileId(this.#zoom) + hilbertIndex(this.#zoom, x, y)
    }
    return last.id
  }
}

/** Appends a line in tile coordinates without collinear vertices; returns its length. */
function appendLine(path: Path, part: number, offsetX: number, offsetY: number, local: Path): number {
  const xy = path.xy
  const end = path.ends[part]!
  const base = local.openStart()
  const out = local.xy
  let at = base
  let length = 0
  for (let i = path.startOf(part); i < end; i += 2) {
    const x = Math.round(xy[i]!) - offsetX
    const y = Math.round(xy[i + 1]!) - offsetY
    if (at > base) {
      const dx = x - out[at - 2]!
      const dy = y - out[at - 1]!
      if (dx === 0 && dy === 0) continue
      length += Math.sqrt(dx * dx + dy * dy)
      if (at - base >= 4) {
        const ex = out[at - 2]! - out[at - 4]!
        const ey = out[at - 1]! - out[at - 3]!
        if (ex * dy === ey * dx && ex * dx + ey * dy > 0) at -= 2
      }
    }
    out[at++] = x
    out[at++] = y
  }
  local.length = at
  local.endPart(0, 2)
  return length
}

/** Whether the path, clipped to the buffered squares of the tiles, is one ring that covers them all. */
function fills(path: Path, x0: number, x1: number, y0: number, y1: number): boolean {
  if (path.parts !== 1) return false
  const left = x0 * EXTENT - BUFFER
  const right = (x1 + 1) * EXTENT + BUFFER
  const top = y0 * EXTENT - BUFFER
  const bottom = (y1 + 1) * EXTENT + BUFFER
  if (path.minX !== left || path.maxX !== right || path.minY !== top || path.maxY !== bottom) return false
  const area = Math.abs(twiceArea(path.xy, 0, path.length / 2)) / 2
  return (right - left) * (bottom - top) - area < 0.5
}

/** The buffered square of a tile. */
function squareOf(x: number, y: number, path: Path): Path {
  path.clear()
  const left = x * EXTENT - BUFFER
  const top = y * EXTENT - BUFFER
  const size = EXTENT + 2 * BUFFER
  path.push(left, top)
  path.push(left + size, top)
  path.push(left + size, top + size)
  path.push(left, top + size)
  path.endPart(0, 3)
  return path
}
