import { hilbertIndex } from '@terrane/core'
import type { Box } from '../../shape-facts.ts'

/** Items of a node; default of the format. */
export const NODE_SIZE = 16
/** Bytes of a node: four numbers of a box, and the position of its children. */
const NODE_BYTES = 40
const HILBERT_BITS = 16

/** Boxes of features (four numbers each) and their positions in a file (two numbers each). */
export class Places {
  #values = new Float64Array(6 * 1024)
  count = 0

  add([west, south, east, north]: Box, offset: number, bytes: number): void {
    const at = this.count++ * 6
    if (at + 6 > this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values.set([west, south, east, north, offset, bytes], at)
  }

  box(i: number): Box {
    const values = this.#values
    const at = i * 6
    return [values[at]!, values[at + 1]!, values[at + 2]!, values[at + 3]!]
  }

  offset(i: number): number {
    return this.#values[i * 6 + 4]!
  }

  bytes(i: number): number {
    return this.#values[i * 6 + 5]!
  }
}

/** The order of features along a Hilbert curve through the middles of their boxes. */
export function hilbertOrder(places: Places, [west, south, east, north]: Box): Uint32Array {
  const most = 2 ** HILBERT_BITS - 1
  const cell = (value: number, from: number, to: number) =>
    to > from ? Math.max(0, Math.min(most, Math.floor((most * (value - from)) / (to - from)))) : 0
  const ranks = Float64Array.from({ length: places.count }, (_, i) => {
    const [w, s, e, n] = places.box(i)
    return hilbertIndex(HILBERT_BITS, cell(w / 2 + e / 2, west, east), cell(s / 2 + n / 2, south, north))
  })
  return Uint32Array.from({ length: places.count }, (_, i) => i).toSorted((a, b) => ranks[a]! - ranks[b]! || a - b)
}

/** The packed tree of a FlatGeobuf over at least one feature: nodes of the top level first, features last. */
export function treeBytes(places: Places, order: Uint32Array): Uint8Array {
  const sizes = [order.length]
  while (sizes.at(-1)! > 1 || sizes.length === 1) sizes.push(Math.ceil(sizes.at(-1)! / NODE_SIZE))
  const starts: number[] = []
  let total = 0
  for (const size of sizes.toReversed()) {
    starts.unshift(total)
    total += size
  }
  const out = Buffer.alloc(total * NODE_BYTES)
  let offset = 0
  for (const [i, item] of order.entries()) {
    writeNode(out, starts[0]! + i, places.box(item), offset)
    offset += places.bytes(item)
  }
  for (let level = 1; level < sizes.length; level++) {
    for (let i = 0; i < sizes[level]!; i++) {
      const first = starts[level - 1]! + i * NODE_SIZE
      const end = Math.min(first + NODE_SIZE, starts[level - 1]! + sizes[level - 1]!)
      writeNode(out, starts[level]! + i, around(out, first, end), first)
    }
  }
  return out
}

/** @param children position of the content: for a feature its offset after the tree, else the number of a node */
function writeNode(out: Buffer, node: number, box: Box, children: number): void {
  let at = node * NODE_BYTES
  for (const value of box) at = out.writeDoubleLE(value, at)
  out.writeBigUInt64LE(BigInt(children), at)
}

/** The box around nodes that are written. */
function around(out: Buffer, first: number, end: number): Box {
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let node = first; node < end; node++) {
    const at = node * NODE_BYTES
    box[0] = Math.min(box[0], out.readDoubleLE(at))
    box[1] = Math.min(box[1], out.readDoubleLE(at + 8))
    box[2] = Math.max(box[2], out.readDoubleLE(at + 16))
    box[3] = Math.max(box[3], out.readDoubleLE(at + 24))
  }
  return box
}
