import { Access } from '../../graph/attributes.ts'
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

/** Keys of restrictions that hold at certain times only; a route without a time ignores those. */
const TIMES = ['hour_on', 'hour_off', 'day_on', 'day_off']

export function relationFacts(tags: Tags): RelationFacts | null {
  const type = tags.get('type')
  if (type === 'route') return isBicycleRoute(tags) ? { kind: 'bicycleRoute' } : null
  if (type !== 'restriction') return null
  let modes = 0
  let value = ''
  for (const [vehicle, mode] of VEHICLES) {
    const own = tags.get(`restriction:${vehicle}`)
    if (own === undefined) continue
    modes |= mode
    value = own
  }
  if (modes === 0) {
    value = tags.get('restriction') ?? ''
    modes = DEFAULT_MODES
    for (const vehicle of parts(tags.get('except'))) modes &= ~(VEHICLES.get(vehicle) ?? 0)
  }
  if (TIMES.some((key) => tags.has(key))) return null
  const [, prefix, rest] = /^(no|only)_(.+)$/.exec(value) ?? []
  const turn = TURNS[rest ?? '']
  if (prefix === undefined || turn === undefined || modes === 0) return null
  return { kind: 'restriction', only: prefix === 'only', turn, modes }
}

const NETWORKS = new Set(['ncn', 'rcn', 'lcn', 'mtb'])

function isBicycleRoute(tags: Tags): boolean {
  const route = tags.get('route')
  return (
    (route === 'bicycle' || route === 'mtb') &&
    (NETWORKS.has(tags.get('network') ?? '') || (route === 'mtb' && tags.has('network')))
  )
}
