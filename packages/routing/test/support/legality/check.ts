import type { Direction } from './conditions.ts'
import { canAvoid } from './detour.ts'
import { type Journey, Judge } from './judge.ts'
import type { MapWay, Segment, TravelMap } from './map.ts'
import type { Restriction, TurnRule } from './restrictions.ts'

export type Place = readonly [lon: number, lat: number]

/** Something a route does that it must not. */
export interface Violation {
  readonly kind: 'access' | 'oneway' | 'barrier' | 'restriction' | 'jump' | 'off the map' | 'limit' | 'through'
  /** OSM id of the way, node or relation; zero where there is none. */
  readonly id: number
  readonly at: Place
}

/** Findings about a route. */
export interface Findings {
  readonly violations: readonly Violation[]
  /** Ways for local traffic only that the route passes on its way between public ones, though no other way may lead on. */
  readonly passesLocal: readonly number[]
}

/** A segment that a part of a shape may run along. Nodes are −1 where the part begins or ends between nodes. */
interface Step {
  readonly segment: Segment
  readonly direction: Direction
  readonly from: number
  readonly to: number
  readonly at: Place
  readonly fault: 'access' | 'oneway' | null
  /** Another way runs along the same two nodes. */
  readonly doubtful: boolean
}

/** Walks shapes of routes back to the ways of OpenStreetMap and finds what they break. */
export class LegalityChecker {
  readonly map: TravelMap
  readonly #overNode = new Map<number, Restriction[]>()
  readonly #overWays: readonly Restriction[]

  constructor(map: TravelMap) {
    this.map = map
    for (const restriction of map.restrictions) {
      if (restriction.viaNode === null) continue
      const list = this.#overNode.get(restriction.viaNode)
      if (list === undefined) this.#overNode.set(restriction.viaNode, [restriction])
      else list.push(restriction)
    }
    this.#overWays = map.restrictions.filter(({ viaWays }) => viaWays.length > 0)
  }

  /** Finds what a leg breaks whose shape runs through places. */
  check(journey: Journey, shape: readonly Place[]): Findings {
    const judge = new Judge(journey)
    const violations: Violation[] = []
    const steps = this.#match(judge, shape, violations)
    violations.push(...exceededOnTheWay(judge, steps))
    // A route may begin or end on a way that is closed at some hours or to some vehicles.
    const ends = new Set([steps[0]?.segment.way.id, steps.at(-1)?.segment.way.id])
    const isExcused = ({ fault, segment, direction }: Step): boolean =>
      ends.has(segment.way.id) &&
      (fault === 'access'
        ? judge.lasting(segment.way, direction) !== 'closed'
        : 'oneway:conditional' in segment.way.tags && judge.isClosedBothWays(segment.way))
    steps.forEach((step, i) => {
      const { fault, segment, at } = step
      if (fault !== null && !isExcused(step)) violations.push({ kind: fault, id: segment.way.id, at })
      const before = steps[i - 1]
      if (before !== undefined) this.#checkNode(judge, before, step, violations)
    })
    this.#checkWays(judge, steps, violations)
    return { violations, passesLocal: this.#checkLocal(judge, steps, violations) }
  }

  /** The segments that a shape runs along; among segments with the same nodes the ones that break least. */
  #match(judge: Judge, shape: readonly Place[], violations: Violation[]): Step[] {
    let choices: Choice[] = []
    for (let i = 1; i < shape.length; i++) {
      // Where a route begins and ends may be rounded to a metre along the way.
      const beside = i === 1 || i === shape.length - 1 ? END_METERS : BESIDE_METERS
      const steps = this.#stepsOf(judge, { p: shape[i - 1]!, q: shape[i]!, beside })
      if (steps.length > 0) choices = steps.map((step) => choose(step, choices))
      else if (metersBetween(shape[i - 1]!, shape[i]!) > SAME_METERS) {
        violations.push({ kind: 'off the map', id: 0, at: shape[i]! })
      }
    }
    const steps: Step[] = []
    let choice = choices.toSorted((x, y) => x.cost - y.cost)[0] ?? null
    for (; choice !== null; choice = choice.before) steps.push(choice.step)
    return steps.toReversed()
  }

  #stepsOf(judge: Judge, { p, q, beside }: Part): Step[] {
    const exact: Omit<Step, 'fault' | 'at' | 'doubtful'>[] = []
    for (const from of this.map.nodesAt(...p)) {
      for (const to of this.map.nodesAt(...q)) {
        for (const segment of this.map.segmentsBetween(from, to)) {
          exact.push({ segment, from, to, direction: segment.a === from ? 'forward' : 'backward' })
        }
      }
    }
    const found = exact.length > 0 ? exact : this.#partsOf({ p, q, beside })
    const doubtful = new Set(found.map(({ segment }) => segment.way)).size > 1
    return found.map((step) => ({ ...step, at: q, doubtful, fault: faultOf(judge, step) }))
  }

  /** Segments along which a part of a shape runs that begins or ends between nodes. */
  #partsOf({ p, q, beside }: Part): Omit<Step, 'fault' | 'at' | 'doubtful'>[] {
    const parts: Omit<Step, 'fault' | 'at' | 'doubtful'>[] = []
    for (const segment of this.map.segmentsNear((p[0] + q[0]) / 2, (p[1] + q[1]) / 2)) {
      const a = this.map.place(segment.a)
      const b = this.map.place(segment.b)
      const begin = project(p, a, b)
      const end = project(q, a, b)
      if (begin.meters > beside || end.meters > beside) continue
      const nodeAt = (place: Place): number =>
        this.map.nodesAt(...place).find((node) => node === segment.a || node === segment.b) ?? -1
      const onward = end.along - begin.along
      if (onward > -SAME_METERS) parts.push({ segment, direction: 'forward', from: nodeAt(p), to: nodeAt(q) })
      if (onward < SAME_METERS) parts.push({ segment, direction: 'backward', from: nodeAt(p), to: nodeAt(q) })
    }
    return parts
  }

  #checkNode(judge: Judge, before: Step, after: Step, violations: Violation[]): void {
    const { at } = before
    if (!areJoined(before, after)) violations.push({ kind: 'jump', id: before.segment.way.id, at })
    if (before.to < 0 || before.to !== after.from) return
    const node = before.to
    const tags = this.map.nodeTags.get(node)
    // A U-turn before a barrier does not pass it.
    const isPassed = before.segment !== after.segment || before.from !== after.to
    if (tags !== undefined && isPassed && judge.node(tags) === 'closed')
      violations.push({ kind: 'barrier', id: this.map.nodeIds[node]!, at })
    if (before.doubtful || after.doubtful) return
    for (const id of this.brokenAt(judge, before, after)) violations.push({ kind: 'restriction', id, at })
  }

  /** Whether passages break a restriction over ways. */
  breaksOverWays(judge: Judge, passages: readonly Passage[]): boolean {
    const violations: Violation[] = []
    const steps = passages.map((passage): Step => ({ ...passage, at: [0, 0], fault: null, doubtful: false }))
    this.#checkWays(judge, steps, violations)
    return violations.length > 0
  }

  /** Restrictions over a node that a turn breaks. */
  brokenAt(judge: Judge, before: Passage, after: Passage): number[] {
    const restrictions = this.#overNode.get(this.map.nodeIds[before.to]!) ?? []
    return restrictions.flatMap((restriction) =>
      judge.turn(restriction, (rule) => this.#breaks(judge, restriction, rule, [before, after]))
        ? [restriction.id]
        : [],
    )
  }

  #breaks(
    judge: Judge,
    { from, to, viaNode }: Restriction,
    rule: TurnRule,
    [before, after]: [Passage, Passage],
  ): boolean {
    const isUsed = (id: number): boolean => {
      const way = this.map.ways.get(id)
      return way !== undefined && (judge.isStrict || !judge.isClosedBothWays(way))
    }
    const entry = before.segment.way
    const exit = after.segment.way
    // The ways of a restriction end at it; for a way that continues, the meant part is unknown.
    if (!from.includes(entry.id) || !endsAt(entry, viaNode!)) return false
    // Where the map ends before the only way on, or that way is closed, the restriction cannot be kept.
    if (rule === 'only') return !to.includes(exit.id) && to.some((id) => isUsed(id))
    if (!to.includes(exit.id)) return false
    return entry.id === exit.id ? before.from === after.to : endsAt(exit, viaNode!)
  }

  /** Restrictions over ways: the ways of a route, each with how it was entered, one after the other. */
  #checkWays(judge: Judge, steps: readonly Step[], violations: Violation[]): void {
    const runs: { id: number; at: Place }[] = []
    for (const { segment, at, doubtful } of steps) {
      const id = doubtful ? 0 : segment.way.id
      if (runs.at(-1)?.id === id) runs[runs.length - 1] = { id, at }
      else runs.push({ id, at })
    }
    for (const restriction of this.#overWays) {
      const { from, viaWays, to, id } = restriction
      runs.forEach((run, i) => {
        if (!from.includes(run.id) || viaWays.some((way, j) => runs[i + 1 + j]?.id !== way)) return
        const next = runs[i + 1 + viaWays.length]
        if (next === undefined || next.id === 0) return
        if (judge.turn(restriction, (rule) => to.includes(next.id) !== (rule === 'only')))
          violations.push({ kind: 'restriction', id, at: next.at })
      })
    }
  }

  /** Stretches for local traffic that neither begin nor end a route: they are broken where another way leads past them. */
  #checkLocal(judge: Judge, steps: readonly Step[], violations: Violation[]): number[] {
    const local = steps.map(({ segment, direction }) => judge.way(segment.way, direction) === 'local')
    const first = local.indexOf(false)
    const last = local.lastIndexOf(false)
    const inside = steps.filter((_, i) => local[i] && i > first && i < last && first >= 0)
    if (inside.length === 0) return []
    if (canAvoid(this, judge, steps[first]!, steps[last]!)) {
      const { segment, at } = inside[0]!
      violations.push({ kind: 'through', id: segment.way.id, at })
    }
    return [...new Set(inside.map(({ segment }) => segment.way.id))]
  }
}

/** A segment in the direction that it is passed. */
export type Passage = Pick<Step, 'segment' | 'direction' | 'from' | 'to'>

/** Limits that a vehicle exceeds, apart from the ways where a route begins and ends. */
function exceededOnTheWay(judge: Judge, steps: readonly Step[]): Violation[] {
  const ends = new Set([steps[0]?.segment.way.id, steps.at(-1)?.segment.way.id])
  return steps.flatMap(({ segment, direction, at, doubtful }): Violation[] => {
    const { way } = segment
    if (doubtful || ends.has(way.id)) return []
    return judge.limits(way, direction) === 'closed' ? [{ kind: 'limit', id: way.id, at }] : []
  })
}

/** A part of a shape, and how far beside a segment it may lie to run along it, in metres. */
interface Part {
  readonly p: Place
  readonly q: Place
  readonly beside: number
}

interface Choice {
  readonly step: Step
  readonly cost: number
  readonly before: Choice | null
}

/** Takes a step after the one of some choices with which it breaks least, and changes ways seldom. */
function choose(step: Step, choices: readonly Choice[]): Choice {
  let cost = choices.length === 0 ? 0 : Infinity
  let best: Choice | null = null
  for (const before of choices) {
    const jump = areJoined(before.step, step) ? 0 : 1
    const change = before.step.segment.way === step.segment.way ? 0 : 0.001
    if (before.cost + jump + change < cost) {
      cost = before.cost + jump + change
      best = before
    }
  }
  return { step, cost: cost + (step.fault === null ? 0 : 1), before: best }
}

function areJoined(before: Step, after: Step): boolean {
  // Two nodes of a way may lie at one place; the segment between them has no length.
  if (before.to >= 0 && after.from >= 0 && before.segment.way === after.segment.way) return true
  return before.to === after.from && (before.to >= 0 || before.segment === after.segment)
}

const endsAt = ({ refs }: MapWay, node: number): boolean => (refs[0] === node) !== (refs.at(-1) === node)

function faultOf(judge: Judge, { segment, direction }: Pick<Step, 'segment' | 'direction'>): Step['fault'] {
  if (judge.access(segment.way, direction) === 'closed') return 'access'
  return judge.isAgainstOneway(segment.way, direction) ? 'oneway' : null
}

/** How far beside a segment a place on it may lie; the ends of a route are cut by whole metres. */
const BESIDE_METERS = 0.3
const END_METERS = 1.5
/** Places nearer than this are the same. */
const SAME_METERS = 0.15
const METERS_PER_DEGREE = 111_195

function metersBetween([lon, lat]: Place, [otherLon, otherLat]: Place): number {
  return Math.hypot((otherLon - lon) * Math.cos((lat * Math.PI) / 180), otherLat - lat) * METERS_PER_DEGREE
}

/** How far a place is from a segment, and how far along it, in metres. */
function project(place: Place, a: Place, b: Place): { meters: number; along: number } {
  const scale = Math.cos((a[1] * Math.PI) / 180)
  const [x, y] = [(b[0] - a[0]) * scale, b[1] - a[1]]
  const [px, py] = [(place[0] - a[0]) * scale, place[1] - a[1]]
  const length = Math.hypot(x, y)
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, (px * x + py * y) / length ** 2))
  return {
    meters: Math.hypot(px - share * x, py - share * y) * METERS_PER_DEGREE,
    along: share * length * METERS_PER_DEGREE,
  }
}
