import type { HierarchyMetric } from '../search/cch/metric.ts'
import { middleOfArc } from '../search/cch/arcs.ts'
import { arcBetween } from '../search/cch/topology.ts'
import type { StateWeights } from '../states/weights.ts'
import { turnIndex } from '../graph/fields.ts'

/** Initial capacity in arcs, and number of cached arcs above which the cache is emptied before the next row. */
const FIRST_CAPACITY = 2 ** 13
const MOST_KEPT = 2 ** 19

/**
 * Seconds and metres of the arcs of a hierarchy, and whether an arc has edges that need a check. The values of a
 * shortcut are the sums of its two arcs and are cached.
 */
export class ArcValues {
  /** Values by position. */
  seconds = new Float64Array(FIRST_CAPACITY)
  meters = new Float64Array(FIRST_CAPACITY)
  marked = new Uint8Array(FIRST_CAPACITY)
  readonly #metric: HierarchyMetric
  readonly #vertex: Uint32Array
  readonly #weights: Pick<StateWeights, 'network' | 'graph' | 'costing'>
  readonly #isMarked: (from: number, to: number) => boolean
  /**
   * Open addressing. The key is twice the number of an arc plus one, plus one more for downward arcs; zero for a free
   * slot.
   */
  #keys = new Float64Array(2 * FIRST_CAPACITY)
  #values = new Uint32Array(2 * FIRST_CAPACITY)
  #size = 0

  /**
   * @param vertex vertex of each rank
   * @param isMarked whether the step from one edge of the network to the next needs a check
   */
  constructor(
    metric: HierarchyMetric,
    vertex: Uint32Array,
    weights: Pick<StateWeights, 'network' | 'graph' | 'costing'>,
    isMarked: (from: number, to: number) => boolean,
  ) {
    this.#metric = metric
    this.#vertex = vertex
    this.#weights = weights
    this.#isMarked = isMarked
  }

  /** Empties the cache when it is large; earlier positions become invalid. */
  tidy(): void {
    if (this.#size < MOST_KEPT) return
    this.#size = 0
    this.#keys.fill(0)
  }

  /** Position of the values of an arc between two ranks, upwards or downwards. */
  of(direction: 'up' | 'down', arc: number, low: number, high: number): number {
    const key = 2 * arc + (direction === 'up' ? 1 : 2)
    const slot = this.#slotOf(key)
    if (this.#keys[slot] === key) return this.#values[slot]!
    const [from, to] = direction === 'up' ? [low, high] : [high, low]
    const below = middleOfArc(this.#metric[direction], arc)
    return below === 0 ? this.#keepStep(key, from, to) : this.#keepSum(key, from, to, low - below)
  }

  #keepStep(key: number, from: number, to: number): number {
    const { network, costing, graph } = this.#weights
    const before = graph.edgeOf(this.#vertex[from]!)
    const after = graph.edgeOf(this.#vertex[to]!)
    const turn = network.turnInfo[turnIndex(network, before, after)]!
    const seconds = costing.turnSeconds(before, after, turn) + costing.edgeSeconds(after)
    return this.#keep(key, seconds, network.edgeLength[after]!, this.#isMarked(before, after) ? 1 : 0)
  }

  #keepSum(key: number, from: number, to: number, middle: number): number {
    const { topology } = this.#metric
    const first = this.of('down', arcBetween(topology, middle, from), middle, from)
    const second = this.of('up', arcBetween(topology, middle, to), middle, to)
    return this.#keep(
      key,
      this.seconds[first]! + this.seconds[second]!,
      this.meters[first]! + this.meters[second]!,
      this.marked[first]! | this.marked[second]!,
    )
  }

  #keep(key: number, seconds: number, meters: number, marked: number): number {
    if (this.#size === this.seconds.length) this.#grow()
    const at = this.#size++
    this.seconds[at] = seconds
    this.meters[at] = meters
    this.marked[at] = marked
    const slot = this.#slotOf(key)
    this.#keys[slot] = key
    this.#values[slot] = at
    return at
  }

  #grow(): void {
    this.seconds = grown(this.seconds, new Float64Array(2 * this.#size))
    this.meters = grown(this.meters, new Float64Array(2 * this.#size))
    this.marked = grown(this.marked, new Uint8Array(2 * this.#size))
    const [keys, values] = [this.#keys, this.#values]
    this.#keys = new Float64Array(2 * keys.length)
    this.#values = new Uint32Array(2 * keys.length)
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === 0) continue
      const slot = this.#slotOf(keys[i]!)
      this.#keys[slot] = keys[i]!
      this.#values[slot] = values[i]!
    }
  }

  /** Slot of a key, or the free slot for it. */
  #slotOf(key: number): number {
    const keys = this.#keys
    // Its length is a power of two.
    const mask = keys.length - 1
    let slot = Math.imul(key, 0x9e3779b1) & mask
    while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask
    return slot
  }
}

function grown<T extends Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}
