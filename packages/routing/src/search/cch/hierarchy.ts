import { type FoundPath, type PathSearch, type Seed, UNREACHABLE } from '../search.ts'
import { type HierarchyMetric, NO_MIDDLE, type SearchArcs } from './metric.ts'
import { find } from './topology.ts'

const NONE = 0xffffffff

/**
 * Queries a customized hierarchy. Both directions climb the elimination tree from all their seeds in ascending order of
 * rank, without a priority queue; the cheapest rank that both have reached is the top of the path. O(arcs above the
 * seeds), which grows with the size of the separators and not with the network.
 *
 * @param rank rank of each vertex
 * @param vertex vertex of each rank
 */
export function hierarchySearch(metric: HierarchyMetric, rank: Uint32Array, vertex: Uint32Array): PathSearch {
  const forward = new Climb(metric.up, metric.parent)
  const backward = new Climb(metric.down, metric.parent)
  return {
    find(sources: readonly Seed[], targets: readonly Seed[]): FoundPath | null {
      forward.begin(sources, rank)
      backward.begin(targets, rank)
      forward.climb(null)
      const top = backward.climb(forward)
      if (top === NONE) return null
      const vertices: number[] = []
      const cost = forward.costOf(top) + backward.costOf(top)
      unfold(forward.trace(top).toReversed(), true)
      vertices.push(vertex[top]!)
      unfold(backward.trace(top), false)
      return { cost, vertices }

      /** Appends what lies between the given ranks; of the first leg the tails, of the second the heads. */
      function unfold(legs: readonly Leg[], tails: boolean): void {
        for (const { low, high, arc } of legs) {
          if (tails) {
            vertices.push(vertex[low]!)
            inner(low, high, metric.up.middle[arc]!)
          } else {
            inner(high, low, metric.down.middle[arc]!)
            vertices.push(vertex[low]!)
          }
        }
      }

      /** Appends the vertices strictly between two ranks. */
      function inner(from: number, to: number, middle: number): void {
        if (middle === NO_MIDDLE) return
        const first = find(metric.down.head, metric.down.first[middle]!, metric.down.first[middle + 1]!, from)
        inner(from, middle, metric.down.middle[first]!)
        vertices.push(vertex[middle]!)
        const second = find(metric.up.head, metric.up.first[middle]!, metric.up.first[middle + 1]!, to)
        inner(middle, to, metric.up.middle[second]!)
      }
    },
  }
}

/** A step of the climb: the arc between a lower and a higher rank. */
interface Leg {
  readonly low: number
  readonly high: number
  readonly arc: number
}

/** One direction of a query. */
class Climb {
  readonly #arcs: SearchArcs
  readonly #parent: Int32Array
  readonly #cost: Int32Array
  /** The lower rank and the arc that gave a rank its cost. */
  readonly #from: Uint32Array
  readonly #by: Uint32Array
  readonly #visited: Uint32Array
  #visitedCount = 0
  #cheapestSeed = 0
  /** The lowest unvisited rank of each seed's chain. */
  readonly #fronts: number[] = []

  constructor(arcs: SearchArcs, parent: Int32Array) {
    this.#arcs = arcs
    this.#parent = parent
    this.#cost = new Int32Array(parent.length).fill(UNREACHABLE)
    this.#from = new Uint32Array(parent.length)
    this.#by = new Uint32Array(parent.length)
    this.#visited = new Uint32Array(parent.length)
  }

  costOf(rank: number): number {
    return this.#cost[rank]!
  }

  begin(seeds: readonly Seed[], rank: Uint32Array): void {
    for (let i = 0; i < this.#visitedCount; i++) this.#cost[this.#visited[i]!] = UNREACHABLE
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

  /** Visits all ranks above the seeds; with `other`, returns the rank where the sum of both costs is least. */
  climb(other: Climb | null): number {
    const { first, head, weight } = this.#arcs
    const cost = this.#cost
    const from = this.#from
    const by = this.#by
    const parent = this.#parent
    const fronts = this.#fronts
    const floor = other === null ? 0 : other.#cheapestSeed
    let best = UNREACHABLE
    let top = NONE
    while (fronts.length > 0) {
      let rank = fronts[0]!
      for (let i = 1; i < fronts.length; i++) if (fronts[i]! < rank) rank = fronts[i]!
      let moved = false
      for (let i = fronts.length - 1; i >= 0; i--) {
        if (fronts[i] !== rank) continue
        // Chains that meet go on as one.
        if (moved || parent[rank]! < 0) {
          fronts[i] = fronts[fronts.length - 1]!
          fronts.pop()
        } else {
          fronts[i] = parent[rank]!
          moved = true
        }
      }
      this.#visited[this.#visitedCount++] = rank
      const here = cost[rank]!
      if (here >= UNREACHABLE || here + floor >= best) continue
      if (other !== null && other.costOf(rank) < UNREACHABLE && here + other.costOf(rank) < best) {
        best = here + other.costOf(rank)
        top = rank
      }
      for (let arc = first[rank]!; arc < first[rank + 1]!; arc++) {
        const sum = here + weight[arc]!
        if (sum >= cost[head[arc]!]!) continue
        cost[head[arc]!] = sum
        from[head[arc]!] = rank
        by[head[arc]!] = arc
      }
    }
    return top
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
