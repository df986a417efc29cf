import { VertexHeap } from './heap.ts'
import { type ArcGraph, type ReverseArcs, UNREACHABLE } from './search.ts'
import type { TimedOptions } from './timed.ts'

/** Start of a sweep: a vertex, with the cost, seconds and metres up to its end. */
export interface SweepSeed {
  readonly vertex: number
  readonly cost: number
  readonly seconds: number
  readonly meters: number
}

/** Result of a sweep. */
export interface Swept {
  /** The reached vertices. */
  readonly reached: ArrayLike<number> & Iterable<number>
  /** Cost, seconds and metres of the cheapest path between the seeds and a reached vertex. */
  costOf(vertex: number): number
  secondsOf(vertex: number): number
  metersOf(vertex: number): number
}

/** Costs and times of the arcs of a graph. */
export interface SweepRules {
  readonly weight: (arc: number, tail: number) => number
  /** Seconds of an arc, given the seconds before it. */
  readonly seconds: TimedOptions['seconds']
  readonly meters: (arc: number) => number
  /** Extra cost of an arc at its time; see `TimedOptions`. Only for forward sweeps. */
  readonly extra?: TimedOptions['extra']
  /** Whether paths continue after a cheapest path of this length; seconds and metres only grow along a path. */
  readonly leadsOn: (seconds: number, meters: number) => boolean
}

/** Number of settled vertices per step. */
const STEP = 8192
const NONE = 0xffffffff

/**
 * Cheapest paths from one place to all others, or from all others to it: Dijkstra's algorithm, with the seconds and metres
 * of each path. It needs no preparation, so it obeys the closures of a request. Pages for unreached vertices stay
 * untouched. O(reached · log reached); not re-entrant.
 */
export class Sweep implements Swept {
  readonly #graph: ArcGraph
  readonly #reverse: () => ReverseArcs
  readonly #heap: VertexHeap
  /** Cost minus the lowest seed cost, plus one; zero for unreached vertices. */
  readonly #cost: Uint32Array
  readonly #seconds: Float64Array
  readonly #meters: Float64Array
  readonly #from: Uint32Array
  readonly #by: Uint32Array
  #reached: number[] = []
  #least = 0

  /** @param reverse the reversed graph; called when a sweep runs backwards */
  constructor(graph: ArcGraph, reverse: () => ReverseArcs) {
    const { vertexCount } = graph
    this.#graph = graph
    this.#reverse = reverse
    this.#heap = new VertexHeap(vertexCount)
    this.#cost = new Uint32Array(vertexCount)
    this.#seconds = new Float64Array(vertexCount)
    this.#meters = new Float64Array(vertexCount)
    this.#from = new Uint32Array(vertexCount)
    this.#by = new Uint32Array(vertexCount)
  }

  /** The vertices that the latest sweep settled, cheapest first. */
  get reached(): readonly number[] {
    return this.#reached
  }

  /** Cost of the cheapest path between the seeds and a reached vertex. */
  costOf(vertex: number): number {
    return this.#cost[vertex]! - 1 + this.#least
  }

  secondsOf(vertex: number): number {
    return this.#seconds[vertex]!
  }

  metersOf(vertex: number): number {
    return this.#meters[vertex]!
  }

  /** Sweeps from the seeds, in steps. Backwards, costs are those of paths to the seeds, without the first edge. */
  *run(
    seeds: readonly SweepSeed[],
    rules: SweepRules,
    direction: 'forwards' | 'backwards' = 'forwards',
  ): Generator<void> {
    this.#begin(seeds)
    const heap = this.#heap
    const reverse = direction === 'backwards' ? this.#reverse() : null
    while (heap.size > 0) {
      for (let steps = 0; steps < STEP && heap.size > 0; steps++) {
        const vertex = heap.pop()
        this.#settle(vertex, rules, reverse === null)
        if (!rules.leadsOn(this.#seconds[vertex]!, this.#meters[vertex]!)) continue
        if (reverse === null) this.#forwards(vertex, rules)
        else this.#backwards(vertex, rules, reverse)
      }
      yield
    }
  }

  #begin(seeds: readonly SweepSeed[]): void {
    // The heap holds the vertices that the previous sweep reached but did not settle, unless it ran to its end.
    while (this.#heap.size > 0) this.#cost[this.#heap.pop()] = 0
    for (const vertex of this.#reached) this.#cost[vertex] = 0
    this.#reached = []
    this.#least = seeds.reduce((least, { cost }) => Math.min(least, cost), Infinity)
    for (const { vertex, cost, seconds, meters } of seeds) {
      const above = cost - this.#least + 1
      if (this.#cost[vertex]! > 0 && above >= this.#cost[vertex]!) continue
      this.#cost[vertex] = above
      this.#seconds[vertex] = seconds
      this.#meters[vertex] = meters
      this.#from[vertex] = NONE
      this.#heap.offer(vertex, above)
    }
  }

  #settle(vertex: number, { seconds, meters }: SweepRules, forwards: boolean): void {
    this.#reached.push(vertex)
    const from = this.#from[vertex]!
    if (from === NONE) return
    const arc = this.#by[vertex]!
    this.#seconds[vertex] = this.#seconds[from]! + seconds(arc, forwards ? from : vertex, this.#seconds[from]!)
    this.#meters[vertex] = this.#meters[from]! + meters(arc)
  }

  #forwards(tail: number, { weight, extra }: SweepRules): void {
    const { firstOut, head } = this.#graph
    for (let arc = firstOut[tail]!; arc < firstOut[tail + 1]!; arc++) {
      const step = weight(arc, tail)
      if (step >= UNREACHABLE) continue
      const more =
        extra === undefined ? 0 : extra(arc, tail, this.#seconds[tail]!, (steps) => this.#before(tail, steps))
      if (more < UNREACHABLE) this.#reach(head[arc]!, this.#cost[tail]! + step + more, tail, arc)
    }
  }

  #backwards(head: number, { weight }: SweepRules, { firstIn, inArc, inTail }: ReverseArcs): void {
    for (let at = firstIn[head]!; at < firstIn[head + 1]!; at++) {
      const step = weight(inArc[at]!, inTail[at]!)
      if (step < UNREACHABLE) this.#reach(inTail[at]!, this.#cost[head]! + step, head, inArc[at]!)
    }
  }

  #reach(vertex: number, cost: number, from: number, arc: number): void {
    const known = this.#cost[vertex]!
    if (known > 0 && cost >= known) return
    this.#cost[vertex] = cost
    this.#from[vertex] = from
    this.#by[vertex] = arc
    this.#heap.offer(vertex, cost)
  }

  /** The vertex `steps` steps before one on its cheapest path; −1 without one. */
  #before(vertex: number, steps: number): number {
    let at = vertex
    for (let i = 0; i < steps && at !== NONE; i++) at = this.#from[at]!
    return at === NONE ? -1 : at
  }
}
