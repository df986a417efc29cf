/**
 * A directed graph with weighted arcs. In this package its vertices are the directed edges of a street network and its
 * arcs are turns, but a search uses only vertices, arcs and integer weights.
 */
export interface ArcGraph {
  readonly vertexCount: number
  /** Index of the first outgoing arc of each vertex; `vertexCount + 1` entries. */
  readonly firstOut: Uint32Array
  /** Head vertex of each arc, grouped by tail. */
  readonly head: Uint32Array
}

/** An arc graph by heads: `inArc[firstIn[v]] … inArc[firstIn[v + 1] - 1]` are the arcs that end in `v`. */
export interface ReverseArcs {
  readonly firstIn: Uint32Array
  readonly inArc: Uint32Array
  readonly inTail: Uint32Array
}

/** The weight of an arc that must not be used. Two of them still add up to a 32-bit integer. */
export const UNREACHABLE = 0x3fffffff

/** Weight of every arc, in any integer unit; `UNREACHABLE` closes an arc. */
export type ArcWeights = Int32Array

/** A possible end of a path, with its cost. The cost may be negative. */
export interface Seed {
  readonly vertex: number
  readonly cost: number
  /** Seconds from the beginning of the path to the end of its vertex; required by searches with time. */
  readonly seconds?: number
}

/** A cheapest path: its cost with both seeds, and its vertices from a source to a target. */
export interface FoundPath {
  readonly cost: number
  readonly vertices: number[]
}

/**
 * Finds a cheapest path from any of the sources to any of the targets. A path of a single vertex, which is both source
 * and target, is a path. Implementations keep scratch arrays: one instance is not re-entrant.
 */
export interface PathSearch {
  find(sources: readonly Seed[], targets: readonly Seed[]): FoundPath | null
}

/** A search that can also return other paths than the cheapest. */
export interface AlternativeSearch extends PathSearch {
  /**
   * The cheapest paths via some vertex, in ascending order of cost and on demand; some repeat.
   *
   * @param most maximum cost of such a path, from the cost of the cheapest
   */
  findSeveral(
    sources: readonly Seed[],
    targets: readonly Seed[],
    most: (cheapest: number) => number,
  ): Iterable<FoundPath>
}

/** Groups the arcs of a graph by their heads. Linear time. */
export function reverseArcs(graph: ArcGraph): ReverseArcs {
  const { vertexCount, firstOut, head } = graph
  const firstIn = new Uint32Array(vertexCount + 1)
  for (let arc = 0; arc < head.length; arc++) firstIn[head[arc]! + 1]!++
  for (let vertex = 0; vertex < vertexCount; vertex++) firstIn[vertex + 1]! += firstIn[vertex]!
  const next = firstIn.slice()
  const inArc = new Uint32Array(head.length)
  const inTail = new Uint32Array(head.length)
  for (let tail = 0; tail < vertexCount; tail++) {
    for (let arc = firstOut[tail]!; arc < firstOut[tail + 1]!; arc++) {
      const at = next[head[arc]!]!++
      inArc[at] = arc
      inTail[at] = tail
    }
  }
  return { firstIn, inArc, inTail }
}
