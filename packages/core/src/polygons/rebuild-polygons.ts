import { Faces } from './faces.ts'
import type { Edge } from './faces.ts'
import { Path } from './path.ts'
import { ringHolds } from './ring-holds.ts'
import type { SegmentPairs } from './segments.ts'
import { Grid, addCrossing, snappedRing } from './snap-rounding.ts'
import { tidyRing } from './tidy-ring.ts'

/**
 * Rebuilds polygons from rings that touch or cross: snap rounding makes all segments meet only in grid points, then the
 * faces with a positive winding number become polygons.
 *
 * Every simple loop of an outer ring counts +1 in either direction, of a hole −1: areas inside self-crossing rings
 * stay, holes are cut from their own polygon, and overlapping polygons become one.
 *
 * O(s·h) at worst for s segments and h grid points; needed for few polygons, all of them within one tile.
 *
 * @param path tidy rings with whole coordinates within ±2^14
 * @param pairs the segments of `path`, loaded
 * @param out receives outer rings of positive area, each followed by its holes of negative area
 */
export function rebuildPolygons(path: Path, pairs: SegmentPairs, out: Path): void {
  const grid = new Grid()
  for (let i = 0; i < path.length; i += 2) grid.node(path.xy[i]!, path.xy[i + 1]!)
  pairs.find(path, (a, b) => {
    addCrossing(path.xy, pairs.from[a]!, pairs.to[a]!, pairs.from[b]!, pairs.to[b]!, grid)
    return false
  })
  grid.sort()
  const edges = new Map<number, Edge>()
  for (let part = 0; part < path.parts; part++) {
    addLoops(snappedRing(path, path.startOf(part), path.ends[part]!, grid), path.holes[part]!, grid, edges)
  }
  const faces = new Faces(
    grid,
    [...edges.values()].filter((edge) => edge.net !== 0),
  )
  collect(faces.boundaries(), grid, out)
}

/** Takes a ring apart at the nodes it passes twice and counts each loop's edges in the direction of its role. */
function addLoops(ring: readonly number[], isHole: number, grid: Grid, edges: Map<number, Edge>): void {
  for (const loop of simpleLoops(ring)) {
    const area = loopArea(loop, grid)
    if (area === 0) continue
    const sign = area > 0 === (isHole === 0) ? 1 : -1
    for (let i = 0; i < loop.length; i++) {
      const a = loop[i]!
      const b = loop[i + 1 === loop.length ? 0 : i + 1]!
      const from = Math.min(a, b)
      const to = Math.max(a, b)
      const key = from * 0x4000000 + to
      let edge = edges.get(key)
      if (!edge) edges.set(key, (edge = { from, to, net: 0 }))
      edge.net += a === from ? sign : -sign
    }
  }
}

function simpleLoops(ring: readonly number[]): number[][] {
  const loops: number[][] = []
  const path: number[] = []
  const place = new Map<number, number>()
  for (const node of ring) {
    const seen = place.get(node)
    if (seen !== undefined) {
      const loop = path.splice(seen)
      for (const left of loop) place.delete(left)
      loops.push(loop)
    }
    place.set(node, path.length)
    path.push(node)
  }
  loops.push(path)
  return loops
}

function loopArea(loop: readonly number[], grid: Grid): number {
  let sum = 0
  let last = loop[loop.length - 1]!
  for (const node of loop) {
    sum += grid.xs[last]! * grid.ys[node]! - grid.ys[last]! * grid.xs[node]!
    last = node
  }
  return sum
}

/** Turns boundary walks into rings: one outer ring and the holes that touch it, or a hole somewhere within. */
function collect(walks: readonly number[][], grid: Grid, out: Path): void {
  const polygons: { outer: number[]; holes: number[][] }[] = []
  const loose: number[][] = []
  for (const walk of walks) {
    const rings = simpleLoops(walk)
    const outer = rings.find((ring) => loopArea(ring, grid) > 0)
    const holes = rings.filter((ring) => ring !== outer)
    if (outer) polygons.push({ outer, holes })
    else loose.push(...holes)
  }
  polygons.sort((a, b) => loopArea(a.outer, grid) - loopArea(b.outer, grid))
  const outers = new Path()
  for (const { outer } of polygons) appendRing(outer, 0, grid, outers)
  for (const hole of loose) {
    // The middle of an edge lies on no other ring. It may be a half, which is exact in a double.
    const x = (grid.xs[hole[0]!]! + grid.xs[hole[1]!]!) / 2
    const y = (grid.ys[hole[0]!]! + grid.ys[hole[1]!]!) / 2
    const home = polygons.findIndex((_, part) => ringHolds(outers, part, x, y))
    polygons[home]?.holes.push(hole)
  }
  for (const { outer, holes } of polygons) {
    appendTidy(outer, 0, grid, out)
    for (const hole of holes) appendTidy(hole, 1, grid, out)
  }
}

function appendRing(ring: readonly number[], isHole: number, grid: Grid, out: Path): void {
  out.ensure(ring.length)
  for (const node of ring) out.push(grid.xs[node]!, grid.ys[node]!)
  out.endPart(isHole, 3)
}

function appendTidy(ring: readonly number[], isHole: number, grid: Grid, out: Path): void {
  const rough = new Path()
  appendRing(ring, isHole, grid, rough)
  tidyRing(rough.xy, 0, rough.length, isHole, out)
}
