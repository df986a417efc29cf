import { type AlternativeSearch, type FoundPath, type Seed, UNREACHABLE } from '../search.ts'
import { type SearchArcs, type UpperArcs, keptArc, keptBefore, numberAt } from './arcs.ts'
import type { HierarchyMetric } from './metric.ts'
import { find } from './topology.ts'

const NONE = 0xffffffff

/** Where the vertices of a graph stand in a hierarchy, both ways. */
export interface Ranking {
  /** Rank of each vertex. */
  readonly rank: Uint32Array
  /** Vertex of each rank. */
  readonly vertex: Uint32Array
}

/** The arrays of a query, which searches on equal graphs may share; 32 bytes per vertex. */
export class HierarchyScratch {
  readonly forward: Climb
  readonly backward: Climb

  constructor(vertexCount: number) {
    this.forward = new Climb(vertexCount)
    this.backward = new Climb(vertexCount)
  }
}

/**
 * Queries a customized hierarchy. Both directions climb the elimination tree from all their seeds in ascending order of
 * rank, without a priority queue; the cheapest rank that both have reached is the top of the path. O(arcs above the
 * seeds), which grows with the size of the separators and not with the network.
 */
export function hierarchySearch(
  metric: HierarchyMetric,
  { rank, vertex }: Ranking,
  { forward, backward }: HierarchyScratch = new HierarchyScratch(rank.length),
): AlternativeSearch {
  return {
    find(sources, targets) {
      const top = climb(sources, targets, (best) => best)
      return top === NONE ? null : pathOver(top)
    },

    *findSeveral(sources, targets, most) {
      const top = climb(sources, targets, most)
      if (top === NONE) return
      const sum = (at: number): number => forward.costOf(at) + backward.costOf(at)
      const limit = Math.min(UNREACHABLE - 1, most(sum(top)))
      const tops = backward.visited().filter((at) => sum(at) <= limit)
      for (const at of tops.toSorted((a, b) => sum(a) - sum(b))) yield pathOver(at)
    },
  }

  function climb(sources: readonly Seed[], targets: readonly Seed[], most: (cheapest: number) => number): number {
    forward.begin(sources, rank)
    backward.begin(targets, rank)
    forward.climb(metric.up, metric.topology, null, most)
    return backward.climb(metric.down, metric.topology, forward, most)
  }

  function pathOver(top: number): FoundPath {
    const vertices: number[] = []
    for (const { low, high, arc } of forward.trace(top).toReversed()) {
      vertices.push(vertex[low]!)
      between(low, high, numberAt(metric.up.middle, arc), vertices)
    }
    vertices.push(vertex[top]!)
    for (const { low, high, arc } of backward.trace(top)) {
      between(high, low, numberAt(metric.down.middle, arc), vertices)
      vertices.push(vertex[low]!)
    }
    return { cost: forward.costOf(top) + backward.costOf(top), vertices }
  }

  /** Appends the vertices strictly between two ranks; `bypassed` is the middle of their arc. */
  function between(from: number, to: number, bypassed: number, vertices: number[]): void {
    if (bypassed === 0) return
    const { topology, up, down } = metric
    const middle = bypassed - 1
    between(from, middle, numberAt(down.middle, keptArc(down, topology, middle, from)), vertices)
    vertices.push(vertex[middle]!)
    between(middle, to, numberAt(up.middle, keptArc(up, topology, middle, to)), vertices)
  }
}

/** A step of the climb: the number of the kept arc between a lower and a higher rank. */
interface Leg {
  readonly low: number
  readonly high: number
  readonly arc: number
}

/**
 * Everything above some seeds: for each rank, ascending, the cost between it and the seeds and by which arc that was found.
 * An entry leads on to that of a lower rank, and ends at one where a seed is.
 */
export interface Label {
  readonly rank: Uint32Array
  readonly cost: Int32Array
  /** The entry before; −1 at a seed. */
  readonly from: Int32Array
  readonly by: Uint32Array
}

/** What is above sources (`up`), or what is above targets (`down`); those ranks that are reached. */
export function labelOf(
  { up, down, topology }: HierarchyMetric,
  { rank }: Pick<Ranking, 'rank'>,
  seeds: readonly Seed[],
  { direction, climb }: { direction: 'up' | 'down'; climb: Climb },
): Label {
  climb.begin(seeds, rank)
  climb.climb(direction === 'up' ? up : down, topology, null, (best) => best)
  return climb.label()
}

/** One direction of a query, with its memory: 16 bytes per vertex. Not re-entrant. */
export class Climb {
  readonly #cost: Int32Array
  /** The lower rank and the arc that gave a rank its cost. */
  readonly #from: Uint32Array
  readonly #by: Uint32Array
  readonly #visited: Uint32Array
  #visitedCount = 0
  #cheapestSeed = 0
  /** The lowest unvisited rank of each seed's chain. */
  readonly #fronts: number[] = []

  constructor(vertexCount: number) {
    this.#cost = new Int32Array(vertexCount).fill(UNREACHABLE)
    this.#from = new Uint32Array(vertexCount)
    this.#by = new Uint32Array(vertexCount)
    this.#visited = new Uint32Array(vertexCount)
  }

  costOf(rank: number): number {
    return this.#cost[rank]!
  }

  /** All ranks above the seeds, ascending. */
  visited(): Uint32Array {
    return this.#visited.subarray(0, this.#visitedCount)
  }

  /** The ranks that were reached, as a label. */
  label(): Label {
    const rank = this.visited().filter((at) => this.#cost[at]! < UNREACHABLE)
    const from = new Int32Array(rank.length)
    for (let i = 0; i < rank.length; i++) {
      const before = this.#from[rank[i]!]!
      from[i] = before === NONE ? -1 : find(rank, 0, i, before)
    }
    return {
      rank,
      cost: Int32Array.from(rank, (at) => this.#cost[at]!),
      from,
      by: Uint32Array.from(rank, (at) => this.#by[at]!),
    }
  }

  begin(seeds: readonly Seed[], rank: Uint32Array): void {
    for (const visited of this.visited()) this.#cost[visited] = UNREACHABLE
    this.#visitedCount = 0
    this.#fronts.length = 0
    this.#cheapestSeed = 0
    for (const seed of seeds) {
      this.#cheapestSeed = Math.min(this.#cheapestSeed, seed.cost)
      const at = rank[seed.vertex]!
      if (seed.cost >= this.#cost[at]!) continue
      this.#cost[at] = seed.cost
      this.#from[at] = NONE
      this.#fronts.push(at)
    }
  }

  /**
   * Visits all ranks above the seeds. With the other direction done, returns the rank where the sum of both costs is
   * least; ranks above the limit, which depends on the least sum so far, lead no further.
   */
  climb(arcs: SearchArcs, topology: UpperArcs, other: Climb | null, limit: (best: number) => number): number {
    const { kept } = arcs
    const { low, high } = arcs.weight
    const { firstUp, upHead } = topology
    const cost = this.#cost
    const from = this.#from
    const by = this.#by
    const floor = other === null ? 0 : other.#cheapestSeed
    let best = UNREACHABLE
    let most = UNREACHABLE
    let top = NONE
    for (let rank = this.#next(topology); rank !== NONE; rank = this.#next(topology)) {
      this.#visited[this.#visitedCount++] = rank
      const here = cost[rank]!
      if (here >= UNREACHABLE || here + floor >= most) continue
      if (other !== null && other.costOf(rank) < UNREACHABLE && here + other.costOf(rank) < best) {
        best = here + other.costOf(rank)
        most = limit(best)
        top = rank
      }
      const begin = firstUp[rank]!
      const end = firstUp[rank + 1]!
      if (begin === end) continue
      let at = keptBefore(arcs, begin)
      // Word by word: a bit per kept arc, in ascending order.
      let bits = kept[begin >>> 5]! & (-1 << (begin & 31))
      for (let word = begin >>> 5; word <= (end - 1) >>> 5; bits = kept[++word]!) {
        const first = word << 5
        if (end - first < 32) bits &= (1 << (end - first)) - 1
        while (bits !== 0) {
          const sum = here + (low[at]! | (high[at]! << 16))
          const head = upHead[first + 31 - Math.clz32(bits & -bits)]!
          if (sum < cost[head]!) {
            cost[head] = sum
            from[head] = rank
            by[head] = at
          }
          bits &= bits - 1
          at++
        }
      }
    }
    return top
  }

  /** Takes the lowest unvisited rank and moves the chains that stand on it to its parent, as one. */
  #next({ firstUp, upHead }: UpperArcs): number {
    const fronts = this.#fronts
    if (fronts.length === 0) return NONE
    let rank = fronts[0]!
    for (let i = 1; i < fronts.length; i++) if (fronts[i]! < rank) rank = fronts[i]!
    const parent = firstUp[rank]! < firstUp[rank + 1]! ? upHead[firstUp[rank]!]! : NONE
    let moved = false
    for (let i = fronts.length - 1; i >= 0; i--) {
      if (fronts[i] !== rank) continue
      if (moved || parent === NONE) {
        fronts[i] = fronts[fronts.length - 1]!
        fronts.pop()
      } else {
        fronts[i] = parent
        moved = true
      }
    }
    return rank
  }

  /** The arcs from a rank down to the seed it was reached from, highest first. */
  trace(top: number): Leg[] {
    const legs: Leg[] = []
    for (let high = top; this.#from[high] !== NONE; high = this.#from[high]!) {
      legs.push({ low: this.#from[high]!, high, arc: this.#by[high]! })
    }
    return legs
  }
}
