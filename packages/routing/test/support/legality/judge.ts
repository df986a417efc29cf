import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
import type { Direction, Situation, Vehicle } from './conditions.ts'
import { momentAfter } from './hours.ts'
import { limitVerdict, nodeVerdict } from './limits.ts'
import type { MapWay } from './map.ts'
import { type Restriction, type TurnRule, turnRules } from './restrictions.ts'
import { isAgainstOneway, type Verdict, wayAccess } from './rules.ts'

/** Mode, vehicle and time of a journey. */
export interface Journey {
  readonly mode: Mode
  readonly vehicle?: Vehicle
  /** Local time `2026-06-01T08:10` at which a route begins; without it no hours are checked. */
  readonly departure?: string | undefined
  /** Minutes after the departure at which a leg begins and ends. */
  readonly minutes?: readonly [from: number, to: number]
  /** ISO 3166-1 alpha-2 code, for rules in which countries differ. */
  readonly country?: string
}

const STEP_MINUTES = 5

/** Access law for a journey. Something is forbidden only if it is at every moment of the journey. */
export class Judge {
  readonly mode: Mode
  readonly isStrict: boolean
  readonly #situations: readonly Situation[]
  readonly #country: string
  readonly #known = new Map<string, Map<unknown, Verdict>>()

  readonly #journey: Journey

  /** @param isStrict it forbids what it forbids at any of the moments */
  constructor(journey: Journey, isStrict = false) {
    const { mode, vehicle = {}, departure, minutes: [from, to] = [0, 0], country = '' } = journey
    this.#journey = journey
    this.isStrict = isStrict
    this.mode = mode
    this.#country = country
    const base = { mode, vehicle, isLocal: false }
    const count = departure === undefined ? 0 : Math.ceil((to - from) / STEP_MINUTES)
    this.#situations = Array.from({ length: count + 1 }, (_, i) => ({
      ...base,
      moment:
        departure === undefined ? null : momentAfter(departure, from + (count === 0 ? 0 : ((to - from) * i) / count)),
    }))
  }

  get isWheelchair(): boolean {
    return this.#journey.vehicle?.type === 'wheelchair'
  }

  /** The judge of the same journey that forbids what is forbidden at any moment of it. */
  strict(): Judge {
    return new Judge(this.#journey, true)
  }

  /** Access by tags, directions apart. */
  access(way: MapWay, direction: Direction): Verdict {
    return this.#verdict(`access ${direction}`, way, (at) => wayAccess(way.tags, at, direction, this.#country))
  }

  /** The same by rules that hold at all hours, for all sizes and any number of people. */
  lasting(way: MapWay, direction: Direction): Verdict {
    if (Object.keys(way.tags).some((key) => key.startsWith('hov'))) return 'open'
    return this.#verdict(`lasting ${direction}`, way, (at) =>
      wayAccess(Object.fromEntries(Object.entries(way.tags).filter(isLasting)), at, direction, this.#country),
    )
  }

  limits(way: MapWay, direction: Direction): Verdict {
    return this.#verdict(`limits ${direction}`, way, (at) => limitVerdict(way.tags, at, direction))
  }

  isAgainstOneway(way: MapWay, direction: Direction): boolean {
    const of = (at: Situation): Verdict => (isAgainstOneway(way.tags, at, direction) ? 'closed' : 'open')
    return this.#verdict(`oneway ${direction}`, way, of) === 'closed'
  }

  /** Whether there is no lawful way out of a street. */
  isClosedBothWays(way: MapWay): boolean {
    return this.way(way, 'forward') === 'closed' && this.way(way, 'backward') === 'closed'
  }

  /** Access, limits and directions together. */
  way(way: MapWay, direction: Direction): Verdict {
    if (this.isAgainstOneway(way, direction)) return 'closed'
    return worse(this.access(way, direction), this.limits(way, direction))
  }

  node(tags: OsmTags): Verdict {
    return this.#verdict('node', tags, (at) => nodeVerdict(tags, at))
  }

  /** Whether a turn that breaks some rule of a restriction does so at each moment. */
  turn(restriction: Restriction, breaks: (rule: TurnRule) => boolean): boolean {
    const isBroken = (at: Situation): boolean => turnRules(restriction, at).some(breaks)
    return this.isStrict ? this.#situations.some(isBroken) : this.#situations.every(isBroken)
  }

  #verdict(kind: string, subject: unknown, of: (situation: Situation) => Verdict): Verdict {
    let known = this.#known.get(kind)
    if (known === undefined) this.#known.set(kind, (known = new Map()))
    let verdict = known.get(subject)
    if (verdict === undefined)
      known.set(subject, (verdict = this.#situations.map(of).reduce(this.isStrict ? worse : better)))
    return verdict
  }
}

const isLasting = ([key]: [string, string]): boolean => !key.endsWith(':conditional') && !key.startsWith('hov')

const RANK: Readonly<Record<Verdict, number>> = { open: 0, local: 1, closed: 2 }
const better = (a: Verdict, b: Verdict): Verdict => (RANK[a] < RANK[b] ? a : b)
const worse = (a: Verdict, b: Verdict): Verdict => (RANK[a] > RANK[b] ? a : b)
