import type { Costing } from '../cost/costing.ts'
import { PROFILES } from '../cost/profiles/index.ts'
import { vehicleSize } from '../cost/vehicle.ts'
import { FlagField, get, TrafficField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { TextReader } from '../graph/texts.ts'
import { isForLocalsOtherwise, TimedEffect } from '../graph/timed.ts'
import { type Condition, readConditions } from './conditions.ts'
import type { Moment } from './hours.ts'
import { momentAt, zoneAt } from './zones.ts'
import { firstAtLeast } from '../graph/first-at-least.ts'

/** Access to an edge at a moment by its timed rules. */
export type Verdict = 'open' | 'closed' | 'local'

const NEVER: Condition = () => false

/** The timed rules of a graph, with a cache of parsed conditions. */
export class TimedRules {
  readonly graph: Graph
  readonly #texts: TextReader
  readonly #conditions = new Map<number, Condition>()
  readonly #zones = new Map<number, string>()
  /** Rules on turns by their last edge. */
  readonly #turns = new Map<number, number[]>()

  constructor(graph: Graph, texts: TextReader) {
    this.graph = graph
    this.#texts = texts
    const { firstTimedRule, timedRuleEdge } = graph
    for (let rule = 0; rule + 1 < firstTimedRule.length; rule++) {
      const last = timedRuleEdge[firstTimedRule[rule + 1]! - 1]!
      const list = this.#turns.get(last)
      if (list === undefined) this.#turns.set(last, [rule])
      else list.push(rule)
    }
  }

  /** Whether there are no rules. */
  get isEmpty(): boolean {
    return this.graph.timedEdge.length === 0 && this.graph.timedRuleModes.length === 0
  }

  /** Rules on turns that end on an edge. */
  turnsOnto(edge: number): readonly number[] {
    return this.#turns.get(edge) ?? []
  }

  condition(text: number): Condition {
    let condition = this.#conditions.get(text)
    if (condition === undefined) {
      condition = readConditions(this.#texts.text(text).split(' AND '))?.holds ?? NEVER
      this.#conditions.set(text, condition)
    }
    return condition
  }

  /** Local time at an edge at a moment. */
  momentOn(edge: number, utcMs: number): Moment {
    let zone = this.#zones.get(edge)
    if (zone === undefined) {
      const { nodeLon, nodeLat, edgeHead } = this.graph
      const node = edgeHead[edge]!
      zone = zoneAt(nodeLon[node]! / 1e7, nodeLat[node]! / 1e7)
      this.#zones.set(edge, zone)
    }
    return momentAt(utcMs, zone)
  }
}

/** Meaning of the timed rules for one costing. */
export class TimedLaw {
  readonly #rules: TimedRules
  readonly #access: number
  readonly #boundModes: number
  readonly #ignoresLimits: boolean
  readonly #isOpenOtherwise: (edge: number) => boolean
  readonly #size: ArrayLike<number>

  /** @param always the costing without timed openings */
  constructor(rules: TimedRules, always: Costing) {
    this.#rules = rules
    this.#access = always.access
    this.#boundModes = always.rights.boundModes
    this.#ignoresLimits = always.rights.ignoresLimits
    this.#isOpenOtherwise = (edge) => always.rights.edge(edge)
    this.#size = vehicleSize(PROFILES[always.mode], always.options)
  }

  /** Whether a timed rule of an edge applies to the mode. */
  isTimed(edge: number): boolean {
    const { timedModes } = this.#rules.graph
    for (const i of this.#rulesOf(edge)) if ((timedModes[i]! & this.#access) !== 0) return true
    return this.#rules.turnsOnto(edge).some((rule) => this.#binds(rule))
  }

  /** Whether a timed rule may close an edge to the mode. */
  isRestricted(edge: number): boolean {
    const { timedModes, timedEffect } = this.#rules.graph
    for (const i of this.#rulesOf(edge)) {
      if ((timedModes[i]! & this.#access) !== 0 && timedEffect[i]! < TimedEffect.speed) return true
    }
    return this.#rules.turnsOnto(edge).some((rule) => this.#binds(rule))
  }

  /** Speed of the mode on an edge at a moment in km/h; zero when it does not change with time. */
  speed(edge: number, utcMs: number): number {
    const { graph } = this.#rules
    if (get(graph.edgeFlags[edge]!, FlagField.timed) === 0) return 0
    const { timedModes, timedEffect, timedText } = graph
    let speed = 0
    for (const i of this.#rulesOf(edge)) {
      if (timedEffect[i]! < TimedEffect.speed || (timedModes[i]! & this.#access) === 0) continue
      speed ||= get(graph.edgeTraffic[edge]!, TrafficField.speed)
      const holds = this.#rules.condition(timedText[i]!)(this.#rules.momentOn(edge, utcMs), this.#size)
      if (holds) speed = timedEffect[i]! - TimedEffect.speed
    }
    return speed
  }

  /** Access to an edge at the time of entering it. */
  edge(edge: number, utcMs: number): Verdict {
    const { graph } = this.#rules
    if (get(graph.edgeFlags[edge]!, FlagField.timed) === 0 || this.#ignoresLimits) return 'open'
    const { timedModes, timedEffect, timedText } = graph
    let verdict: Verdict | null = null
    let exclusive = false
    let opens = false
    let moment: Moment | null = null
    for (const i of this.#rulesOf(edge)) {
      if ((timedModes[i]! & this.#access) === 0) continue
      moment ??= this.#rules.momentOn(edge, utcMs)
      const effect = timedEffect[i]!
      if (effect >= TimedEffect.speed) continue
      exclusive ||= effect === TimedEffect.only
      opens ||= effect === TimedEffect.open
      if (!this.#rules.condition(timedText[i]!)(moment, this.#size)) continue
      verdict = effect === TimedEffect.closed ? 'closed' : effect === TimedEffect.local ? 'local' : 'open'
    }
    if (verdict !== null) return verdict
    if (exclusive || !this.#isOpenOtherwise(edge)) return 'closed'
    return opens && isForLocalsOtherwise(graph, edge, this.#access) ? 'local' : 'open'
  }

  /**
   * Whether a timed turn restriction forbids entering an edge at a moment.
   *
   * @param before the edge some steps before, or −1
   */
  forbids(edge: number, before: (steps: number) => number, utcMs: number): boolean {
    const { firstTimedRule, timedRuleEdge, timedRuleText } = this.#rules.graph
    return this.#rules.turnsOnto(edge).some((rule) => {
      if (!this.#binds(rule)) return false
      const first = firstTimedRule[rule]!
      const last = firstTimedRule[rule + 1]! - 1
      for (let at = last - 1; at >= first; at--) if (before(last - at) !== timedRuleEdge[at]) return false
      return this.#rules.condition(timedRuleText[rule]!)(this.#rules.momentOn(edge, utcMs), this.#size)
    })
  }

  #binds(rule: number): boolean {
    return (this.#rules.graph.timedRuleModes[rule]! & this.#boundModes) !== 0
  }

  *#rulesOf(edge: number): Iterable<number> {
    const { timedEdge } = this.#rules.graph
    for (let i = firstAtLeast(timedEdge, edge); timedEdge[i] === edge; i++) yield i
  }
}
