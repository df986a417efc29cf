import type { Graph } from '../graph/graph.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import type { StateWeights } from '../states/weights.ts'
import type { Box } from './cells.ts'
import type { Reached } from './values.ts'

const free = new WeakMap<Graph, Streets>()

/** An empty list of streets of a graph; what an earlier one used is used again. `giveBackStreets` it when nothing more is asked of it. */
export function takeStreets(graph: Graph): Streets {
  const streets = free.get(graph)
  free.delete(graph)
  return streets ?? new Streets(graph)
}

export function giveBackStreets(graph: Graph, streets: Streets): void {
  streets.clear()
  free.set(graph, streets)
}

/** What is asked of a sweep about a street between its ends. */
type Ground = Pick<Reached, 'reverse'> & { readonly weights: StateWeights }

/**
 * The streets that a sweep came to, by their geometry, and how far their ends are: in the order of their points and against
 * it; seconds and metres, infinite where nobody comes. Memory of streets that are not reached stays untouched.
 */
export class Streets {
  /** By number, so that neighbours in memory follow each other. */
  shapes: Uint32Array
  /** How far the place is that was last asked for with `at`. */
  seconds = 0
  meters = 0
  /** The sample of each node plus one; zero where there is none. */
  readonly sampleOf: Uint32Array
  readonly #graph: Graph
  readonly #edges: Uint32Array
  readonly #ahead: Float64Array
  readonly #aheadMeters: Float64Array
  readonly #back: Float64Array
  readonly #backMeters: Float64Array
  readonly #listed: Uint32Array
  #count = 0
  /** 1 for streets that are listed or noted. */
  readonly #isKnown: Uint8Array
  readonly #noted: number[] = []
  #ground: Ground | null = null

  constructor(graph: Graph) {
    const count = graph.firstPoint.length - 1
    this.#graph = graph
    this.#edges = shapeEdges(graph)
    this.shapes = new Uint32Array(0)
    this.#listed = new Uint32Array(count)
    this.#isKnown = new Uint8Array(count)
    this.#ahead = new Float64Array(count)
    this.#aheadMeters = new Float64Array(count)
    this.#back = new Float64Array(count)
    this.#backMeters = new Float64Array(count)
    this.sampleOf = new Uint32Array(graph.nodeCount)
  }

  /** Notes a street that is not listed; false where it is, or was noted before. */
  note(shape: number): boolean {
    if (this.#isKnown[shape] === 1) return false
    this.#isKnown[shape] = 1
    this.#noted.push(shape)
    return true
  }

  /** Lists what a sweep reached. */
  collect({ sweep, states, reverse, counts, prepared: { weights } }: Reached): void {
    this.#ground = { reverse, weights }
    const { edgeShape } = this.#graph
    const edges = this.#edges
    const { reached } = sweep
    for (let i = 0; i < reached.length; i++) {
      const state = reached[i]!
      const edge = states.stateEdge[state]!
      // Who begins on a street has not come there by any way.
      if (!counts(state) || (reverse && states.edgeState[edge] !== state)) continue
      const shape = edgeShape[edge]!
      if (this.#isKnown[shape] === 0) this.#open(shape)
      const seconds = sweep.secondsOf(state)
      if (edges[2 * shape] === edge) {
        if (seconds >= this.#ahead[shape]!) continue
        this.#ahead[shape] = seconds
        this.#aheadMeters[shape] = sweep.metersOf(state)
      } else if (seconds < this.#back[shape]!) {
        this.#back[shape] = seconds
        this.#backMeters[shape] = sweep.metersOf(state)
      }
    }
    this.shapes = this.#listed.subarray(0, this.#count).toSorted()
  }

  /** Finds how far a place on a street is, by its share of the way along it: the nearer by time of both directions. */
  at(shape: number, share: number): void {
    const { edgeLength } = this.#graph
    const { weights, reverse } = this.#ground!
    this.seconds = this.meters = Infinity
    for (let side = 0; side < 2; side++) {
      const end = (side === 0 ? this.#ahead : this.#back)[shape]!
      if (end === Infinity) continue
      const edge = this.#edges[2 * shape + side]!
      const along = side === 0 ? share : 1 - share
      const rest = reverse ? 1 - along : along - 1
      const meters = (side === 0 ? this.#aheadMeters : this.#backMeters)[shape]! + rest * edgeLength[edge]!
      // Before the place where a path begins.
      if (meters < -1e-6) continue
      const seconds = end + rest * weights.edgeSeconds(edge)
      if (seconds >= this.seconds) continue
      this.seconds = seconds
      this.meters = meters
    }
  }

  /** Around all points of the streets; of no street a place. */
  box(): Box {
    const { firstPoint, pointLon, pointLat } = this.#graph
    if (this.shapes.length === 0) return { west: 0, south: 0, east: 0, north: 0 }
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
    for (const shape of this.shapes) {
      for (let point = firstPoint[shape]!; point < firstPoint[shape + 1]!; point++) {
        const lon = pointLon[point]!
        const lat = pointLat[point]!
        if (lon < west) west = lon
        if (lon > east) east = lon
        if (lat < south) south = lat
        if (lat > north) north = lat
      }
    }
    return { west: west / 1e6, south: south / 1e6, east: east / 1e6, north: north / 1e6 }
  }

  /** Forgets all streets. */
  clear(): void {
    for (const shape of this.shapes) this.#isKnown[shape] = 0
    for (const shape of this.#noted) this.#isKnown[shape] = 0
    this.shapes = new Uint32Array(0)
    this.#noted.length = 0
    this.#count = 0
    this.#ground = null
  }

  #open(shape: number): void {
    this.#isKnown[shape] = 1
    this.#listed[this.#count++] = shape
    this.#ahead[shape] = this.#aheadMeters[shape] = this.#back[shape] = this.#backMeters[shape] = Infinity
  }
}
