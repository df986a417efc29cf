import type { Graph } from '../graph/graph.ts'
import { FANOUT, leafBegin, leafEnd, readBox } from './boxes.ts'

/** The point of a geometry that is nearest to a location. */
export interface Projection {
  readonly shape: number
  /** Planar distance in metres, for ranking only. */
  readonly meters: number
  readonly lon: number
  readonly lat: number
  /** Index of the point of the geometry before the nearest point. */
  readonly segment: number
}

const METERS_PER_DEGREE = 110567
/** Points are in millionths of a degree. */
const SCALE = 1e6

/**
 * Visits geometries of a graph in ascending order of their distance from a location, up to a limit. Best-first search
 * in the packed R-tree.
 *
 * @param accepts whether a geometry is visited; skipped ones cost almost nothing
 * @param visit returns the new limit in metres
 */
export function visitNearest(
  graph: Graph,
  { lon, lat, limit }: { lon: number; lat: number; limit: number },
  accepts: (shape: number) => boolean,
  visit: (nearest: Projection) => number,
): void {
  const seen = new Set<number>()
  const queue = new BoxQueue()
  const metric = new LocalMetric(lon, lat)
  const { boxLevels, boxShape } = graph
  let farthest = limit
  const enqueue = (level: number, first: number, end: number): void => {
    for (let box = first; box < end; box++) {
      if (level === 0 && !accepts(boxShape[box]!)) continue
      const meters = metric.toBox(graph, box)
      if (meters <= farthest) queue.push(meters, box, level, null)
    }
  }
  const top = boxLevels.length - 2
  enqueue(top, boxLevels[top]!, boxLevels[top + 1]!)
  for (let next = queue.pop(); next !== null && next.meters <= farthest; next = queue.pop()) {
    if (next.projection !== null) {
      if (seen.has(next.projection.shape)) continue
      seen.add(next.projection.shape)
      farthest = visit(next.projection)
    } else if (next.level === 0) {
      const projection = metric.toLeaf(graph, next.box)
      queue.push(projection.meters, next.box, 0, projection)
    } else {
      const below = boxLevels[next.level - 1]!
      const first = below + FANOUT * (next.box - boxLevels[next.level]!)
      enqueue(next.level - 1, first, Math.min(first + FANOUT, boxLevels[next.level]!))
    }
  }
}

/** Distances around a location, on its tangent plane. */
class LocalMetric {
  readonly #lon: number
  readonly #lat: number
  readonly #lonMeters: number
  readonly #box = new Int32Array(4)

  constructor(lon: number, lat: number) {
    this.#lon = lon * SCALE
    this.#lat = lat * SCALE
    this.#lonMeters = (METERS_PER_DEGREE * Math.cos((lat * Math.PI) / 180)) / SCALE
  }

  /** A lower bound for everything in a box. */
  toBox(graph: Graph, box: number): number {
    readBox(graph, box, this.#box)
    const west = this.#box[0]!
    const south = this.#box[1]!
    const east = this.#box[2]!
    const north = this.#box[3]!
    const dx = Math.max(west - this.#lon, 0, this.#lon - east) * this.#lonMeters
    const dy = Math.max(south - this.#lat, 0, this.#lat - north) * (METERS_PER_DEGREE / SCALE)
    return Math.hypot(dx, dy)
  }

  /** The nearest point of a section of a geometry. */
  toLeaf(graph: Graph, leaf: number): Projection {
    const { pointLon, pointLat, boxShape, firstPoint } = graph
    const shape = boxShape[leaf]!
    const first = leafBegin(graph, leaf)
    const end = leafEnd(graph, shape, first)
    const latMeters = METERS_PER_DEGREE / SCALE
    let best = Infinity
    let bestLon = 0
    let bestLat = 0
    let segment = first
    for (let i = first; i < end; i++) {
      const x = (pointLon[i]! - this.#lon) * this.#lonMeters
      const y = (pointLat[i]! - this.#lat) * latMeters
      const dx = (pointLon[i + 1]! - pointLon[i]!) * this.#lonMeters
      const dy = (pointLat[i + 1]! - pointLat[i]!) * latMeters
      const square = dx * dx + dy * dy
      const share = square === 0 ? 0 : Math.min(1, Math.max(0, -(x * dx + y * dy) / square))
      const meters = Math.hypot(x + share * dx, y + share * dy)
      if (meters >= best) continue
      best = meters
      segment = i
      bestLon = pointLon[i]! + share * (pointLon[i + 1]! - pointLon[i]!)
      bestLat = pointLat[i]! + share * (pointLat[i + 1]! - pointLat[i]!)
    }
    return { shape, meters: best, lon: bestLon / SCALE, lat: bestLat / SCALE, segment: segment - firstPoint[shape]! }
  }
}

interface QueueEntry {
  readonly meters: number
  readonly box: number
  readonly level: number
  readonly projection: Projection | null
}

/** A binary heap of boxes by distance. */
class BoxQueue {
  readonly #entries: QueueEntry[] = []

  push(meters: number, box: number, level: number, projection: Projection | null): void {
    const entries = this.#entries
    const entry = { meters, box, level, projection }
    let at = entries.length
    entries.push(entry)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (entries[parent]!.meters <= meters) break
      entries[at] = entries[parent]!
      at = parent
    }
    entries[at] = entry
  }

  pop(): QueueEntry | null {
    const entries = this.#entries
    const top = entries[0]
    const last = entries.pop()
    if (top === undefined || last === undefined) return null
    if (entries.length === 0) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= entries.length) break
      if (child + 1 < entries.length && entries[child + 1]!.meters < entries[child]!.meters) child++
      if (entries[child]!.meters >= last.meters) break
      entries[at] = entries[child]!
      at = child
    }
    entries[at] = last
    return top
  }
}
