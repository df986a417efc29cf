import { Access, MOTOR_ACCESS } from '../../graph/attributes.ts'
import { readConditions, type SizeLimit, sizeLimit } from '../../time/conditions.ts'
import { conditionalCases } from './conditional.ts'
import { parts } from './way-names.ts'
import type { Tags } from './values.ts'

/** Which turn a restriction is about, where it says so. */
export type RestrictedTurn = 'left' | 'right' | 'straight' | 'u' | 'any'

/** What a relation means for routing. */
export type RelationFacts =
  | { readonly kind: 'bicycleRoute' }
  | {
      readonly kind: 'restriction'
      /** True forbids every other turn. */
      readonly only: boolean
      readonly turn: RestrictedTurn
      /** Modes it applies to. */
      readonly modes: number
      /** Conditions of time under which it holds; null when it always does. */
      readonly conditions: string | null
      /** The size that a vehicle may have without being bound; null when all are bound. */
      readonly size: SizeLimit | null
    }

const TURNS: Readonly<Record<string, RestrictedTurn>> = {
  left_turn: 'left',
  right_turn: 'right',
  straight_on: 'straight',
  u_turn: 'u',
  entry: 'any',
  exit: 'any',
  turn: 'any',
}

/** Modes that obey a restriction without further word. Walkers do not. */
const DEFAULT_MODES =
  Access.car |
  Access.moped |
  Access.taxi |
  Access.bus |
  Access.bicycle |
  Access.truck |
  Access.motorcycle |
  Access.emergency

/** Vehicles by their key, the more general ones first. */
const VEHICLES: ReadonlyMap<string, number> = new Map([
  ['motor_vehicle', MOTOR_ACCESS],
  ['motorcar', Access.car | Access.moped],
  ['motorcycle', Access.motorcycle],
  ['psv', Access.taxi | Access.bus],
  ['taxi', Access.taxi],
  ['bus', Access.bus],
  ['bicycle', Access.bicycle],
  ['hgv', Access.truck],
  ['hazmat', Access.truck],
  ['emergency', Access.emergency],
  ['foot', Access.foot | Access.wheelchair],
])

/** Reads a relation; what it forbids to vehicles of its own and to all others are facts of their own. */
export function relationFacts(tags: Tags): RelationFacts[] {
  const type = tags.get('type')
  if (type === 'route') return isBicycleRoute(tags) ? [{ kind: 'bicycleRoute' }] : []
  if (type !== 'restriction') return []
  const hours = hoursOf(tags)
  const always = hours === undefined ? [] : saidOf(tags, '').map((said) => ({ ...said, conditions: hours, size: null }))
  return [...always, ...conditionalOf(tags)].flatMap(({ value, modes, conditions, size }): RelationFacts[] => {
    const [, prefix, rest] = /^(no|only)_(.+)$/.exec(value) ?? []
    const turn = TURNS[rest ?? '']
    if (prefix === undefined || turn === undefined || modes === 0) return []
    return [{ kind: 'restriction', only: prefix === 'only', turn, modes, conditions, size }]
  })
}

interface Said {
  readonly value: string
  readonly modes: number
}

/**
 * What a restriction says to which modes: a key of a vehicle's own counts for it, the general key for all others that
 * obey one and are not excepted. Source: OpenStreetMap wiki, Relation:restriction.
 */
function saidOf(tags: Tags, suffix: string): Said[] {
  let general = DEFAULT_MODES
  for (const vehicle of parts(tags.get('except'))) general &= ~(VEHICLES.get(vehicle) ?? 0)
  const said = [{ value: tags.get(`restriction${suffix}`), modes: general }]
  for (const [vehicle, modes] of VEHICLES) {
    const value = tags.get(`restriction:${vehicle}${suffix}`)
    if (value === undefined) continue
    for (const before of said) before.modes &= ~modes
    said.push({ value, modes })
  }
  return said.flatMap(({ value, modes }) => (value === undefined ? [] : [{ value, modes }]))
}

interface SaidSometimes extends Said {
  readonly conditions: string | null
  readonly size: SizeLimit | null
}

/** The cases of conditional restrictions that time has a part in, and those of size alone. */
function conditionalOf(tags: Tags): SaidSometimes[] {
  return saidOf(tags, ':conditional').flatMap(({ value: text, modes }) =>
    conditionalCases(text).flatMap(({ value, conditions }): SaidSometimes[] => {
      if (readConditions(conditions)?.timed === true)
        return [{ value, modes, conditions: conditions.join(' AND '), size: null }]
      const size = sizeLimit(conditions)
      return size === null ? [] : [{ value, modes, conditions: null, size }]
    }),
  )
}

/** The hours of older tags: null when there are none, undefined when they are not understood. */
function hoursOf(tags: Tags): string | null | undefined {
  const [hourOn, hourOff, dayOn, dayOff] = ['hour_on', 'hour_off', 'day_on', 'day_off'].map((key) => tags.get(key))
  if ([hourOn, hourOff, dayOn, dayOff].every((value) => value === undefined)) return null
  const days = dayOn === undefined ? '' : dayOff === undefined ? dayOn.replaceAll(';', ',') : `${dayOn}-${dayOff}`
  const times = hourOn === undefined || hourOff === undefined ? '' : `${hourOn}-${hourOff}`
  const hours = `${days} ${times}`.trim()
  return readConditions([hours]) === null ? undefined : hours
}

const NETWORKS = new Set(['ncn', 'rcn', 'lcn', 'mtb'])

function isBicycleRoute(tags: Tags): boolean {
  const route = tags.get('route')
  return (
    (route === 'bicycle' || route === 'mtb') &&
    (NETWORKS.has(tags.get('network') ?? '') || (route === 'mtb' && tags.has('network')))
  )
}
