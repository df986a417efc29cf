import { FeatureReader } from '../features/feature-record.ts'
import { POINT, POLYGON, Shape } from '../features/shape.ts'
import type { RecordLog } from '../spill/record-log.ts'

const SLOT_BYTES = 12
const EMPTY = 0
const JUNCTION = 1
const LINE_END = 0x2545f491

/**
 * Finds junctions: vertices at which geometries meet or part, which simplification must keep so that shared ends stay
 * shared. A vertex is a junction when it occurs with different neighbours, in one feature or in several. Along a shared
 * border of two polygons, only its ends are junctions.
 *
 * One bit per vertex in the order of the records. The memory limit determines the number of passes; each pass covers
 * one range of hashes. The rule is that of TopoJSON's join (M. Bostock, 2013).
 */
export function findJunctions(features: RecordLog, vertices: number, memoryBytes: number): Bits {
  const bits = new Bits(vertices)
  if (vertices === 0) return bits
  const passes = Math.ceil((vertices * SLOT_BYTES * 2) / memoryBytes)
  const table = new VertexTable(Math.ceil((vertices / passes) * 1.6))
  for (let pass = 0; pass < passes; pass++) {
    table.clear()
    visit(features, passes, pass, (x, y, hash, neighbours) => table.add(x, y, hash, neighbours))
    visit(features, passes, pass, (x, y, hash, _, vertex) => {
      if (table.isJunction(x, y, hash)) bits.set(vertex)
    })
  }
  return bits
}

/** A bit per index. */
export class Bits {
  readonly #words: Uint32Array

  constructor(size: number) {
    this.#words = new Uint32Array(Math.ceil(size / 32))
  }

  set(index: number): void {
    this.#words[index >>> 5]! |= 1 << (index & 31)
  }

  has(index: number): boolean {
    return (this.#words[index >>> 5]! & (1 << (index & 31))) !== 0
  }
}

type Visit = (x: number, y: number, hash: number, neighbours: number, vertex: number) => void

/** Calls back for each vertex of lines and polygons whose hash falls into the pass. */
function visit(features: RecordLog, passes: number, pass: number, callback: Visit): void {
  const reader = new FeatureReader()
  const shape = new Shape()
  let offset = 0
  features.rewind()
  while (features.next() >= 0) {
    reader.open(features.page, features.start)
    if (reader.kind === POINT) continue
    reader.readShape(shape)
    const xy = shape.xy
    for (let part = 0; part < shape.parts; part++) {
      const start = shape.startOf(part)
      const end = shape.ends[part]!
      for (let i = start; i < end; i++) {
        const x = xy[2 * i]!
        const y = xy[2 * i + 1]!
        const hash = hashOf(x, y)
        if (passes > 1 && (hash >>> 8) % passes !== pass) continue
        const before = i > start ? i - 1 : shape.kind === POLYGON ? end - 1 : -1
        const after = i < end - 1 ? i + 1 : shape.kind === POLYGON ? start : -1
        // The sum does not depend on the direction in which the geometry is drawn.
        const neighbours = (neighbour(xy, before) + neighbour(xy, after)) >>> 0
        callback(x, y, hash, neighbours, offset + i)
      }
    }
    offset += shape.size
  }
}

function neighbour(xy: Int32Array, vertex: number): number {
  return vertex < 0 ? LINE_END : hashOf(xy[2 * vertex + 1]!, xy[2 * vertex]!)
}

/** Mixes two coordinates into 32 bits (the finalizer of MurmurHash3, A. Appleby). */
function hashOf(x: number, y: number): number {
  let h = Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Open addressing from vertex to the hash of its neighbours, or to JUNCTION once these differ. */
class VertexTable {
  readonly #mask: number
  readonly #slots: Int32Array

  constructor(capacity: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, capacity)))
    this.#mask = size - 1
    this.#slots = new Int32Array(size * 3)
  }

  clear(): void {
    this.#slots.fill(0)
  }

  add(x: number, y: number, hash: number, neighbours: number): void {
    const slots = this.#slots
    const slot = this.#find(x, y, hash)
    const wanted = neighbours <= JUNCTION ? 2 : neighbours | 0
    const state = slots[slot + 2]!
    if (state === EMPTY) {
      slots[slot] = x
      slots[slot + 1] = y
      slots[slot + 2] = wanted
    } else if (state !== wanted) slots[slot + 2] = JUNCTION
  }

  isJunction(x: number, y: number, hash: number): boolean {
    return this.#slots[this.#find(x, y, hash) + 2] === JUNCTION
  }

  #find(x: number, y: number, hash: number): number {
    const slots = this.#slots
    let slot = hash & this.#mask
    while (slots[3 * slot + 2] !== EMPTY && (slots[3 * slot] !== x || slots[3 * slot + 1] !== y)) {
      slot = (slot + 1) & this.#mask
    }
    return 3 * slot
  }
}
