import { UNREACHABLE } from '../search.ts'
import type { Label } from './hierarchy.ts'

/** The cheapest paths from one source to many targets, by their highest ranks. */
export interface ManyRow {
  /** `UNREACHABLE` without a path. */
  readonly cost: Int32Array
  /** Entries of the two labels at the top of each path. */
  readonly sourceEntry: Int32Array
  readonly targetEntry: Int32Array
}

/**
 * The labels of many targets by their ranks, to compare one source with all of them at once (Knopp, Sanders, Schultes,
 * Schulz and Wagner, "Computing Many-to-Many Shortest Paths Using Highway Hierarchies", 2007). Ties go to the lower
 * rank, as in a search from one source to one target, so each cell is independent of the others.
 */
export class Buckets {
  readonly #targets: number
  /** Ranks of the targets in ascending order; items of bucket `b` are `#first[b] … #first[b + 1] - 1`. */
  readonly #ranks: Uint32Array
  readonly #first: Uint32Array
  readonly #target: Uint32Array
  readonly #entry: Uint32Array
  readonly #cost: Int32Array

  constructor(labels: readonly Label[]) {
    this.#targets = labels.length
    const size = labels.reduce((sum, { rank }) => sum + rank.length, 0)
    const keys = new Float64Array(size)
    const offset = new Uint32Array(labels.length + 1)
    labels.forEach(({ rank }, target) => {
      const begin = offset[target]!
      for (let i = 0; i < rank.length; i++) keys[begin + i] = rank[i]! * size + begin + i
      offset[target + 1] = begin + rank.length
    })
    const targetOf = new Uint32Array(size)
    for (let target = 0; target < labels.length; target++) targetOf.fill(target, offset[target], offset[target + 1])
    keys.sort()
    this.#target = new Uint32Array(size)
    this.#entry = new Uint32Array(size)
    this.#cost = new Int32Array(size)
    const ranks = new Uint32Array(size)
    const first = new Uint32Array(size + 1)
    let buckets = 0
    for (let i = 0; i < size; i++) {
      const rank = Math.floor(keys[i]! / size)
      const at = keys[i]! - rank * size
      const target = targetOf[at]!
      this.#target[i] = target
      this.#entry[i] = at - offset[target]!
      this.#cost[i] = labels[target]!.cost[this.#entry[i]!]!
      if (buckets > 0 && ranks[buckets - 1] === rank) continue
      ranks[buckets] = rank
      first[buckets++] = i
    }
    first[buckets] = size
    this.#ranks = ranks.slice(0, buckets)
    this.#first = first.slice(0, buckets + 1)
  }

  /** The cheapest paths from a source to all targets. O(entries of the source · targets above it) at worst. */
  row({ rank, cost }: Label): ManyRow {
    const row = {
      cost: new Int32Array(this.#targets).fill(UNREACHABLE),
      sourceEntry: new Int32Array(this.#targets),
      targetEntry: new Int32Array(this.#targets),
    }
    const ranks = this.#ranks
    let bucket = 0
    for (let entry = 0; entry < rank.length; entry++) {
      const wanted = rank[entry]!
      bucket = firstFrom(ranks, wanted, bucket)
      if (bucket === ranks.length) break
      if (ranks[bucket] === wanted) this.#meet(row, bucket, entry, cost[entry]!)
    }
    return row
  }

  #meet({ cost, sourceEntry, targetEntry }: ManyRow, bucket: number, entry: number, here: number): void {
    const targets = this.#target
    const costs = this.#cost
    const end = this.#first[bucket + 1]!
    for (let i = this.#first[bucket]!; i < end; i++) {
      const target = targets[i]!
      const sum = here + costs[i]!
      if (sum >= cost[target]!) continue
      cost[target] = sum
      sourceEntry[target] = entry
      targetEntry[target] = this.#entry[i]!
    }
  }
}

/** Position of the first value, from a start on, that is at least `least`; values are ascending. */
function firstFrom(values: Uint32Array, least: number, from: number): number {
  let low = from
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}
