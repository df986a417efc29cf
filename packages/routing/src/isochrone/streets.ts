import type { Graph } from '../graph/graph.ts'
import { TOO_FAR } from '../path/sweeping.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import type { Level } from './levels.ts'
import type { Reached } from './values.ts'

/**
 * Values per street: seconds and metres at the end of its edge along its points, then at the end of the opposite edge.
 */
const SLOTS = 4
/** Negative metres up to this are rounding errors. */
const ROUNDING = 1e-6

const free = new WeakMap<Graph, Streets>()

/**
 * An empty list of streets of a graph, which reuses the memory of an earlier list if possible. Return it with
 * `giveBackStreets`.
 */
export function takeStreets(graph: Graph): Streets {
  const streets = free.get(graph)
  free.delete(graph)
  return streets ?? new Streets(graph)
}

export function giveBackStreets(graph: Graph, streets: Streets): void {
  streets.clear()
  free.set(graph, streets)
}

/**
 * A list of streets by their geometry, and the distances of places on them. It takes 36 bytes per street of the graph
 * and 4 per node; pages of unlisted streets stay untouched.
 */
export class Streets {
  /** Time and distance of the last place passed to `at`; infinite where unreachable. */
  seconds = 0
  meters = 0
  /** Number of the sample of each node plus one; zero without a sample. */
  readonly sampleOf: Uint32Array
  readonly #graph: Graph
  readonly #edges: Uint32Array
  readonly #far: Float64Array
  /** A bit for each street that is listed. */
  readonly #isListed: Uint32Array
  readonly #list: Uint32Array
  #reached: Reached | null = null
  /** Values of the open street: seconds and metres at its first point by either edge, and the increase to its last. */
  #a = Infinity
  #aMore = 0
  #aMeters = Infinity
  #aMoreMeters = 0
  #b = Infinity
  #bMore = 0
  #bMeters = Infinity
  #bMoreMeters = 0

  constructor(graph: Graph) {
    const count = graph.firstPoint.length - 1
    this.#graph = graph
    this.#edges = shapeEdges(graph)
    this.#far = new Float64Array(SLOTS * count)
    this.#isListed = new Uint32Array((count >>> 5) + 1)
    this.#list = new Uint32Array(count)
    this.sampleOf = new Uint32Array(graph.nodeCount)
  }

  /** Lists the streets that a sweep reached. */
  collect(reached: Reached): void {
    this.#reached = reached
    const { edgeShape } = this.#graph
    const { sweep, states, reverse } = reached
    const edges = this.#edges
    const far = this.#far
    const list = sweep.reached
    for (let i = 0; i < list.length; i++) {
      const state = list[i]!
      const edge = states.edgeOf(state)
      // Skips edges behind excluded streets, and in reverse sweeps states with a history: a trip that begins there has
      // no history.
      if (sweep.costOf(state) >= TOO_FAR || (reverse && edge !== state)) continue
      const shape = edgeShape[edge]!
      this.note(shape)
      const at = SLOTS * shape + (edges[2 * shape] === edge ? 0 : 2)
      const seconds = sweep.secondsOf(state)
      if (seconds >= far[at]!) continue
      far[at] = seconds
      far[at + 1] = sweep.metersOf(state)
    }
  }

  /** Lists a street. Returns false when it is already listed. */
  note(shape: number): boolean {
    const bit = 1 << (shape & 31)
    if ((this.#isListed[shape >>> 5]! & bit) !== 0) return false
    this.#isListed[shape >>> 5]! |= bit
    const at = SLOTS * shape
    const far = this.#far
    far[at] = far[at + 1] = far[at + 2] = far[at + 3] = Infinity
    return true
  }

  /** All listed streets in ascending order, as they are in memory. Valid until the next call. */
  list(): Uint32Array {
    const isListed = this.#isListed
    const list = this.#list
    let count = 0
    for (let word = 0; word < isListed.length; word++) {
      for (let bits = isListed[word]!; bits !== 0; bits &= bits - 1) {
        list[count++] = (word << 5) + 31 - Math.clz32(bits & -bits)
      }
    }
    return list.subarray(0, count)
  }

  /** The node at the first point of a street. */
  beginOf(shape: number): number {
    return this.#graph.edgeHead[this.#edges[2 * shape + 1]!]!
  }

  endOf(shape: number): number {
    return this.#graph.edgeHead[this.#edges[2 * shape]!]!
  }

  /** Opens a street for `at`. */
  open(shape: number): void {
    const { edgeLength } = this.#graph
    const { weights } = this.#reached!.prepared
    const far = this.#far
    const at = SLOTS * shape
    const sign = this.#reached!.reverse ? -1 : 1
    this.#a = this.#b = this.#aMeters = this.#bMeters = Infinity
    this.#aMore = this.#bMore = this.#aMoreMeters = this.#bMoreMeters = 0
    if (far[at]! < Infinity) {
      const edge = this.#edges[2 * shape]!
      this.#aMore = sign * weights.edgeSeconds(edge)
      this.#aMoreMeters = sign * edgeLength[edge]!
      this.#a = far[at]! - this.#aMore
      this.#aMeters = far[at + 1]! - this.#aMoreMeters
    }
    if (far[at + 2]! < Infinity) {
      const edge = this.#edges[2 * shape + 1]!
      this.#bMore = -sign * weights.edgeSeconds(edge)
      this.#bMoreMeters = -sign * edgeLength[edge]!
      this.#b = far[at + 2]!
      this.#bMeters = far[at + 3]!
    }
  }

  /**
   * Computes time and distance of a place on the open street, by its share of the street's length; the direction with
   * less time counts.
   */
  at(share: number): void {
    const aMeters = this.#aMeters + share * this.#aMoreMeters
    const bMeters = this.#bMeters + share * this.#bMoreMeters
    // Negative metres are places before the start of the path.
    const a = aMeters < -ROUNDING ? Infinity : this.#a + share * this.#aMore
    const b = bMeters < -ROUNDING ? Infinity : this.#b + share * this.#bMore
    this.seconds = a <= b ? a : b
    this.meters = a <= b ? (a < Infinity ? aMeters : Infinity) : bMeters
  }

  /** The contours that contain a whole street, as bits; −1 when a contour may cross it. May open the street. */
  within(shape: number, levels: readonly Level[]): number {
    if (this.#isWithinAll(shape, levels)) return 2 ** levels.length - 1
    this.open(shape)
    if (this.#isBegun()) return -1
    this.at(0)
    const within = bitsOf(levels, this.seconds, this.meters)
    this.at(1)
    if (bitsOf(levels, this.seconds, this.meters) !== within) return -1
    // The farthest place is the one with equal time from both ends.
    const share = (this.#b - this.#a) / (this.#aMore - this.#bMore)
    if (!(share > 0 && share < 1)) return within
    this.at(share)
    const far = this.seconds
    const isSame =
      bitsOf(levels, far, this.#aMeters + share * this.#aMoreMeters) === within &&
      bitsOf(levels, far, this.#bMeters + share * this.#bMoreMeters) === within
    return isSame ? within : -1
  }

  /** Removes all streets. */
  clear(): void {
    this.#isListed.fill(0)
    this.#reached = null
  }

  /** Whether all contours contain the far end of a street on a path over the whole street. */
  #isWithinAll(shape: number, levels: readonly Level[]): boolean {
    if (this.#reached!.reverse) return false
    const far = this.#far
    const at = SLOTS * shape
    const seconds = Math.min(far[at]!, far[at + 2]!)
    if (seconds === Infinity) return false
    const { edgeLength } = this.#graph
    const length = edgeLength[this.#edges[2 * shape]!]!
    const [a, b] = [far[at + 1]!, far[at + 3]!]
    if (Math.min(a, b) < length) return false
    const meters = Math.max(a < Infinity ? a : 0, b < Infinity ? b : 0)
    for (const { isTime, value } of levels) if ((isTime ? seconds : meters) > value) return false
    return true
  }

  /** Whether a path begins on the open street. */
  #isBegun(): boolean {
    return (
      Math.min(this.#aMeters, this.#aMeters + this.#aMoreMeters, this.#bMeters, this.#bMeters + this.#bMoreMeters) <
      -ROUNDING
    )
  }
}

/** The contours that contain a place, as bits. */
export function bitsOf(levels: readonly Level[], seconds: number, meters: number): number {
  let within = 0
  for (let i = 0; i < levels.length; i++) {
    const { isTime, value } = levels[i]!
    if ((isTime ? seconds : meters) <= value) within |= 1 << i
  }
  return within
}
