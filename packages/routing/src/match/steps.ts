import { get, TurnField, turnIndex } from '../graph/fields.ts'
import { VertexHeap } from '../search/heap.ts'
import { UNREACHABLE } from '../search/search.ts'
import type { TurnNetwork } from '../network/turns.ts'
import { takeFrom, type Taken } from '../path/sweeping.ts'
import type { StateWeights } from '../states/weights.ts'
import { type Pace, streetMeters } from './pace.ts'
import type { Nearby } from './streets.ts'
import { METERS_PER_DEGREE } from './trace.ts'

/** A possible place of a point, with the cost of the cheapest path to it. */
export interface Candidate extends Nearby {
  /** Cost of the deviation from the point, in metres of travel. */
  readonly emission: number
  /** Cost of the cheapest path through the earlier points, in metres; infinite when there is none. */
  cost: number
  /** The previous candidate, and the edges from it to this one, both included. */
  back: { readonly from: Candidate; readonly edges: readonly number[]; readonly turnsBack: boolean } | null
}

/** Costs and bounds of a step between two points. */
export interface StepRules {
  readonly weights: StateWeights
  /** Cost of a turn in metres, by its clockwise angle, 0 … 359. */
  readonly turnMeters: Float64Array
  /** Cost of a U-turn in the middle of a street, in metres. */
  readonly turnBackMeters: number
}

/** The candidates of a point and of the next. */
export interface Layers {
  readonly sources: readonly Candidate[]
  readonly targets: readonly Candidate[]
}

/** Bounds of a step. */
export interface StepBounds {
  /** Maximum length of the path in metres, with its turns. */
  readonly most: number
  /** Metres above the best candidate at which the search ends. */
  readonly window: number
  /** Maximum metres that a place may lie behind the previous one on the same edge, because of noise. */
  readonly slack: number
  /** Maximum number of settled states. */
  readonly states: number
  /** Factor on the costs of turns. */
  readonly turnShare: number
  /** Cost of streets. */
  readonly pace: Pace
  /** Centre of the targets in degrees, and the radius in metres that covers all of them. */
  readonly goal: { readonly lon: number; readonly lat: number; readonly radius: number }
}

/**
 * One step of the Viterbi algorithm over the street network: A\* from all candidates of a point with their costs, until
 * the candidates of the next point are reached. Call `begin`, `advance` until it returns true, then `end`. Only one
 * step at a time.
 */
export class Steps {
  readonly #heap: VertexHeap
  readonly #key: Float64Array
  readonly #stamp: Uint32Array
  /**
   * Previous state, or −1 − index of a source; indices of paths that begin with a U-turn follow those of all sources.
   */
  readonly #from: Int32Array
  readonly #target: Int32Array
  readonly #targetStamp: Uint32Array
  #now = 0
  #search: Search | null = null
  /** The goal in node units, metres per unit, and the radius of the goal. */
  readonly #goal = new Float64Array(5)

  constructor(vertexCount: number, edgeCount: number) {
    this.#heap = new VertexHeap(vertexCount)
    this.#key = new Float64Array(vertexCount)
    this.#stamp = new Uint32Array(vertexCount)
    this.#from = new Int32Array(vertexCount)
    this.#target = new Int32Array(edgeCount)
    this.#targetStamp = new Uint32Array(edgeCount)
  }

  begin({ sources, targets }: Layers, rules: StepRules, bounds: StepBounds): void {
    this.#now++
    const via = new Int32Array(targets.length)
    for (const [i, { edge }] of targets.entries()) {
      this.#target[edge] = i
      this.#targetStamp[edge] = this.#now
    }
    const search: Search = {
      sources,
      targets,
      rules,
      bounds,
      turnShare: bounds.turnShare,
      ...bounds.pace,
      via,
      left: 0,
      end: Infinity,
      worst: null,
      best: Infinity,
      open: targets.length,
    }
    this.#search = search
    this.#heap.reset()
    this.#aim(bounds.goal)
    let least = Infinity
    for (const [i, source] of sources.entries()) {
      if (source.cost === Infinity) continue
      least = Math.min(least, source.cost)
      this.#leave(search, i, bounds.slack)
    }
    search.end = least + search.mostPerMeter * bounds.most
  }

  /** Settles up to this many more states. Returns whether the search has finished. */
  advance(states: number): boolean {
    const search = this.#search!
    const { targets, bounds, end } = search
    const most = Math.min(bounds.states, search.left + states)
    let { left } = search
    for (; this.#heap.size > 0 && left < most; left++) {
      const next = this.#heap.minKey
      if (next > end || next > search.best + bounds.window) return this.#stop(left)
      if (search.open === 0) {
        search.worst ??= targets.reduce((worst, { cost, emission }) => Math.max(worst, cost - emission), 0)
        if (search.worst <= next) return this.#stop(left)
      }
      this.#follow(search, this.#heap.pop())
    }
    search.left = left
    return this.#heap.size === 0 || left >= bounds.states
  }

  #stop(left: number): true {
    this.#search!.left = left
    return true
  }

  /**
   * Sets `cost` and `back` of the targets; the cost of an unreached target stays infinite. Returns the number of
   * settled states.
   */
  end(): number {
    const search = this.#search!
    this.#search = null
    for (const [i, target] of search.targets.entries())
      if (target.cost < Infinity) target.back = this.#unwind(search, target, search.via[i]!)
    return search.left
  }

  /** Starts at a source: along its edge, and backwards if a U-turn is allowed. */
  #leave(search: Search, i: number, slack: number): void {
    const { network } = search.rules.weights
    const { edge, along, cost } = search.sources[i]!
    this.#direct(search, { edge, along, cost, slack, from: -1 - i })
    this.#offer(search, edge, cost + (1 - along) * streetMeters(search.rules.weights, search, edge), -1 - i)
    const opposite = network.edgeOpposite[edge]!
    if (search.rules.weights.endEdge(opposite) >= UNREACHABLE) return
    const turned = -1 - i - search.sources.length
    this.#direct(search, {
      edge: opposite,
      along: 1 - along,
      cost: cost + search.rules.turnBackMeters,
      slack: 0,
      from: turned,
    })
    this.#offer(
      search,
      opposite,
      cost + search.rules.turnBackMeters + along * streetMeters(search.rules.weights, search, opposite),
      turned,
    )
  }

  /** Reaches a target on the edge of a source. */
  #direct(search: Search, { edge, along, cost, slack, from }: Departure): void {
    if (this.#targetStamp[edge] !== this.#now) return
    const i = this.#target[edge]!
    const share = search.targets[i]!.along - along
    if (share * search.rules.weights.network.edgeLength[edge]! >= -slack)
      this.#reach(search, i, cost + Math.abs(share) * streetMeters(search.rules.weights, search, edge), from)
  }

  #follow(search: Search, tail: number): void {
    const { weights, turnMeters } = search.rules
    const { turnShare } = search
    const { graph, network } = weights
    const { firstOut, head } = graph
    const key = this.#key[tail]!
    const from = graph.edgeOf(tail)
    for (let arc = firstOut[tail]!; arc < firstOut[tail + 1]!; arc++) {
      const to = graph.edgeOf(head[arc]!)
      const isTarget = this.#targetStamp[to] === this.#now
      const isOpen = weights.arc(arc, tail) < UNREACHABLE
      if (!isOpen && !(isTarget && weights.lastArc(arc, tail) < UNREACHABLE)) continue
      const turn = turnShare * turnMeters[get(network.turnInfo[turnIndex(network, from, to)]!, TurnField.degrees)]!
      const length = streetMeters(search.rules.weights, search, to)
      if (isTarget) {
        const i = this.#target[to]!
        this.#reach(search, i, key + turn + length * search.targets[i]!.along, tail)
      }
      if (isOpen) this.#offer(search, head[arc]!, key + turn + length, tail)
    }
  }

  #reach(search: Search, i: number, cost: number, from: number): void {
    const target = search.targets[i]!
    const total = cost + target.emission
    if (total >= target.cost) return
    if (target.cost === Infinity) search.open--
    target.cost = total
    search.via[i] = from
    if (total < search.best) search.best = total
  }

  #aim({ lon, lat, radius }: StepBounds['goal']): void {
    const north = (METERS_PER_DEGREE / 1e7) * CAUTION
    this.#goal.set([lon * 1e7, lat * 1e7, north * Math.cos((lat * Math.PI) / 180), north, radius])
  }

  #offer({ rules: { weights }, leastPerMeter }: Search, state: number, key: number, from: number): void {
    if (this.#stamp[state] === this.#now && this.#key[state]! <= key) return
    this.#stamp[state] = this.#now
    this.#key[state] = key
    this.#from[state] = from
    const { nodeLon, nodeLat, edgeHead } = weights.network
    const node = edgeHead[weights.graph.edgeOf(state)]!
    const goal = this.#goal
    const dx = (nodeLon[node]! - goal[0]!) * goal[2]!
    const dy = (nodeLat[node]! - goal[1]!) * goal[3]!
    this.#heap.offer(state, key + leastPerMeter * Math.max(0, Math.sqrt(dx * dx + dy * dy) - goal[4]!))
  }

  #unwind({ sources, rules }: Search, target: Candidate, via: number): Candidate['back'] {
    const edges = [target.edge]
    let at = via
    for (; at >= 0; at = this.#from[at]!) edges.push(rules.weights.graph.edgeOf(at))
    const i = -1 - at
    const turnsBack = i >= sources.length
    const from = sources[turnsBack ? i - sources.length : i]!
    if (turnsBack) edges.push(from.edge)
    return { from, edges: edges.toReversed(), turnsBack }
  }
}

/** Place at which a path leaves an edge, and the cost up to there. */
interface Departure {
  readonly edge: number
  readonly along: number
  readonly cost: number
  readonly slack: number
  readonly from: number
}

/** Factor on straight distances in estimates, because edge lengths are rounded. */
const CAUTION = 0.95

interface Search extends Layers, Pace {
  readonly bounds: StepBounds
  readonly turnShare: number
  /** Number of settled states. */
  left: number
  /** Cost at which the search ends. */
  end: number
  /** The largest cost of a target once all are reached; costs only decrease. */
  worst: number | null
  readonly rules: StepRules
  /** State by which each target is reached, or −1 − index of a source. */
  readonly via: Int32Array
  best: number
  /** Number of targets that are not reached yet. */
  open: number
}

const free = new WeakMap<TurnNetwork, Steps>()

/** Takes memory for a step on a network. A step keeps it while it yields; concurrent steps get memory of their own. */
export function takeSteps(turns: TurnNetwork, edgeCount: number): Taken<Steps> {
  return takeFrom(free, turns, () => new Steps(turns.states.vertexCount, edgeCount))
}
