import { hilbertOrder } from '../geometry/hilbert.ts'
import { streetTooLong } from '../errors.ts'
import type { Graph } from '../graph/graph.ts'

/** Number of children of an inner box. */
export const FANOUT = 16
/** Number of segments per leaf. */
const SEGMENTS = 8
/** Maximum number of points of a geometry, because leaves of a geometry have 16-bit numbers. */
const MOST_POINTS = SEGMENTS * 2 ** 16

/**
 * A static R-tree over sections of geometries, packed in the order of a Hilbert curve (after Agafonkin's flatbush).
 * Level `l` occupies `levels[l] … levels[l + 1] - 1`, leaves first; children of the `k`-th box of a level are the boxes
 * `FANOUT * k …` of the level below. A leaf is the section with number `stretch` of a geometry, and its box is that of
 * its points. Inner box `i` (numbered after the leaves) is `boxes[4 * (i - levels[1]) …]`: west, south, east, north.
 * See `readBox`.
 */
export interface BoxTree {
  readonly boxes: Int32Array
  readonly levels: Uint32Array
  readonly shape: Uint32Array
  readonly stretch: Uint16Array
}

/** Geometry of a graph: points of each shape in 1e-6 degrees. */
export interface Shapes {
  readonly firstPoint: Uint32Array
  readonly pointLon: Int32Array
  readonly pointLat: Int32Array
}

/** @throws STREET_TOO_LONG */
export function packBoxes(shapes: Shapes): BoxTree {
  const { shape, stretch, box } = cutIntoLeaves(shapes)
  const count = shape.length
  const centre = (axis: number): Int32Array =>
    Int32Array.from(shape, (_, leaf) => box[4 * leaf + axis]! + (box[4 * leaf + axis + 2]! - box[4 * leaf + axis]!) / 2)
  const order = hilbertOrder(centre(0), centre(1))
  const levels = levelOffsets(count)
  const boxes = new Int32Array(4 * levels.at(-1)!)
  for (const [i, leaf] of order.entries()) {
    for (let side = 0; side < 4; side++) boxes[4 * i + side] = box[4 * leaf + side]!
  }
  for (let level = 1; level + 1 < levels.length; level++) {
    for (let parent = levels[level]!; parent < levels[level + 1]!; parent++) {
      const first = levels[level - 1]! + FANOUT * (parent - levels[level]!)
      const end = Math.min(first + FANOUT, levels[level]!)
      boxes.set(union(boxes, first, end), 4 * parent)
    }
  }
  return {
    boxes: boxes.slice(4 * count),
    levels,
    shape: Uint32Array.from(order, (leaf) => shape[leaf]!),
    stretch: Uint16Array.from(order, (leaf) => stretch[leaf]!),
  }
}

/** The part of a graph with its boxes. */
export type Boxes = Shapes & Pick<Graph, 'boxes' | 'boxLevels' | 'boxShape' | 'boxStretch'>

/** Writes a box: west, south, east, north. */
export function readBox(graph: Boxes, box: number, into: Int32Array): void {
  const inner = box - graph.boxLevels[1]!
  if (inner >= 0) {
    for (let side = 0; side < 4; side++) into[side] = graph.boxes[4 * inner + side]!
    return
  }
  const { pointLon, pointLat } = graph
  const first = leafBegin(graph, box)
  const end = leafEnd(graph, graph.boxShape[box]!, first)
  let [west, south] = [pointLon[first]!, pointLat[first]!]
  let [east, north] = [west, south]
  for (let i = first + 1; i <= end; i++) {
    const lon = pointLon[i]!
    const lat = pointLat[i]!
    if (lon < west) west = lon
    else if (lon > east) east = lon
    if (lat < south) south = lat
    else if (lat > north) north = lat
  }
  into[0] = west
  into[1] = south
  into[2] = east
  into[3] = north
}

/** First point of a leaf. */
export function leafBegin({ firstPoint, boxShape, boxStretch }: Boxes, leaf: number): number {
  return firstPoint[boxShape[leaf]!]! + SEGMENTS * boxStretch[leaf]!
}

/** End of a leaf's points: the first point of the next leaf of the geometry. */
export function leafEnd({ firstPoint }: Shapes, shape: number, first: number): number {
  return Math.min(first + SEGMENTS, firstPoint[shape + 1]! - 1)
}

type Box = [number, number, number, number]

interface Leaves {
  readonly shape: Uint32Array
  /** Number of each leaf within its geometry. */
  readonly stretch: Uint16Array
  /** Four numbers per leaf. */
  readonly box: Int32Array
}

function cutIntoLeaves(shapes: Shapes): Leaves {
  const { firstPoint, pointLon, pointLat } = shapes
  let count = 0
  for (let shape = 0; shape + 1 < firstPoint.length; shape++) {
    const points = firstPoint[shape + 1]! - firstPoint[shape]!
    if (points > MOST_POINTS) throw streetTooLong({ points, most: MOST_POINTS })
    count += Math.max(0, Math.ceil((points - 1) / SEGMENTS))
  }
  const leaves = { shape: new Uint32Array(count), stretch: new Uint16Array(count), box: new Int32Array(4 * count) }
  let leaf = 0
  for (let shape = 0; shape + 1 < firstPoint.length; shape++) {
    for (let point = firstPoint[shape]!; point < firstPoint[shape + 1]! - 1; point += SEGMENTS) {
      let [west, south, east, north]: Box = [Infinity, Infinity, -Infinity, -Infinity]
      for (let i = point; i <= leafEnd(shapes, shape, point); i++) {
        west = Math.min(west, pointLon[i]!)
        south = Math.min(south, pointLat[i]!)
        east = Math.max(east, pointLon[i]!)
        north = Math.max(north, pointLat[i]!)
      }
      leaves.shape[leaf] = shape
      leaves.stretch[leaf] = (point - firstPoint[shape]!) / SEGMENTS
      leaves.box.set([west, south, east, north], 4 * leaf++)
    }
  }
  return leaves
}

function levelOffsets(leaves: number): Uint32Array {
  const offsets = [0, leaves]
  for (let size = leaves; size > 1;) {
    size = Math.ceil(size / FANOUT)
    offsets.push(offsets.at(-1)! + size)
  }
  return Uint32Array.from(offsets)
}

function union(boxes: Int32Array, first: number, end: number): Box {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = first; i < end; i++) {
    box[0] = Math.min(box[0], boxes[4 * i]!)
    box[1] = Math.min(box[1], boxes[4 * i + 1]!)
    box[2] = Math.max(box[2], boxes[4 * i + 2]!)
    box[3] = Math.max(box[3], boxes[4 * i + 3]!)
  }
  return box
}
