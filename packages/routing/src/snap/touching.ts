import type { Graph } from '../graph/graph.ts'
import { FANOUT, leafEnd } from './boxes.ts'

type Point = readonly [number, number]

/** Geometries that a closed ring of points, in degrees, crosses or holds. */
export function shapesTouching(graph: Graph, ring: readonly Point[]): Set<number> {
  const millionths = ring.map(([lon, lat]): Point => [lon * 1e6, lat * 1e6])
  const touching = new Set<number>()
  for (const leaf of leavesInBox(graph, boxOf(millionths))) {
    const shape = graph.boxItems[2 * leaf]!
    const first = graph.boxItems[2 * leaf + 1]!
    if (!touching.has(shape) && touches(graph, first, leafEnd(graph, shape, first), millionths)) touching.add(shape)
  }
  return touching
}

function boxOf(points: readonly Point[]): { west: number; south: number; east: number; north: number } {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
  for (const [x, y] of points) {
    box.west = Math.min(box.west, x)
    box.south = Math.min(box.south, y)
    box.east = Math.max(box.east, x)
    box.north = Math.max(box.north, y)
  }
  return box
}

function leavesInBox({ boxes, boxLevels }: Graph, wanted: ReturnType<typeof boxOf>): number[] {
  const leaves: number[] = []
  const overlaps = (box: number): boolean =>
    boxes[4 * box]! <= wanted.east &&
    boxes[4 * box + 2]! >= wanted.west &&
    boxes[4 * box + 1]! <= wanted.north &&
    boxes[4 * box + 3]! >= wanted.south
  const visit = (level: number, first: number, end: number): void => {
    for (let box = first; box < end; box++) {
      if (!overlaps(box)) continue
      if (level === 0) {
        leaves.push(box)
        continue
      }
      const below = boxLevels[level - 1]! + FANOUT * (box - boxLevels[level]!)
      visit(level - 1, below, Math.min(below + FANOUT, boxLevels[level]!))
    }
  }
  const top = boxLevels.length - 2
  visit(top, boxLevels[top]!, boxLevels[top + 1]!)
  return leaves
}

/** Whether a stretch of points has one inside a ring, or crosses it. */
function touches({ pointLon, pointLat }: Graph, first: number, last: number, ring: readonly Point[]): boolean {
  const at = (i: number): Point => [pointLon[i]!, pointLat[i]!]
  if (isInside(at(first), ring)) return true
  for (let i = first; i < last; i++) {
    for (let k = 1; k < ring.length; k++) if (cross(at(i), at(i + 1), ring[k - 1]!, ring[k]!)) return true
  }
  return false
}

/** By the number of times a ray from the point crosses the ring. */
function isInside([x, y]: Point, ring: readonly Point[]): boolean {
  let inside = false
  for (let k = 1; k < ring.length; k++) {
    const [x1, y1] = ring[k - 1]!
    const [x2, y2] = ring[k]!
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) inside = !inside
  }
  return inside
}

/** Whether two stretches between points have a point in common. */
function cross(a: Point, b: Point, c: Point, d: Point): boolean {
  const side = (p: Point, q: Point, r: Point): number =>
    Math.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))
  const within = (p: Point, q: Point, r: Point): boolean =>
    Math.min(p[0], q[0]) <= r[0] &&
    r[0] <= Math.max(p[0], q[0]) &&
    Math.min(p[1], q[1]) <= r[1] &&
    r[1] <= Math.max(p[1], q[1])
  const c1 = side(a, b, c)
  const d1 = side(a, b, d)
  const a1 = side(c, d, a)
  const b1 = side(c, d, b)
  if (c1 !== d1 && a1 !== b1) return true
  return (
    (c1 === 0 && within(a, b, c)) ||
    (d1 === 0 && within(a, b, d)) ||
    (a1 === 0 && within(c, d, a)) ||
    (b1 === 0 && within(c, d, b))
  )
}
