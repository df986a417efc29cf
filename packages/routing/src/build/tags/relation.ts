import { Access, MOTOR_ACCESS } from '../../graph/attributes.ts'
import { readConditions, type SizeLimit, sizeLimit } from '../../time/conditions.ts'
import { type ConditionalCase, conditionalCases, isForLocals } from './conditional.ts'
import { unreadCases, type UnreadTag } from './unread.ts'
import type { Tags } from './values.ts'

/** The turn that a restriction forbids or requires; `any` when it names none. */
export type RestrictedTurn = 'left' | 'right' | 'straight' | 'u' | 'any'

/** Meaning of a relation for routing. */
export type RelationFacts =
  | { readonly kind: 'bicycleRoute' }
  /** A restriction with unsupported conditions. */
  | ({ readonly kind: 'unread' } & UnreadTag)
  | {
      readonly kind: 'restriction'
      /** Whether every other turn is forbidden instead. */
      readonly only: boolean
      readonly turn: RestrictedTurn
      readonly modes: number
      /** Time conditions; null for a permanent restriction. */
      readonly conditions: string | null
      /** The size above which vehicles are restricted; null when all are. */
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

/** Modes that a restriction applies to by default. Pedestrians are not included. */
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
  ['vehicle', DEFAULT_MODES],
  ['motor_vehicle', MOTOR_ACCESS],
  ['motorcar', Access.car],
  ['motorcycle', Access.motorcycle],
  ['moped', Access.moped],
  ['psv', Access.taxi | Access.bus],
  ['taxi', Access.taxi],
  ['bus', Access.bus],
  ['bicycle', Access.bicycle],
  ['hgv', Access.truck],
  ['hazmat', Access.truck],
  ['emergency', Access.emergency],
  ['foot', Access.foot | Access.wheelchair],
])

/** Keys of restrictions and the modes that they apply to. */
const KEYS: readonly (readonly [key: string, modes: number])[] = [
  ['restriction', DEFAULT_MODES],
  ['restriction:goods', Access.truck],
  ...[...VEHICLES].map(([vehicle, modes]) => [`restriction:${vehicle}`, modes] as const),
]

/** Reads a relation. Restrictions of single vehicle types and the general one become separate facts. */
export function relationFacts(tags: Tags): RelationFacts[] {
  const type = tags.get('type')
  if (type === 'route') return isBicycleRoute(tags) ? [{ kind: 'bicycleRoute' }] : []
  if (type !== 'restriction') return type?.startsWith('restriction:') === true ? ofOneVehicle(tags, type) : []
  const hours = hoursOf(tags)
  const always = hours === undefined ? [] : saidOf(tags, '').map((said) => ({ ...said, conditions: hours, size: null }))
  return [...unreadOf(tags, hours === undefined), ...restrictionsOf([...always, ...conditionalOf(tags)])]
}

/** Reads a relation of an older type such as `restriction:hgv`, which applies to that vehicle only. */
function ofOneVehicle(tags: Tags, type: string): RelationFacts[] {
  const value = tags.get(type) ?? tags.get('restriction')
  if (value === undefined) return []
  const own = new Map(tags).set('type', 'restriction').set(type, value)
  own.delete('restriction')
  return relationFacts(own)
}

function restrictionsOf(said: readonly SaidSometimes[]): RelationFacts[] {
  return said.flatMap(({ value, modes, ...when }) =>
    value.split(';').flatMap((part): RelationFacts[] => {
      const turn = turnOf(part.trim())
      if (turn === undefined || modes === 0) return []
      return [{ kind: 'restriction', only: part.trim().startsWith('only_'), turn, modes, ...when }]
    }),
  )
}

/** The turn that a value such as `no_left_turn` forbids or requires. */
function turnOf(value: string): RestrictedTurn | undefined {
  const [, turn] = /^(?:no|only)_(.+)$/.exec(value) ?? []
  return turn === undefined ? undefined : TURNS[turn]
}

/** Whether a value forbids an unknown turn. Turns on a red light are excluded, because they may be made on green. */
function isUnknownTurn(value: string): boolean {
  return /^(?:no|only)_(?!.*_on_red$)/.test(value) && turnOf(value) === undefined
}

interface Said {
  readonly value: string
  readonly modes: number
}

/**
 * The values of a restriction and the modes they apply to: a vehicle's own key takes precedence; the general key
 * applies to the other modes that are not excepted. Source: OpenStreetMap wiki, Relation:restriction.
 */
function saidOf(tags: Tags, suffix: string): Said[] {
  let general = DEFAULT_MODES
  for (const vehicle of (tags.get('except') ?? '').split(/[;,]/)) general &= ~(VEHICLES.get(vehicle.trim()) ?? 0)
  const said = [
    { value: tags.get(`restriction${suffix}`), modes: general },
    // `goods` are light lorries, which requests cannot distinguish from heavy ones: the key restricts both and exempts
    // neither.
    { value: tags.get(`restriction:goods${suffix}`), modes: Access.truck },
  ]
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

function isCaseRead({ value, conditions }: ConditionalCase): boolean {
  return turnOf(value) !== undefined && (readConditions(conditions)?.timed === true || sizeLimit(conditions) !== null)
}

/** Restrictions under conditions that are not supported, and older hour tags that cannot be parsed. */
function unreadOf(tags: Tags, hoursFailed: boolean): RelationFacts[] {
  const cases = KEYS.flatMap(([key, modes]) => {
    const value = tags.get(key) ?? ''
    const unknown = value.split(';').some((part) => isUnknownTurn(part.trim())) ? [`${key}=${value}`] : []
    const text = tags.get(`${key}:conditional`)
    const conditional = text === undefined ? [] : unreadCases(`${key}:conditional`, text, isCaseRead)
    return [...unknown, ...conditional].map((unread) => ({ text: unread, modes }))
  })
  for (const except of (tags.get('except') ?? '').split(/[;,]/)) {
    if (isForLocals({ conditions: [except.trim()] }))
      cases.push({ text: `except=${except.trim()}`, modes: DEFAULT_MODES })
  }
  if (hoursFailed)
    cases.push({ text: `restriction=${tags.get('restriction') ?? ''} @ (${olderHours(tags)})`, modes: DEFAULT_MODES })
  return cases.map((unread) => ({ kind: 'unread', ...unread }))
}

/** The cases of conditional restrictions with a time condition, and those with sizes only. */
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

const OLDER_KEYS = ['hour_on', 'hour_off', 'day_on', 'day_off']

/** The hours of older tags: null without such tags, undefined when they cannot be parsed. */
function hoursOf(tags: Tags): string | null | undefined {
  if (!OLDER_KEYS.some((key) => tags.has(key))) return null
  const hours = olderHours(tags)
  return readConditions([hours]) === null ? undefined : hours
}

function olderHours(tags: Tags): string {
  const [hourOn, hourOff, dayOn, dayOff] = OLDER_KEYS.map((key) => tags.get(key))
  const days = dayOn === undefined ? '' : dayOff === undefined ? dayOn.replaceAll(';', ',') : `${dayOn}-${dayOff}`
  const times = hourOn === undefined || hourOff === undefined ? '' : `${hourOn}-${hourOff}`
  return `${days} ${times}`.trim()
}

const NETWORKS = new Set(['ncn', 'rcn', 'lcn', 'mtb'])

function isBicycleRoute(tags: Tags): boolean {
  const route = tags.get('route')
  return (
    (route === 'bicycle' || route === 'mtb') &&
    (NETWORKS.has(tags.get('network') ?? '') || (route === 'mtb' && tags.has('network')))
  )
}
