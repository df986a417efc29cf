import { UNREACHABLE } from '../search.ts'
import { Format, FORMAT_SHIFT, OFFSET, ones, type SearchArcs } from './arcs.ts'
import type { Climb } from './hierarchy.ts'
import type { UpperArcs } from './topology.ts'

/** Number of ranks per step. */
const STEP = 2 ** 16

/** State of a rank: no rank below it needs a visit, some may need one, or it is above a seed. */
const DEAD = 0
const ALIVE = 1
const CHAIN = 2

/**
 * Costs between some seeds and all ranks that cost no more than a limit: after a climb from the seeds, the cost of each
 * rank is computed from the ranks above it, from the highest down. Ranks below ranks that all exceed the limit are
 * skipped (Delling, Goldberg, Nowatzyk and Werneck, "PHAST: Hardware-accelerated shortest path trees", 2011). 13 bytes
 * per rank; not re-entrant.
 */
export class Descent {
  /**
   * Cost by rank; `UNREACHABLE` without a path, or when the latest run skipped the rank because its cost exceeds the
   * limit.
   */
  readonly cost: Int32Array
  readonly #known: Uint32Array
  #knownCount = 0
  readonly #topology: UpperArcs
  /** The lowest rank below each in the elimination tree; all ranks in between are also below it. */
  readonly #lowest: Uint32Array
  readonly #state: Uint8Array

  constructor(topology: UpperArcs) {
    const count = topology.firstUp.length - 1
    this.#topology = topology
    this.cost = new Int32Array(count).fill(UNREACHABLE)
    this.#state = new Uint8Array(count)
    this.#known = new Uint32Array(count)
    this.#lowest = lowestBelow(topology)
  }

  /** The ranks within the limit of the latest run. */
  get known(): Uint32Array {
    return this.#known.subarray(0, this.#knownCount)
  }

  /**
   * Finds the costs, in steps.
   *
   * @param climb a finished climb from the seeds; it is read in the first step only
   * @param arcs the opposite direction of the climb
   */
  *run(climb: Climb, arcs: SearchArcs, limit: number): Generator<void> {
    const chains = new Map<number, number>()
    this.#knownCount = 0
    for (const rank of climb.visited()) {
      chains.set(rank, climb.costOf(rank))
      this.#state[rank] = CHAIN
    }
    for (let rank = this.cost.length; rank > 0;) {
      rank = this.#look(rank, chains, arcs, limit)
      yield
    }
  }

  /**
   * Visits some ranks below one, and returns the last. Not a generator, because the engine does not optimise a
   * generator while it runs.
   */
  #look(above: number, chains: ReadonlyMap<number, number>, arcs: SearchArcs, limit: number): number {
    const { firstUp, firstHead, upHead } = this.#topology
    const cost = this.cost
    const state = this.#state
    let rank = above
    for (let i = 0; i < STEP && rank > 0; i++) {
      rank--
      const begin = firstUp[rank]!
      if (state[rank] === CHAIN) {
        const least = (cost[rank] = this.#least(rank, arcs, chains.get(rank)!))
        if (least <= limit) this.#known[this.#knownCount++] = rank
        state[rank] = ALIVE
      } else if (begin < firstUp[rank + 1]! && state[upHead[firstHead[rank]!]!] === ALIVE) {
        const least = (cost[rank] = this.#least(rank, arcs, UNREACHABLE))
        if (least <= limit) this.#known[this.#knownCount++] = rank
        state[rank] = least <= limit || this.#isAnyAbove(rank, limit) ? ALIVE : DEAD
      } else {
        const lowest = this.#lowest[rank]!
        cost.fill(UNREACHABLE, lowest, rank + 1)
        state[rank] = DEAD
        rank = lowest
      }
    }
    return rank
  }

  /** The minimum cost of a rank via the ranks above it. */
  #least(rank: number, arcs: SearchArcs, known: number): number {
    const { cost } = this
    const { firstUp, firstHead, upHead } = this.#topology
    const { index } = arcs
    const { words, bytes } = arcs.pool
    const begin = firstUp[rank]!
    const end = firstUp[rank + 1]!
    if (begin === end) return known
    const toHead = firstHead[rank]! - begin
    const last = (end - 1) >>> 5
    let least = known
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
        let sum = cost[upHead[first + toHead + 31 - Math.clz32(bits & -bits)]!]! + words[at++]!
        if (format !== Format.narrow) {
          sum += bytes[high++]! << 16
          if (format === Format.widest) sum += bytes[high++]! << 24
        }
        if (sum < least) least = sum
        bits &= bits - 1
      }
    }
    return least
  }

  /** Whether a rank above, through which every path to lower ranks leads, is within a limit. */
  #isAnyAbove(rank: number, limit: number): boolean {
    const { firstUp, firstHead, upHead } = this.#topology
    const end = firstHead[rank]! + firstUp[rank + 1]! - firstUp[rank]!
    for (let i = firstHead[rank]!; i < end; i++) if (this.cost[upHead[i]!]! <= limit) return true
    return false
  }
}

function lowestBelow({ firstUp, firstHead, upHead }: UpperArcs): Uint32Array {
  const count = firstUp.length - 1
  const lowest = Uint32Array.from({ length: count }, (_, rank) => rank)
  for (let rank = 0; rank < count; rank++) {
    if (firstUp[rank] === firstUp[rank + 1]) continue
    const parent = upHead[firstHead[rank]!]!
    if (lowest[rank]! < lowest[parent]!) lowest[parent] = lowest[rank]!
  }
  return lowest
}
