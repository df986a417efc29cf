import { VertexHeap } from './heap.ts'
import {
  type ArcGraph,
  type FoundPath,
  type PathSearch,
  type ReverseArcs,
  type Seed,
  UNREACHABLE,
} from './search.ts'

const NONE = 0xffffffff

/** What a bidirectional search needs besides the graph. */
export interface BidirectionalOptions {
  /** Weight of an arc; asked once per visit, so it may be computed on demand. */
  readonly weight: (arc: number, tail: number) => number
  /** Positions of the vertices in metres, for the estimate; without them the search is plain Dijkstra from both ends. */
  readonly position?: VertexPositions
  /** A lower bound of the weight per metre of the distance between the positions of tail and head. */
  readonly weightPerMeter?: number
}

/** Vertex positions in space: three coordinates per vertex. A chord is never longer than the way along the ground. */
export interface VertexPositions {
  readonly xyz: Float32Array
}

/**
 * A* from both ends at once, over arcs whose weights may be computed on demand: it needs no preparation, so it answers
 * while a hierarchy is not ready and when single edges are closed for one request. The estimates of both directions are
 * averaged so that they agree (Ikeda et al. 1994), which keeps the result exact.
 */
export function bidirectionalSearch(
  graph: ArcGraph,
  reverse: ReverseArcs,
  options: BidirectionalOptions,
): PathSearch {
  const forward = new Half(graph.vertexCount)
  const backward = new Half(graph.vertexCount)
  const { firstOut, head } = graph
  const { firstIn, inArc, inTail } = reverse
  const { weight } = options

  return {
    find(sources: readonly Seed[], targets: readonly Seed[]): FoundPath | null {
      const estimate = balancedEstimate(options, sources, targets)
      forward.begin(sources, estimate, 1)
      backward.begin(targets, estimate, -1)
      let best = Infinity
      let meeting = NONE
      for (const { vertex } of targets) meet(vertex)
      while (forward.heap.size > 0 && backward.heap.size > 0) {
        if (forward.heap.minKey + backward.heap.minKey >= best) break
        if (forward.heap.minKey <= backward.heap.minKey) {
          const vertex = forward.settle()
          for (let arc = firstOut[vertex]!; arc < firstOut[vertex + 1]!; arc++) {
            const step = weight(arc, vertex)
            if (step < UNREACHABLE && forward.reach(head[arc]!, forward.cost[vertex]! + step, vertex)) meet(head[arc]!)
          }
        } else {
          const vertex = backward.settle()
          for (let at = firstIn[vertex]!; at < firstIn[vertex + 1]!; at++) {
            const step = weight(inArc[at]!, inTail[at]!)
            if (step < UNREACHABLE && backward.reach(inTail[at]!, backward.cost[vertex]! + step, vertex)) {
              meet(inTail[at]!)
            }
          }
        }
      }
      const vertices = meeting === NONE ? [] : [...forward.trace(meeting).toReversed(), ...backward.trace(meeting).slice(1)]
      forward.end()
      backward.end()
      return meeting === NONE ? null : { cost: best, vertices }

      function meet(vertex: number): void {
        const sum = forward.cost[vertex]! + backward.cost[vertex]!
        if (sum < best) {
          best = sum
          meeting = vertex
        }
      }
    },
  }
}

type Estimate = (vertex: number) => number

/** Half the difference of the distances to the targets and from the sources, as weight; zero without positions. */
function balancedEstimate(options: BidirectionalOptions, sources: readonly Seed[], targets: readonly Seed[]): Estimate {
  const { position, weightPerMeter } = options
  if (position === undefined || weightPerMeter === undefined) return () => 0
  const { xyz } = position
  const nearest = (seeds: readonly Seed[], vertex: number): number => {
    let least = Infinity
    for (const seed of seeds) {
      const x = xyz[3 * vertex]! - xyz[3 * seed.vertex]!
      const y = xyz[3 * vertex + 1]! - xyz[3 * seed.vertex + 1]!
      const z = xyz[3 * vertex + 2]! - xyz[3 * seed.vertex + 2]!
      least = Math.min(least, Math.sqrt(x * x + y * y + z * z))
    }
    return least
  }
  return (vertex) => (weightPerMeter / 2) * (nearest(targets, vertex) - nearest(sources, vertex))
}

/** One direction of the search. */
class Half {
  readonly heap: VertexHeap
  readonly cost: Float64Array
  readonly #parent: Uint32Array
  readonly #touched: number[] = []
  #estimate: Estimate = () => 0
  #sign = 1

  constructor(vertexCount: number) {
    this.heap = new VertexHeap(vertexCount)
    this.cost = new Float64Array(vertexCount).fill(Infinity)
    this.#parent = new Uint32Array(vertexCount)
  }

  begin(seeds: readonly Seed[], estimate: Estimate, sign: number): void {
    this.#estimate = estimate
    this.#sign = sign
    for (const { vertex, cost } of seeds) this.reach(vertex, cost, NONE)
  }

  /** Offers a vertex at a cost; true when that is cheaper than before. */
  reach(vertex: number, cost: number, from: number): boolean {
    if (cost >= this.cost[vertex]!) return false
    if (this.cost[vertex] === Infinity) this.#touched.push(vertex)
    this.cost[vertex] = cost
    this.#parent[vertex] = from
    this.heap.offer(vertex, cost + this.#sign * this.#estimate(vertex))
    return true
  }

  settle(): number {
    return this.heap.pop()
  }

  /** The vertices from one back to the seed it was reached from. */
  trace(vertex: number): number[] {
    const vertices: number[] = []
    for (let at = vertex; at !== NONE; at = this.#parent[at]!) vertices.push(at)
    return vertices
  }

  end(): void {
    for (const vertex of this.#touched) this.cost[vertex] = Infinity
    this.#touched.length = 0
    this.heap.reset()
  }
}
