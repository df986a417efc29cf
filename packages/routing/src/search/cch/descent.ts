import { UNREACHABLE } from '../search.ts'
import { type SearchArcs, type UpperArcs, keptBefore } from './arcs.ts'
import type { Climb } from './hierarchy.ts'

/** Ranks that are looked at in one step. */
const STEP = 2 ** 16

/** What is known of a rank: that nothing below it needs a look, that something may, or that it is above a seed. */
const DEAD = 0
const ALIVE = 1
const CHAIN = 2

/**
 * Costs between some seeds and all ranks that cost no more than a limit: after a climb from the seeds, each rank looks at
 * those above it, from the highest down, and what is below ranks that all cost more is left out (Delling, Goldberg,
 * Nowatzyk and Werneck, "PHAST: Hardware-accelerated shortest path trees", 2011). 9 bytes per rank; not re-entrant.
 */
export class Descent {
  /** By rank; `UNREACHABLE` where nobody comes, or where the latest run did not look because all cost more than its limit. */
  readonly cost: Int32Array
  readonly #topology: UpperArcs
  /** The lowest rank below each in the elimination tree, where all ranks between are below it too; else its own. */
  readonly #lowest: Uint32Array
  readonly #state: Uint8Array

  constructor(topology: UpperArcs) {
    const count = topology.firstUp.length - 1
    this.#topology = topology
    this.cost = new Int32Array(count).fill(UNREACHABLE)
    this.#state = new Uint8Array(count)
    this.#lowest = lowestBelow(topology)
  }

  /**
   * Finds the costs, in steps.
   *
   * @param climb a climb from the seeds that is done; it is read in the first step only
   * @param arcs the other direction than that of the climb
   */
  *run(climb: Climb, arcs: SearchArcs, limit: number): Generator<void> {
    const chains = new Map<number, number>()
    for (const rank of climb.visited()) {
      chains.set(rank, climb.costOf(rank))
      this.#state[rank] = CHAIN
    }
    for (let rank = this.cost.length; rank > 0;) {
      rank = this.#look(rank, chains, arcs, limit)
      yield
    }
  }

  /** Looks at some ranks below one, and gives the last. A function that gives way itself would not be compiled while it runs. */
  #look(above: number, chains: ReadonlyMap<number, number>, arcs: SearchArcs, limit: number): number {
    const { firstUp, upHead } = this.#topology
    const cost = this.cost
    const state = this.#state
    let rank = above
    for (let i = 0; i < STEP && rank > 0; i++) {
      rank--
      const begin = firstUp[rank]!
      if (state[rank] === CHAIN) {
        cost[rank] = this.#least(rank, arcs, chains.get(rank)!)
        state[rank] = ALIVE
      } else if (begin < firstUp[rank + 1]! && state[upHead[begin]!] === ALIVE) {
        const least = (cost[rank] = this.#least(rank, arcs, UNREACHABLE))
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

  /** The least cost of a rank over those above it. */
  #least(rank: number, arcs: SearchArcs, known: number): number {
    const { cost } = this
    const { firstUp, upHead } = this.#topology
    const { kept } = arcs
    const { low, high } = arcs.weight
    const begin = firstUp[rank]!
    const end = firstUp[rank + 1]!
    if (begin === end) return known
    let least = known
    let at = keptBefore(arcs, begin)
    let bits = kept[begin >>> 5]! & (-1 << (begin & 31))
    for (let word = begin >>> 5; word <= (end - 1) >>> 5; bits = kept[++word]!) {
      const first = word << 5
      if (end - first < 32) bits &= (1 << (end - first)) - 1
      while (bits !== 0) {
        const sum = cost[upHead[first + 31 - Math.clz32(bits & -bits)]!]! + (low[at]! | (high[at]! << 16))
        if (sum < least) least = sum
        bits &= bits - 1
        at++
      }
    }
    return least
  }

  /** Whether one of the ranks above, by which alone one comes to what is below, costs no more than a limit. */
  #isAnyAbove(rank: number, limit: number): boolean {
    const { firstUp, upHead } = this.#topology
    const end = firstUp[rank + 1]!
    for (let i = firstUp[rank]!; i < end; i++) if (this.cost[upHead[i]!]! <= limit) return true
    return false
  }
}

function lowestBelow({ firstUp, upHead }: UpperArcs): Uint32Array {
  const count = firstUp.length - 1
  const lowest = Uint32Array.from({ length: count }, (_, rank) => rank)
  const size = new Uint32Array(count).fill(1)
  for (let rank = 0; rank < count; rank++) {
    if (firstUp[rank] === firstUp[rank + 1]) continue
    const parent = upHead[firstUp[rank]!]!
    if (lowest[rank]! < lowest[parent]!) lowest[parent] = lowest[rank]!
    size[parent]! += size[rank]!
  }
  for (let rank = 0; rank < count; rank++) if (rank - lowest[rank]! + 1 > size[rank]!) lowest[rank] = rank
  return lowest
}
