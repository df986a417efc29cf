import { segmentsMeet } from '@terrane/core'

import type { Graph } from '../graph/graph.ts'
import { FANOUT, leafBegin, leafEnd, readBox } from './boxes.ts'

/** Number of segments of a ring per look-up. */
const RUN = 8

/**
 * Geometries that at least one of the given closed rings, in degrees, crosses or contains. Rings are cut into short
 * runs which are looked up in the R-tree of the geometries: the work grows with the length of the rings, not with the
 * product of their points and the streets around.
 */
export function shapesTouching(graph: Graph, rings: readonly (readonly (readonly [number, number])[])[]): Set<number> {
  const touching = new Set<number>()
  for (const points of rings) {
    const ring = new Ring(points)
    const inBox = leavesInBox(graph, ring.box(0, ring.segments))
    if (inBox.length === 0) continue
    for (let first = 0; first < ring.segments; first += RUN) {
      const end = Math.min(first + RUN, ring.segments)
      const box = ring.box(first, end)
      const leaves = ring.segments <= RUN ? inBox : leavesInBox(graph, box)
      for (const leaf of leaves) {
        const shape = graph.boxShape[leaf]!
        if (!touching.has(shape) && isCrossed(graph, leaf, box, ring, first, end)) touching.add(shape)
      }
    }
    // An uncrossed part lies completely inside or outside, so its first point decides.
    for (const leaf of inBox) {
      const shape = graph.boxShape[leaf]!
      const point = leafBegin(graph, leaf)
      if (!touching.has(shape) && ring.holds(graph.pointLon[point]!, graph.pointLat[point]!)) touching.add(shape)
    }
  }
  return touching
}

interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** A closed line of points in 1e-6 degrees, as in a graph. */
class Ring {
  readonly segments: number
  readonly x: Float64Array
  readonly y: Float64Array
  readonly #box: Box
  #bands: Bands | null = null

  constructor(points: readonly (readonly [number, number])[]) {
    this.segments = points.length - 1
    this.x = Float64Array.from(points, ([lon]) => lon * 1e6)
    this.y = Float64Array.from(points, ([, lat]) => lat * 1e6)
    this.#box = this.box(0, this.segments)
  }

  /** Box around the segments `first` to `end` (excluded). */
  box(first: number, end: number): Box {
    const { x, y } = this
    let west = Infinity
    let south = Infinity
    let east = -Infinity
    let north = -Infinity
    for (let i = first; i <= end; i++) {
      west = Math.min(west, x[i]!)
      south = Math.min(south, y[i]!)
      east = Math.max(east, x[i]!)
      north = Math.max(north, y[i]!)
    }
    return { west, south, east, north }
  }

  /** Whether a point is inside, by the number of crossings of a ray to the east. */
  holds(px: number, py: number): boolean {
    const { west, south, east, north } = this.#box
    if (px < west || px > east || py < south || py > north) return false
    const { x, y } = this
    const { first, segment, perUnit } = (this.#bands ??= bandsOf(y, south, north))
    const band = Math.min(first.length - 2, Math.floor((py - south) * perUnit))
    let inside = false
    for (let i = first[band]!; i < first[band + 1]!; i++) {
      const k = segment[i]!
      const y1 = y[k]!
      const y2 = y[k + 1]!
      if (y1 > py !== y2 > py && px < x[k]! + ((py - y1) / (y2 - y1)) * (x[k + 1]! - x[k]!)) inside = !inside
    }
    return inside
  }
}

/** Segments of a ring by the bands of equal height that they reach into; band `b` has `segment[first[b]] …`. */
interface Bands {
  readonly first: Uint32Array
  readonly segment: Uint32Array
  readonly perUnit: number
}

/** Divides segments into bands; the number of bands is such that a segment is in two of them on average. */
function bandsOf(y: Float64Array, south: number, north: number): Bands {
  const segments = y.length - 1
  let climbed = 0
  for (let k = 0; k < segments; k++) climbed += Math.abs(y[k + 1]! - y[k]!)
  const count = climbed > 0 ? Math.max(1, Math.floor((segments * (north - south)) / climbed)) : 1
  const perUnit = north > south ? count / (north - south) : 0
  const bandOf = (value: number): number => Math.min(count - 1, Math.floor((value - south) * perUnit))
  const first = new Uint32Array(count + 1)
  const eachBand = (visit: (band: number, segment: number) => void): void => {
    for (let k = 0; k < segments; k++) {
      const last = bandOf(Math.max(y[k]!, y[k + 1]!))
      for (let band = bandOf(Math.min(y[k]!, y[k + 1]!)); band <= last; band++) visit(band, k)
    }
  }
  eachBand((band) => first[band + 1]!++)
  for (let band = 0; band < count; band++) first[band + 1]! += first[band]!
  const segment = new Uint32Array(first[count]!)
  const next = first.slice()
  eachBand((band, k) => (segment[next[band]!++] = k))
  return { first, segment, perUnit }
}

/** The leaves in a box, found level by level. */
function leavesInBox(graph: Graph, { west, south, east, north }: Box): Uint32Array {
  const { boxLevels } = graph
  const sides = new Int32Array(4)
  const top = boxLevels.length - 2
  let found = Uint32Array.from({ length: boxLevels[top + 1]! - boxLevels[top]! }, (_, i) => boxLevels[top]! + i)
  for (let level = top; level >= 0; level--) {
    let count = 0
    for (let k = 0; k < found.length; k++) {
      readBox(graph, found[k]!, sides)
      if (sides[0]! > east || sides[2]! < west || sides[1]! > north || sides[3]! < south) continue
      found[count++] = found[k]!
    }
    found = found.subarray(0, count)
    if (level > 0) found = childrenOf(found, boxLevels[level - 1]!, boxLevels[level]!)
  }
  return found
}

/** The boxes below some boxes of a level. */
function childrenOf(parents: Uint32Array, first: number, end: number): Uint32Array<ArrayBuffer> {
  const children = new Uint32Array(parents.length * FANOUT)
  let count = 0
  for (let i = 0; i < parents.length; i++) {
    const begin = first + FANOUT * (parents[i]! - end)
    for (let child = begin; child < begin + FANOUT && child < end; child++) children[count++] = child
  }
  return children.subarray(0, count)
}

/** Whether a leaf's section has a point in common with the segments `first` to `end` (excluded) of a ring. */
function isCrossed(graph: Graph, leaf: number, box: Box, { x, y }: Ring, first: number, end: number): boolean {
  const { pointLon, pointLat } = graph
  const begin = leafBegin(graph, leaf)
  const last = leafEnd(graph, graph.boxShape[leaf]!, begin)
  for (let i = begin; i < last; i++) {
    const x1 = pointLon[i]!
    const y1 = pointLat[i]!
    const x2 = pointLon[i + 1]!
    const y2 = pointLat[i + 1]!
    if (Math.max(x1, x2) < box.west || Math.min(x1, x2) > box.east) continue
    if (Math.max(y1, y2) < box.south || Math.min(y1, y2) > box.north) continue
    for (let k = first; k < end; k++) if (segmentsMeet(x1, y1, x2, y2, x[k]!, y[k]!, x[k + 1]!, y[k + 1]!)) return true
  }
  return false
}
