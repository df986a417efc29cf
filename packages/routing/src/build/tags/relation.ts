import { Access } from '../../graph/attributes.ts'
import { readConditions } from '../../time/conditions.ts'
import { conditionalCases } from './conditional.ts'
import { parts } from './way-names.ts'
import type { Tags } from './values.ts'

/** Which turn a restriction is about, where it says so. */
export type RestrictedTurn = 'left' | 'right' | 'straight' | 'u' | 'any'

/** What a relation means for routing; null when nothing. */
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

const VEHICLES: ReadonlyMap<string, number> = new Map([
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

export function relationFacts(tags: Tags): RelationFacts | null {
  const type = tags.get('type')
  if (type === 'route') return isBicycleRoute(tags) ? { kind: 'bicycleRoute' } : null
  if (type !== 'restriction') return null
  const said = saidOf(tags, '') ?? conditionalOf(tags)
  if (said === null) return null
  const [, prefix, rest] = /^(no|only)_(.+)$/.exec(said.value) ?? []
  const turn = TURNS[rest ?? '']
  if (prefix === undefined || turn === undefined || said.modes === 0) return null
  const conditions = said.conditions ?? hoursOf(tags)
  return conditions === undefined
    ? null
    : { kind: 'restriction', only: prefix === 'only', turn, modes: said.modes, conditions }
}

interface Said {
  readonly value: string
  readonly modes: number
  readonly conditions: string | null
}

/** What a restriction says, for vehicles of its own or for all that obey one; null when it says nothing. */
function saidOf(tags: Tags, suffix: string): Said | null {
  let modes = 0
  let value = ''
  for (const [vehicle, mode] of VEHICLES) {
    const own = tags.get(`restriction:${vehicle}${suffix}`)
    if (own === undefined) continue
    modes |= mode
    value = own
  }
  if (modes !== 0) return { value, modes, conditions: null }
  const general = tags.get(`restriction${suffix}`)
  if (general === undefined) return null
  modes = DEFAULT_MODES
  for (const vehicle of parts(tags.get('except'))) modes &= ~(VEHICLES.get(vehicle) ?? 0)
  return { value: general, modes, conditions: null }
}

/** The first case of a conditional restriction that time has a part in. */
function conditionalOf(tags: Tags): Said | null {
  const said = saidOf(tags, ':conditional')
  const found = conditionalCases(said?.value).find(({ conditions }) => readConditions(conditions)?.timed === true)
  return found === undefined ? null : { ...said!, value: found.value, conditions: found.conditions.join(' AND ') }
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
