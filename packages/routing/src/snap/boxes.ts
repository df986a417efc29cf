import { hilbertOrder } from '../geometry/hilbert.ts'

/** Children of an inner box. */
export const FANOUT = 16
/** Segments under a leaf. */
const SEGMENTS = 8

/**
 * A static R-tree over stretches of geometries, packed in the order of a Hilbert curve (after Agafonkin's flatbush).
 * Box `i` is `boxes[4 * i …]`: west, south, east, north. Level `l` occupies `levels[l] … levels[l + 1] - 1`, leaves
 * first; children of the `k`-th box of a level are the boxes `FANOUT * k …` of the level below. `items` holds for each
 * leaf its geometry and the index of its first point.
 */
export interface BoxTree {
  readonly boxes: Int32Array
  readonly levels: Uint32Array
  readonly items: Uint32Array
}

/** Geometry of a graph: points of each shape in 1e-6 degrees. */
export interface Shapes {
  readonly firstPoint: Uint32Array
  readonly pointLon: Int32Array
  readonly pointLat: Int32Array
}

export function packBoxes(shapes: Shapes): BoxTree {
  const leaves = cutIntoLeaves(shapes)
  const count = leaves.shape.length
  const centreX = Int32Array.from(leaves.box, (box) => box[0] + (box[2] - box[0]) / 2)
  const centreY = Int32Array.from(leaves.box, (box) => box[1] + (box[3] - box[1]) / 2)
  const order = hilbertOrder(centreX, centreY)
  const levels = levelOffsets(count)
  const boxes = new Int32Array(4 * levels.at(-1)!)
  const items = new Uint32Array(2 * count)
  order.forEach((leaf, i) => {
    boxes.set(leaves.box[leaf]!, 4 * i)
    items[2 * i] = leaves.shape[leaf]!
    items[2 * i + 1] = leaves.point[leaf]!
  })
  for (let level = 1; level + 1 < levels.length; level++) {
    for (let parent = levels[level]!; parent < levels[level + 1]!; parent++) {
      const first = levels[level - 1]! + FANOUT * (parent - levels[level]!)
      const end = Math.min(first + FANOUT, levels[level]!)
      boxes.set(union(boxes, first, end), 4 * parent)
    }
  }
  return { boxes, levels, items }
}

/** Points of a leaf: from its first point to where the next leaf of the geometry begins. */
export function leafEnd({ firstPoint }: Shapes, shape: number, first: number): number {
  return Math.min(first + SEGMENTS, firstPoint[shape + 1]! - 1)
}

type Box = [number, number, number, number]

function cutIntoLeaves(shapes: Shapes): { shape: number[]; point: number[]; box: Box[] } {
  const { firstPoint, pointLon, pointLat } = shapes
  const leaves = { shape: [] as number[], point: [] as number[], box: [] as Box[] }
  for (let shape = 0; shape + 1 < firstPoint.length; shape++) {
    for (let point = firstPoint[shape]!; point < firstPoint[shape + 1]! - 1; point += SEGMENTS) {
      const box: Box = [Infinity, Infinity, -Infinity, -Infinity]
      for (let i = point; i <= leafEnd(shapes, shape, point); i++) {
        box[0] = Math.min(box[0], pointLon[i]!)
        box[1] = Math.min(box[1], pointLat[i]!)
        box[2] = Math.max(box[2], pointLon[i]!)
        box[3] = Math.max(box[3], pointLat[i]!)
      }
      leaves.shape.push(shape)
      leaves.point.push(point)
      leaves.box.push(box)
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
