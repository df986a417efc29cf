import { type AlternativeSearch, type FoundPath, type Seed, UNREACHABLE } from '../search.ts'
import { Format, FORMAT_SHIFT, middleOfArc, OFFSET, ones, type SearchArcs } from './arcs.ts'
import type { HierarchyMetric } from './metric.ts'
import { arcBetween, find, type UpperArcs } from './topology.ts'

const NONE = 0xffffffff

/** Ranks of the vertices of a graph, and the vertices by rank. */
export interface Ranking {
  /** Rank of each vertex. */
  readonly rank: Uint32Array
  /** Vertex of each rank. */
  readonly vertex: Uint32Array
}

/** The arrays of a query, 32 bytes per vertex. Searches on equal graphs may share them. */
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
      between(low, high, arc, vertices)
    }
    vertices.push(vertex[top]!)
    for (const { low, high, arc } of backward.trace(top)) {
      between(high, low, arc, vertices)
      vertices.push(vertex[low]!)
    }
    return { cost: forward.costOf(top) + backward.costOf(top), vertices }
  }

  /** Appends the vertices strictly between the two ranks of an arc. */
  function between(from: number, to: number, arc: number, vertices: number[]): void {
    const { topology, up, down } = metric
    const below = from < to ? middleOfArc(up, arc) : middleOfArc(down, arc)
    if (below === 0) return
    const middle = Math.min(from, to) - below
    between(from, middle, arcBetween(topology, middle, from), vertices)
    vertices.push(vertex[middle]!)
    between(middle, to, arcBetween(topology, middle, to), vertices)
  }
}

/** A step of the climb: the arc between a lower and a higher rank. */
interface Leg {
  readonly low: number
  readonly high: number
  readonly arc: number
}

/**
 * All ranks above some seeds in ascending order, each with its cost and the arc of the cheapest path. An entry refers
 * to the one of a lower rank; the chain ends at a seed.
 */
export interface Label {
  readonly rank: Uint32Array
  readonly cost: Int32Array
  /** The previous entry; −1 at a seed. */
  readonly from: Int32Array
  readonly by: Uint32Array
}

/** Reached ranks above sources (`up`) or above targets (`down`). */
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
  /** The lower rank and the arc of the cheapest path to a rank. */
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

  /** The reached ranks as a label. */
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
   * Visits all ranks above the seeds. After the other direction has finished, returns the rank with the minimum sum of
   * both costs; the search does not continue from ranks above the limit, which depends on the minimum so far.
   */
  climb(arcs: SearchArcs, topology: UpperArcs, other: Climb | null, limit: (best: number) => number): number {
    const { index } = arcs
    const { words, bytes } = arcs.pool
    const { firstUp, firstHead, upHead } = topology
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
      const toHead = firstHead[rank]! - begin
      const last = (end - 1) >>> 5
      // Word by word: a bit per kept arc, in ascending order.
      for (let word = begin >>> 5, outside = (1 << (begin & 31)) - 1; word <= last; word++, outside = 0) {
        const kept = index[2 * word]!
        let bits = kept & ~outside
        const first = word << 5
        if (end - first < 32) bits &= (1 << (end - first)) - 1
        if (bits === 0) continue
        const place = index[2 * word + 1]!
        const format = place >>> FORMAT_SHIFT
        const before = outside === 0 ? 0 : ones(kept & outside)
        let at = (place & OFFSET) + before
        let high = format === Format.narrow ? 0 : 2 * ((place & OFFSET) + ones(kept)) + before
        if (format === Format.widest) high += before
        while (bits !== 0) {
          let sum = here + words[at++]!
          if (format !== Format.narrow) {
            sum += bytes[high++]! << 16
            if (format === Format.widest) sum += bytes[high++]! << 24
          }
          const arc = first + 31 - Math.clz32(bits & -bits)
          const head = upHead[arc + toHead]!
          if (sum < cost[head]!) {
            cost[head] = sum
            from[head] = rank
            by[head] = arc
          }
          bits &= bits - 1
        }
      }
    }
    return top
  }

  /** Removes the lowest unvisited rank and replaces its chains by one at its parent. */
  #next({ firstUp, firstHead, upHead }: UpperArcs): number {
    const fronts = this.#fronts
    if (fronts.length === 0) return NONE
    let rank = fronts[0]!
    for (let i = 1; i < fronts.length; i++) if (fronts[i]! < rank) rank = fronts[i]!
    const parent = firstUp[rank]! < firstUp[rank + 1]! ? upHead[firstHead[rank]!]! : NONE
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

  /** The arcs from a rank down to the seed of its path, highest first. */
  trace(top: number): Leg[] {
    const legs: Leg[] = []
    for (let high = top; this.#from[high] !== NONE; high = this.#from[high]!) {
      legs.push({ low: this.#from[high]!, high, arc: this.#by[high]! })
    }
    return legs
  }
}
