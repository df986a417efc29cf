import type { Graph } from '../graph/graph.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
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

/**
 * The streets that a sweep came to, by their geometry, and how far their ends are: in the order of their points and against
 * it; seconds and metres, infinite where nobody comes. Memory of streets that are not reached stays untouched.
 */
export class Streets {
  readonly shapes: number[] = []
  readonly ahead: Float64Array
  readonly aheadMeters: Float64Array
  readonly back: Float64Array
  readonly backMeters: Float64Array
  /** The sample of each node plus one; zero where there is none. */
  readonly sampleOf: Uint32Array
  readonly #graph: Graph
  readonly #isKnown: Uint8Array

  constructor(graph: Graph) {
    const count = graph.firstPoint.length - 1
    this.#graph = graph
    this.#isKnown = new Uint8Array(count)
    this.ahead = new Float64Array(count)
    this.aheadMeters = new Float64Array(count)
    this.back = new Float64Array(count)
    this.backMeters = new Float64Array(count)
    this.sampleOf = new Uint32Array(graph.nodeCount)
  }

  has(shape: number): boolean {
    return this.#isKnown[shape] === 1
  }

  /** Lists what a sweep reached. */
  collect({ sweep, states, reverse, counts }: Reached): void {
    const { edgeShape } = this.#graph
    const edges = shapeEdges(this.#graph)
    for (const state of sweep.reached) {
      const edge = states.stateEdge[state]!
      // Who begins on a street has not come there by any way.
      if (!counts(state) || (reverse && states.edgeState[edge] !== state)) continue
      const shape = edgeShape[edge]!
      if (!this.has(shape)) this.#open(shape)
      const seconds = sweep.secondsOf(state)
      if (edges[2 * shape] === edge) {
        if (seconds >= this.ahead[shape]!) continue
        this.ahead[shape] = seconds
        this.aheadMeters[shape] = sweep.metersOf(state)
      } else if (seconds < this.back[shape]!) {
        this.back[shape] = seconds
        this.backMeters[shape] = sweep.metersOf(state)
      }
    }
  }

  /** Around all points of the streets; of no street a place. */
  box(): Box {
    const { firstPoint, pointLon, pointLat } = this.#graph
    if (this.shapes.length === 0) return { west: 0, south: 0, east: 0, north: 0 }
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
    for (const shape of this.shapes) {
      for (let point = firstPoint[shape]!; point < firstPoint[shape + 1]!; point++) {
        const [lon, lat] = [pointLon[point]!, pointLat[point]!]
        if (lon < west) west = lon
        if (lon > east) east = lon
        if (lat < south) south = lat
        if (lat > north) north = lat
      }
    }
    return { west: west / 1e6, south: south / 1e6, east: east / 1e6, north: north / 1e6 }
  }

  /** Forgets all streets, and the samples of their nodes. */
  clear(): void {
    for (const shape of this.shapes) this.#isKnown[shape] = 0
    this.shapes.length = 0
  }

  #open(shape: number): void {
    this.#isKnown[shape] = 1
    this.shapes.push(shape)
    this.ahead[shape] = this.aheadMeters[shape] = this.back[shape] = this.backMeters[shape] = Infinity
  }
}
