import { type ArcGraph, type ReverseArcs, UNREACHABLE } from '../search.ts'
import { Sweep, type Swept, type SweepRules, type SweepSeed } from '../sweep.ts'
import { Descent } from './descent.ts'
import type { Climb, Ranking } from './hierarchy.ts'
import type { HierarchyMetric } from './metric.ts'
import type { UpperArcs } from './topology.ts'

/** Number of vertices that are followed between two yields. */
const STEP = 2 ** 14

/** Offset that is subtracted from the cost of a followed vertex, so that it is lower than any other cost. */
const REACHED = 2 ** 30 + 2 ** 29
const LOWEST = -(2 ** 29)

/** Parameters of a sweep by a hierarchy besides its rules. */
export interface HierarchySweepTerms {
  readonly metric: HierarchyMetric
  readonly climb: Climb
  readonly direction: 'forwards' | 'backwards'
  /** A cost that few paths exceed; it affects the speed only, not the result. */
  readonly guess: number
}

type Rules = Omit<SweepRules, 'extra'>

/**
 * The cheapest paths that `Sweep` finds, by a hierarchy that holds the same weights: first the costs of all vertices up
 * to a guess, then the paths from the seeds along arcs whose weight equals the difference of the costs at their ends.
 * Beyond the guess, a plain sweep continues.
 */
export class HierarchySweep implements Swept {
  readonly #graph: ArcGraph
  readonly #reverse: () => ReverseArcs
  readonly #rank: Uint32Array
  readonly #vertex: Uint32Array
  readonly #descent: Descent
  /** Cost by vertex if it is at most the guess, minus `REACHED` when a path was followed to it. */
  readonly #cost: Int32Array
  /** A bit for each reached vertex. */
  readonly #isReached: Uint32Array
  readonly #seconds: Float64Array
  readonly #meters: Float64Array
  /** Stack of vertices to follow; the latest is near the previous one. At the end, all reached vertices. */
  readonly #reached: Uint32Array
  #reachedCount = 0
  /** The cheapest arcs that lead beyond the guess, by head. */
  readonly #beyond = new Map<number, SweepSeed>()
  #plain: Sweep | null = null

  /** @param reverse the reversed graph; called when a sweep runs backwards */
  constructor(graph: ArcGraph, reverse: () => ReverseArcs, topology: UpperArcs & Ranking) {
    this.#graph = graph
    this.#reverse = reverse
    this.#rank = topology.rank
    this.#vertex = topology.vertex
    this.#descent = new Descent(topology)
    this.#cost = new Int32Array(graph.vertexCount).fill(UNREACHABLE)
    this.#isReached = new Uint32Array((graph.vertexCount >>> 5) + 1)
    this.#seconds = new Float64Array(graph.vertexCount)
    this.#meters = new Float64Array(graph.vertexCount)
    this.#reached = new Uint32Array(graph.vertexCount)
  }

  /** In ascending order, so that neighbours in memory follow each other. */
  get reached(): Uint32Array {
    return this.#reached.subarray(0, this.#reachedCount)
  }

  costOf(vertex: number): number {
    const cost = this.#cost[vertex]!
    return cost < LOWEST ? cost + REACHED : cost
  }

  secondsOf(vertex: number): number {
    return this.#seconds[vertex]!
  }

  metersOf(vertex: number): number {
    return this.#meters[vertex]!
  }

  /** Sweeps from the seeds, in steps; see `Sweep`. */
  *run(seeds: readonly SweepSeed[], rules: Rules, terms: HierarchySweepTerms): Generator<void> {
    const { metric, climb, direction, guess } = terms
    const [up, down] = direction === 'forwards' ? [metric.up, metric.down] : [metric.down, metric.up]
    climb.begin(seeds, this.#rank)
    climb.climb(up, metric.topology, null, (best) => best)
    this.#forget()
    yield* this.#descent.run(climb, down, guess)
    this.#begin(seeds, guess)
    const reverse = direction === 'backwards' ? this.#reverse() : null
    for (; this.#reachedCount > 0; yield) this.#follow(rules, { reverse, guess })
    if (this.#beyond.size > 0) yield* this.#goOn(rules, terms)
    this.#sortReached()
  }

  #forget(): void {
    for (const vertex of this.reached) this.#cost[vertex] = UNREACHABLE
    for (const rank of this.#descent.known) this.#cost[this.#vertex[rank]!] = UNREACHABLE
    this.#isReached.fill(0)
    this.#reachedCount = 0
    this.#beyond.clear()
  }

  #begin(seeds: readonly SweepSeed[], guess: number): void {
    const { cost: costs, known } = this.#descent
    for (let i = 0; i < known.length; i++) this.#cost[this.#vertex[known[i]!]!] = costs[known[i]!]!
    for (const seed of seeds) {
      const { vertex, cost, seconds, meters } = seed
      if (cost > this.costOf(vertex) || this.#cost[vertex]! < LOWEST) continue
      if (cost <= guess) this.#reach(vertex, seconds, meters)
      // Of several seeds of a vertex, the cheapest counts.
      else if (cost < (this.#beyond.get(vertex)?.cost ?? UNREACHABLE)) this.#beyond.set(vertex, seed)
    }
  }

  #reach(vertex: number, seconds: number, meters: number): void {
    this.#cost[vertex]! -= REACHED
    this.#isReached[vertex >>> 5]! |= 1 << (vertex & 31)
    this.#seconds[vertex] = seconds
    this.#meters[vertex] = meters
    this.#reached[this.#reachedCount++] = vertex
  }

  /** Follows the cheapest paths from some reached vertices. */
  #follow(
    { weight, seconds, meters, leadsOn }: Rules,
    { reverse, guess }: { reverse: ReverseArcs | null; guess: number },
  ): void {
    const { firstOut, head } = this.#graph
    const first = reverse?.firstIn ?? firstOut
    const cost = this.#cost
    for (let i = 0; this.#reachedCount > 0 && i < STEP; i++) {
      const vertex = this.#reached[--this.#reachedCount]!
      if (!leadsOn(this.#seconds[vertex]!, this.#meters[vertex]!)) continue
      const here = cost[vertex]! + REACHED
      for (let at = first[vertex]!; at < first[vertex + 1]!; at++) {
        const arc = reverse === null ? at : reverse.inArc[at]!
        const next = reverse === null ? head[at]! : reverse.inTail[at]!
        const known = cost[next]!
        if (known < LOWEST) continue
        const tail = reverse === null ? vertex : next
        const step = weight(arc, tail)
        if (step >= UNREACHABLE) continue
        if (here + step > known) continue
        const after = this.#seconds[vertex]! + seconds(arc, tail, this.#seconds[vertex]!)
        const farther = this.#meters[vertex]! + meters(arc)
        if (known <= guess) this.#reach(next, after, farther)
        else if (here + step < (this.#beyond.get(next)?.cost ?? UNREACHABLE)) {
          this.#beyond.set(next, { vertex: next, cost: here + step, seconds: after, meters: farther })
        }
      }
    }
  }

  /** Continues the sweep beyond the guess; paths never return from there. */
  *#goOn(rules: Rules, { direction, guess }: HierarchySweepTerms): Generator<void> {
    const { head } = this.#graph
    const plain = (this.#plain ??= new Sweep(this.#graph, this.#reverse))
    const isKnown = (vertex: number): boolean => this.costOf(vertex) <= guess
    const weight: Rules['weight'] = (arc, tail) =>
      isKnown(direction === 'forwards' ? head[arc]! : tail) ? UNREACHABLE : rules.weight(arc, tail)
    yield* plain.run([...this.#beyond.values()], { ...rules, weight }, direction)
    for (const vertex of plain.reached) {
      this.#cost[vertex] = plain.costOf(vertex)
      this.#reach(vertex, plain.secondsOf(vertex), plain.metersOf(vertex))
    }
  }

  #sortReached(): void {
    const isReached = this.#isReached
    let count = 0
    for (let word = 0; word < isReached.length; word++) {
      for (let bits = isReached[word]!; bits !== 0; bits &= bits - 1) {
        this.#reached[count++] = (word << 5) + 31 - Math.clz32(bits & -bits)
      }
    }
    this.#reachedCount = count
  }
}
