import type { Mode } from '../../../src/index.ts'
import type { Segment, TravelMap } from './map.ts'
import { holdsFor, type Restriction } from './restrictions.ts'
import { type Direction, isAgainstOneway, isStopped, KEYS, wayAccess } from './rules.ts'
import { exceedsLimit, isClosedByHours, mayBeOpenedByHours, type Vehicle, type When } from './conditions.ts'

export type Place = readonly [lon: number, lat: number]

/** Something a route does that it must not. */
export interface Violation {
  readonly kind: 'access' | 'oneway' | 'barrier' | 'restriction' | 'jump' | 'off the map' | 'limit' | 'hours'
  /** OSM id of the way, node or relation; zero where there is none. */
  readonly id: number
  readonly at: Place
}

/** Who travels, and when. */
export interface Journey {
  readonly mode: Mode
  readonly vehicle?: Vehicle
  /** The stretch of a week that the route is under way; without it no hours are checked. */
  readonly when?: When
}

/** What is found of a route. */
export interface Findings {
  readonly violations: readonly Violation[]
  /** Ways for residents or customers only that the route passes on its way between public ones. */
  readonly passesRestricted: readonly number[]
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
    const { mode, when = null } = journey
    const violations: Violation[] = []
    const steps = this.#match({ mode, when }, shape, violations)
    violations.push(...brokenOnTheWay(journey, steps))
    steps.forEach((step, i) => {
      const { fault, segment, at } = step
      if (fault !== null) violations.push({ kind: fault, id: segment.way.id, at })
      const before = steps[i - 1]
      if (before !== undefined) this.#checkNode({ mode, when }, before, step, violations)
    })
    this.#checkWays({ mode, when }, steps, violations)
    return { violations, passesRestricted: passesRestricted(mode, steps) }
  }

  /** The segments that a shape runs along; among segments with the same nodes the ones that break least. */
  #match(bound: Bound, shape: readonly Place[], violations: Violation[]): Step[] {
    let choices: Choice[] = []
    for (let i = 1; i < shape.length; i++) {
      // Where a route begins and ends may be rounded to a metre along the way.
      const beside = i === 1 || i === shape.length - 1 ? END_METERS : BESIDE_METERS
      const steps = this.#stepsOf(bound, { p: shape[i - 1]!, q: shape[i]!, beside })
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

  #stepsOf(bound: Bound, { p, q, beside }: Part): Step[] {
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
    return found.map((step) => ({ ...step, at: q, doubtful, fault: faultOf(bound, step) }))
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

  #checkNode({ mode, when }: Bound, before: Step, after: Step, violations: Violation[]): void {
    const { at } = before
    if (!areJoined(before, after)) violations.push({ kind: 'jump', id: before.segment.way.id, at })
    if (before.to < 0 || before.to !== after.from) return
    const node = before.to
    const id = this.map.nodeIds[node]!
    const tags = this.map.nodeTags.get(node)
    if (tags !== undefined && isStopped(tags, mode)) violations.push({ kind: 'barrier', id, at })
    if (before.doubtful || after.doubtful) return
    for (const restriction of this.#overNode.get(id) ?? []) {
      if (holdsFor(restriction, mode, when) && this.#breaks(restriction, before, after)) {
        violations.push({ kind: 'restriction', id: restriction.id, at })
      }
    }
  }

  #breaks({ from, to, only, viaNode }: Restriction, before: Step, after: Step): boolean {
    const entry = before.segment.way
    const exit = after.segment.way
    // The ways of a restriction end where it is: for a way that goes on it is unknown which part is meant.
    if (!from.includes(entry.id) || !endsAt(entry, viaNode!)) return false
    // Where the map ends before the only way on, the restriction cannot be kept.
    if (only) return !to.includes(exit.id) && to.some((id) => this.map.ways.has(id))
    if (!to.includes(exit.id)) return false
    return entry.id === exit.id ? before.from === after.to : endsAt(exit, viaNode!)
  }

  /** Restrictions over ways: the ways of a route, each with how it was entered, one after the other. */
  #checkWays({ mode, when }: Bound, steps: readonly Step[], violations: Violation[]): void {
    const runs: { id: number; at: Place }[] = []
    for (const { segment, at, doubtful } of steps) {
      const id = doubtful ? 0 : segment.way.id
      if (runs.at(-1)?.id === id) runs[runs.length - 1] = { id, at }
      else runs.push({ id, at })
    }
    for (const restriction of this.#overWays) {
      if (!holdsFor(restriction, mode, when)) continue
      const { from, viaWays, to, only, id } = restriction
      runs.forEach((run, i) => {
        if (!from.includes(run.id) || viaWays.some((way, j) => runs[i + 1 + j]?.id !== way)) return
        const next = runs[i + 1 + viaWays.length]
        if (next !== undefined && next.id !== 0 && to.includes(next.id) !== only) {
          violations.push({ kind: 'restriction', id, at: next.at })
        }
      })
    }
  }
}

/** Whom restrictions bind, and when. */
interface Bound {
  readonly mode: Mode
  readonly when: When | null
}

/** Limits that a vehicle exceeds and hours in which it passes, apart from the ways where a route begins and ends. */
function brokenOnTheWay({ mode, vehicle = {}, when }: Journey, steps: readonly Step[]): Violation[] {
  const ends = new Set([steps[0]?.segment.way.id, steps.at(-1)?.segment.way.id])
  return steps.flatMap(({ segment, direction, at, doubtful }): Violation[] => {
    const { id, tags } = segment.way
    if (doubtful || ends.has(id)) return []
    if (exceedsLimit(tags, mode, direction, vehicle)) return [{ kind: 'limit', id, at }]
    const closed = when !== undefined && isClosedByHours(tags, KEYS[mode], direction, when)
    return closed ? [{ kind: 'hours', id, at }] : []
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
  return before.to === after.from && (before.to >= 0 || before.segment === after.segment)
}

function endsAt({ refs }: { refs: readonly number[] }, node: number): boolean {
  return (refs[0] === node) !== (refs.at(-1) === node)
}

function faultOf({ mode, when }: Bound, { segment, direction }: Pick<Step, 'segment' | 'direction'>): Step['fault'] {
  const { tags } = segment.way
  // Hours may open a way that is closed otherwise.
  const mayBeOpen = when !== null && mayBeOpenedByHours(tags, KEYS[mode], when)
  if (!mayBeOpen && wayAccess(tags, mode, direction) === 'closed') return 'access'
  return isAgainstOneway(tags, mode, direction) ? 'oneway' : null
}

/** Restricted stretches that neither begin nor end the route. */
function passesRestricted(mode: Mode, steps: readonly Step[]): number[] {
  const restricted = steps.map(
    ({ segment, direction }) => wayAccess(segment.way.tags, mode, direction) === 'restricted',
  )
  const first = restricted.indexOf(false)
  const last = restricted.lastIndexOf(false)
  const inside = steps.filter((_, i) => restricted[i] && i > first && i < last && first >= 0)
  return [...new Set(inside.map(({ segment }) => segment.way.id))]
}

/** A place lies on a segment when it is no farther from it than this; the ends of a route are cut by whole metres. */
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
