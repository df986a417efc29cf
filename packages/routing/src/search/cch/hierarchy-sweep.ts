import { type ArcGraph, type ReverseArcs, UNREACHABLE } from '../search.ts'
import { Sweep, type Swept, type SweepRules, type SweepSeed } from '../sweep.ts'
import { Descent } from './descent.ts'
import type { Climb, Ranking } from './hierarchy.ts'
import type { HierarchyMetric } from './metric.ts'
import type { UpperArcs } from './topology.ts'

/** Vertices that are followed in one step. */
const STEP = 2 ** 14

/** What a sweep by a hierarchy needs besides its rules. */
export interface HierarchySweepTerms {
  readonly metric: HierarchyMetric
  readonly climb: Climb
  readonly direction: 'forwards' | 'backwards'
  /** A cost that few paths that lead on exceed: whatever it is, all are found. */
  readonly guess: number
}

type Rules = Omit<SweepRules, 'extra'>

/**
 * The cheapest paths that `Sweep` finds, by a hierarchy that holds the same weights: first the costs of all that costs no
 * more than a guess, then from the seeds on along the arcs that make up the difference of the costs at their ends. Where
 * paths that lead on cost more, a plain sweep goes on.
 */
export class HierarchySweep implements Swept {
  readonly #graph: ArcGraph
  readonly #reverse: () => ReverseArcs
  readonly #rank: Uint32Array
  readonly #descent: Descent
  readonly #isReached: Uint8Array
  readonly #seconds: Float64Array
  readonly #meters: Float64Array
  readonly #reached: Uint32Array
  #reachedCount = 0
  /** The cheapest arcs over which paths come to cost more than the guess, by where they lead. */
  readonly #beyond = new Map<number, SweepSeed>()
  #plain: Sweep | null = null

  /** @param reverse the graph from its heads, asked for when a sweep runs backwards */
  constructor(graph: ArcGraph, reverse: () => ReverseArcs, topology: UpperArcs & Pick<Ranking, 'rank'>) {
    this.#graph = graph
    this.#reverse = reverse
    this.#rank = topology.rank
    this.#descent = new Descent(topology)
    this.#isReached = new Uint8Array(graph.vertexCount)
    this.#seconds = new Float64Array(graph.vertexCount)
    this.#meters = new Float64Array(graph.vertexCount)
    this.#reached = new Uint32Array(graph.vertexCount)
  }

  get reached(): Uint32Array {
    return this.#reached.subarray(0, this.#reachedCount)
  }

  costOf(vertex: number): number {
    return this.#descent.cost[this.#rank[vertex]!]!
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
    yield* this.#descent.run(climb, down, guess)
    this.#begin(seeds, guess)
    const reverse = direction === 'backwards' ? this.#reverse() : null
    for (let next = 0; next < this.#reachedCount; yield) next = this.#follow(next, rules, { reverse, guess })
    if (this.#beyond.size > 0) yield* this.#goOn(rules, terms)
  }

  #begin(seeds: readonly SweepSeed[], guess: number): void {
    this.#isReached.fill(0)
    this.#reachedCount = 0
    this.#beyond.clear()
    for (const seed of seeds) {
      const { vertex, cost, seconds, meters } = seed
      if (cost > this.costOf(vertex) || this.#isReached[vertex] === 1) continue
      if (cost > guess) this.#beyond.set(vertex, seed)
      else this.#reach(vertex, seconds, meters)
    }
  }

  #reach(vertex: number, seconds: number, meters: number): void {
    this.#isReached[vertex] = 1
    this.#seconds[vertex] = seconds
    this.#meters[vertex] = meters
    this.#reached[this.#reachedCount++] = vertex
  }

  /** Follows the cheapest paths on from some vertices that were reached; tells from which one to go on. */
  #follow(
    begin: number,
    { weight, seconds, meters, leadsOn }: Rules,
    { reverse, guess }: { reverse: ReverseArcs | null; guess: number },
  ): number {
    const { firstOut, head } = this.#graph
    const first = reverse?.firstIn ?? firstOut
    const { cost } = this.#descent
    const rank = this.#rank
    let i = begin
    for (; i < this.#reachedCount && i < begin + STEP; i++) {
      const vertex = this.#reached[i]!
      if (!leadsOn(this.#seconds[vertex]!, this.#meters[vertex]!)) continue
      const here = cost[rank[vertex]!]!
      for (let at = first[vertex]!; at < first[vertex + 1]!; at++) {
        const arc = reverse === null ? at : reverse.inArc[at]!
        const next = reverse === null ? head[at]! : reverse.inTail[at]!
        if (this.#isReached[next] === 1) continue
        const tail = reverse === null ? vertex : next
        const step = weight(arc, tail)
        if (step >= UNREACHABLE) continue
        const known = cost[rank[next]!]!
        if (here + step > known) continue
        const after = this.#seconds[vertex]! + seconds(arc, tail, this.#seconds[vertex]!)
        const farther = this.#meters[vertex]! + meters(arc)
        if (known <= guess) this.#reach(next, after, farther)
        else if (here + step < (this.#beyond.get(next)?.cost ?? UNREACHABLE)) {
          this.#beyond.set(next, { vertex: next, cost: here + step, seconds: after, meters: farther })
        }
      }
    }
    return i
  }

  /** Sweeps on where all costs more than the guess: paths never come back from there. */
  *#goOn(rules: Rules, { direction, guess }: HierarchySweepTerms): Generator<void> {
    const { cost } = this.#descent
    const rank = this.#rank
    const { head } = this.#graph
    const plain = (this.#plain ??= new Sweep(this.#graph, this.#reverse))
    const isKnown = (vertex: number): boolean => cost[rank[vertex]!]! <= guess
    const weight: Rules['weight'] = (arc, tail) =>
      isKnown(direction === 'forwards' ? head[arc]! : tail) ? UNREACHABLE : rules.weight(arc, tail)
    yield* plain.run([...this.#beyond.values()], { ...rules, weight }, direction)
    for (const vertex of plain.reached) {
      this.#reach(vertex, plain.secondsOf(vertex), plain.metersOf(vertex))
      cost[rank[vertex]!] = plain.costOf(vertex)
    }
  }
}
