import { Path, PolygonCleaner, ringHolds } from '@terrane/core'

import type { Box } from './cells.ts'
import type { Ring, Surface } from './surface.ts'

/** A polygon of a whole number of millionths of a degree: an outer ring, then its holes; rings are closed. */
export type Polygon = [lon: number, lat: number][][]

/** A ring and its area in square metres; the sign is its orientation. */
interface SizedRing {
  readonly ring: Ring
  readonly area: number
}

/** Half the width of the grid on which areas are cleaned. */
const HALF = 16_000
/** Areas and holes below this size in square metres are artefacts of the sampling. */
const NOISE = 2000

/** Options of drawing areas. */
export interface Drawing {
  /** Maximum deviation of lines in metres. */
  readonly generalize: number
  /** Minimum size of areas and holes, as a share of the largest area; null removes noise only. */
  readonly denoise: number | null
}

/**
 * Converts rings to areas: simplified, on a grid of millionths of a degree, valid (OGC Simple Features). Each area lies
 * within the ones added after it.
 */
export class Areas {
  readonly #surface: Surface
  readonly #drawing: Drawing
  /** Step of the grid in millionths of a degree, and position of its middle. */
  readonly #step: { readonly lon: number; readonly lat: number }
  readonly #middle: { readonly lon: number; readonly lat: number }
  readonly #cleaner = new PolygonCleaner()
  #inner: Path | null = null

  /** @param outermost rings that contain all others */
  constructor(surface: Surface, drawing: Drawing, outermost: readonly Ring[]) {
    this.#surface = surface
    this.#drawing = drawing
    const { middle, metersPerLon, metersPerLat } = surface
    const widest = (values: (ring: Ring) => number[]): number =>
      outermost.reduce((most, ring) => values(ring).reduce((a, b) => Math.max(a, Math.abs(b)), most), 1)
    this.#step = {
      lon: Math.max(1, Math.ceil(widest(({ x }) => x) / metersPerLon / HALF)),
      lat: Math.max(1, Math.ceil(widest(({ y }) => y) / metersPerLat / HALF)),
    }
    this.#middle = { lon: Math.round(middle.lon), lat: Math.round(middle.lat) }
  }

  /** The polygons of rings, which contain the rings of earlier calls. */
  add(rings: readonly Ring[]): Polygon[] {
    const kept = this.#worthShowing(rings)
    const path = new Path()
    for (const group of this.#grouped(kept)) group.forEach((ring, i) => this.#append(ring, i > 0, path))
    this.#cleaner.clean(path)
    if (this.#inner !== null && this.#inner.parts > 0 && !holdsAll(this.#cleaner.out, this.#inner)) {
      // Cleans both paths together, so that parts of the inner one become parts of the outer one.
      const both = new Path()
      for (const one of [this.#cleaner.out, this.#inner]) copyParts(one, both)
      this.#cleaner.clean(both)
    }
    const out = new Path()
    copyParts(this.#cleaner.out, out)
    this.#inner = out
    return this.#polygonsOf(out)
  }

  /** Rings that are shown, the largest first. */
  #worthShowing(rings: readonly Ring[]): SizedRing[] {
    const sized = rings
      .map((ring) => ({ ring, area: areaOf(ring) }))
      .toSorted((a, b) => Math.abs(b.area) - Math.abs(a.area))
    const { denoise } = this.#drawing
    const least = denoise === null ? NOISE : denoise * Math.abs(sized[0]?.area ?? 0)
    return sized.filter(({ area }) => Math.abs(area) >= least)
  }

  /** Each outer ring with its holes. */
  #grouped(largest: readonly SizedRing[]): Ring[][] {
    const isOuter = ({ area }: SizedRing): boolean => area > 0 === largest[0]!.area > 0
    const groups: Ring[][] = []
    const boxes: Box[] = []
    const outers = new Path()
    for (const sized of largest) {
      if (!isOuter(sized)) continue
      const { x, y } = sized.ring
      groups.push([sized.ring])
      boxes.push(boxOf(sized.ring))
      outers.ensure(x.length)
      for (let i = 0; i < x.length; i++) outers.push(x[i]!, y[i]!)
      outers.endPart(0, 1)
    }
    for (const sized of largest) {
      if (isOuter(sized)) continue
      const { ring } = sized
      // The smallest outer ring around a hole is its own, because rings of one height do not cross.
      for (let part = groups.length - 1; part >= 0; part--) {
        if (!isInBox(boxes[part]!, ring.x[0]!, ring.y[0]!) || !ringHolds(outers, part, ring.x[0]!, ring.y[0]!)) continue
        groups[part]!.push(ring)
        break
      }
    }
    return groups
  }

  #append(ring: Ring, isHole: boolean, path: Path): void {
    const { x, y } = simplified(ring, this.#drawing.generalize)
    const { metersPerLon, metersPerLat } = this.#surface
    path.ensure(x.length)
    for (let i = 0; i < x.length; i++) {
      path.push(Math.round(x[i]! / metersPerLon / this.#step.lon), Math.round(y[i]! / metersPerLat / this.#step.lat))
    }
    path.endPart(isHole ? 1 : 0, 3)
  }

  #polygonsOf(path: Path): Polygon[] {
    const polygons: Polygon[] = []
    for (let part = 0; part < path.parts; part++) {
      const ring: [number, number][] = []
      for (let i = path.startOf(part); i < path.ends[part]!; i += 2) {
        ring.push([
          (this.#middle.lon + path.xy[i]! * this.#step.lon) / 1e6,
          (this.#middle.lat + path.xy[i + 1]! * this.#step.lat) / 1e6,
        ])
      }
      ring.push([...ring[0]!])
      if (path.holes[part] === 0) polygons.push([ring])
      else polygons.at(-1)!.push(ring)
    }
    return polygons
  }
}

/** Whether every vertex of a path's polygons lies in those of another. Edges may still cross; see `Areas`. */
function holdsAll(outer: Path, inner: Path): boolean {
  for (let part = 0; part < inner.parts; part++) {
    for (let i = inner.startOf(part); i < inner.ends[part]!; i += 2) {
      if (!holds(outer, inner.xy[i]!, inner.xy[i + 1]!)) return false
    }
  }
  for (let part = 0; part < outer.parts; part++) {
    for (let i = outer.startOf(part); i < outer.ends[part]!; i += 2) {
      if (holds(inner, outer.xy[i]!, outer.xy[i + 1]!)) return false
    }
  }
  return true
}

function holds(path: Path, x: number, y: number): boolean {
  let depth = 0
  for (let part = 0; part < path.parts; part++)
    if (ringHolds(path, part, x, y)) depth += path.holes[part] === 0 ? 1 : -1
  return depth > 0
}

function copyParts(from: Path, to: Path): void {
  for (let part = 0; part < from.parts; part++) {
    const [start, end] = [from.startOf(part), from.ends[part]!]
    to.ensure((end - start) / 2)
    for (let i = start; i < end; i += 2) to.push(from.xy[i]!, from.xy[i + 1]!)
    to.endPart(from.holes[part]!, 3)
  }
}

function boxOf({ x, y }: Ring): Box {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
  for (let i = 0; i < x.length; i++) {
    box.west = Math.min(box.west, x[i]!)
    box.south = Math.min(box.south, y[i]!)
    box.east = Math.max(box.east, x[i]!)
    box.north = Math.max(box.north, y[i]!)
  }
  return box
}

function isInBox({ west, south, east, north }: Box, x: number, y: number): boolean {
  return x >= west && x <= east && y >= south && y <= north
}

function areaOf({ x, y }: Ring): number {
  let twice = 0
  for (let i = 0, before = x.length - 1; i < x.length; before = i++) twice += x[before]! * y[i]! - x[i]! * y[before]!
  return twice / 2
}

/** Simplifies a ring (Douglas and Peucker, 1973). */
function simplified({ x, y }: Ring, tolerance: number): Ring {
  if (tolerance <= 0 || x.length < 8) return { x, y }
  const count = x.length
  let far = 0
  let most = -1
  for (let i = 1; i < count; i++) {
    const square = (x[i]! - x[0]!) ** 2 + (y[i]! - y[0]!) ** 2
    if (square > most) {
      most = square
      far = i
    }
  }
  const kept = new Uint8Array(count + 1)
  kept[0] = kept[far] = kept[count] = 1
  const open: [number, number][] = [
    [0, far],
    [far, count],
  ]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, to] = next
    let worst = -1
    let distance = tolerance * tolerance
    for (let i = from + 1; i < to; i++) {
      const away = squareFromSegment(x[i]!, y[i]!, x[from]!, y[from]!, x[to % count]!, y[to % count]!)
      if (away <= distance) continue
      distance = away
      worst = i
    }
    if (worst < 0) continue
    kept[worst] = 1
    open.push([from, worst], [worst, to])
  }
  return { x: x.filter((_, i) => kept[i] === 1), y: y.filter((_, i) => kept[i] === 1) }
}

/** The square of the distance between a point and a segment. */
function squareFromSegment(px: number, py: number, ax: number, ay: number, bx: number, by: number): number {
  const dx = bx - ax
  const dy = by - ay
  const square = dx * dx + dy * dy
  const share = square === 0 ? 0 : Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / square))
  const x = px - ax - share * dx
  const y = py - ay - share * dy
  return x * x + y * y
}
