import { VertexHeap } from './heap.ts'
import { type AlternativeSearch, type ArcGraph, type ReverseArcs, type Seed, UNREACHABLE } from './search.ts'

const NONE = 0xffffffff

/** Parameters of a bidirectional search besides the graph. */
export interface BidirectionalOptions {
  /** Weight of an arc; called once per visit, so it may be computed on demand. */
  readonly weight: (arc: number, tail: number) => number
  /** Positions of the vertices in metres, for the estimate; without them the search is plain Dijkstra from both ends. */
  readonly position?: VertexPositions
  /** A lower bound of the weight per metre of the distance between the positions of tail and head. */
  readonly weightPerMeter?: number
  /** Working memory; searches that do not overlap in time may share it. */
  readonly scratch?: BidirectionalScratch
}

/**
 * Vertex positions in space: three coordinates per vertex. A straight line in space is never longer than the path on
 * the ground.
 */
export interface VertexPositions {
  readonly xyz: Float32Array
}

/** The arrays of both directions; some 60 bytes per vertex. */
export class BidirectionalScratch {
  readonly forward: Half
  readonly backward: Half

  constructor(vertexCount: number) {
    this.forward = new Half(vertexCount)
    this.backward = new Half(vertexCount)
  }
}

/**
 * A* from both ends at once, over arcs whose weights may be computed on demand: it needs no preparation, so it answers
 * while a hierarchy is not ready and when single edges are closed for one request. The estimates of both directions are
 * averaged so that they agree (Ikeda et al. 1994), so the result stays exact.
 */
export function bidirectionalSearch(
  graph: ArcGraph,
  reverse: ReverseArcs,
  options: BidirectionalOptions,
): AlternativeSearch {
  const { forward, backward } = options.scratch ?? new BidirectionalScratch(graph.vertexCount)
  const { firstOut, head } = graph
  const { firstIn, inArc, inTail } = reverse
  const { weight } = options

  return {
    find(sources, targets) {
      forward.end()
      backward.end()
      const { cost, meeting } = meet(sources, targets, (best) => best)
      return meeting === NONE ? null : { cost, vertices: pathOver(meeting) }
    },

    *findSeveral(sources, targets, most) {
      forward.end()
      backward.end()
      const { cost } = meet(sources, targets, most)
      if (cost === Infinity) return
      const limit = most(cost)
      const sum = (vertex: number): number => forward.cost[vertex]! + backward.cost[vertex]!
      const meetings = forward.touched.filter((vertex) => sum(vertex) <= limit).toSorted((a, b) => sum(a) - sum(b))
      for (const vertex of meetings) yield { cost: sum(vertex), vertices: pathOver(vertex) }
    },
  }

  /** Searches until no path below the limit is possible; the limit depends on the best cost so far. */
  function meet(
    sources: readonly Seed[],
    targets: readonly Seed[],
    limit: (best: number) => number,
  ): { cost: number; meeting: number } {
    const estimate = balancedEstimate(options, sources, targets)
    let best = Infinity
    let meeting = NONE
    const reached = (vertex: number): void => {
      const sum = forward.cost[vertex]! + backward.cost[vertex]!
      if (sum >= best) return
      best = sum
      meeting = vertex
    }
    forward.begin(sources, estimate, 1)
    backward.begin(targets, estimate, -1)
    for (const { vertex } of targets) reached(vertex)
    while (forward.heap.size > 0 && backward.heap.size > 0) {
      if (forward.heap.minKey + backward.heap.minKey >= limit(best)) break
      if (forward.heap.minKey <= backward.heap.minKey) {
        const vertex = forward.heap.pop()
        for (let arc = firstOut[vertex]!; arc < firstOut[vertex + 1]!; arc++) {
          const step = weight(arc, vertex)
          if (step < UNREACHABLE && forward.reach(head[arc]!, forward.cost[vertex]! + step, vertex)) reached(head[arc]!)
        }
      } else {
        const vertex = backward.heap.pop()
        for (let at = firstIn[vertex]!; at < firstIn[vertex + 1]!; at++) {
          const tail = inTail[at]!
          const step = weight(inArc[at]!, tail)
          if (step < UNREACHABLE && backward.reach(tail, backward.cost[vertex]! + step, vertex)) reached(tail)
        }
      }
    }
    return { cost: best, meeting }
  }

  function pathOver(meeting: number): number[] {
    return [...forward.trace(meeting).toReversed(), ...backward.trace(meeting).slice(1)]
  }
}

type Estimate = (vertex: number) => number

/** Half the difference of the distances to the targets and from the sources, as weight; zero without positions. */
function balancedEstimate(options: BidirectionalOptions, sources: readonly Seed[], targets: readonly Seed[]): Estimate {
  const { position, weightPerMeter } = options
  if (position === undefined || weightPerMeter === undefined) return () => 0
  const nearest = distanceEstimate(position, weightPerMeter)
  const [from, to] = [sources, targets].map((seeds) => seeds.map(({ vertex }) => vertex)) as [number[], number[]]
  return (vertex) => (nearest(vertex, to) - nearest(vertex, from)) / 2
}

/** A lower bound of the weight from a vertex to the nearest of some others, from their distance. */
export function distanceEstimate(
  { xyz }: VertexPositions,
  weightPerMeter: number,
): (vertex: number, others: readonly number[]) => number {
  return (vertex, others) => {
    let least = Infinity
    for (const other of others) {
      const x = xyz[3 * vertex]! - xyz[3 * other]!
      const y = xyz[3 * vertex + 1]! - xyz[3 * other + 1]!
      const z = xyz[3 * vertex + 2]! - xyz[3 * other + 2]!
      least = Math.min(least, Math.sqrt(x * x + y * y + z * z))
    }
    return weightPerMeter * least
  }
}

/** One direction of the search. */
class Half {
  readonly heap: VertexHeap
  readonly cost: Float64Array
  /** All vertices with a cost. */
  readonly touched: number[] = []
  readonly #parent: Uint32Array
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

  /** Offers a vertex at a cost; true when it is cheaper than before. */
  reach(vertex: number, cost: number, from: number): boolean {
    if (cost >= this.cost[vertex]!) return false
    if (this.cost[vertex] === Infinity) this.touched.push(vertex)
    this.cost[vertex] = cost
    this.#parent[vertex] = from
    this.heap.offer(vertex, cost + this.#sign * this.#estimate(vertex))
    return true
  }

  /** Vertices of a path, from the given one back to its start. */
  trace(vertex: number): number[] {
    const vertices: number[] = []
    for (let at = vertex; at !== NONE; at = this.#parent[at]!) vertices.push(at)
    return vertices
  }

  /** Resets the last search. */
  end(): void {
    for (const vertex of this.touched) this.cost[vertex] = Infinity
    this.touched.length = 0
    this.heap.reset()
  }
}
