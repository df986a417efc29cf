import { Access, Limit } from '../../graph/attributes.ts'
import { sizesWithin } from '../../time/conditions.ts'
import { type ConditionalCase, conditionalCases, hasConditions, isForLocals } from './conditional.ts'
import { accessOfClass, ACCESS_KEYS, GENERAL_KEYS, MODE_LAWS } from '../access-law.ts'
import { addressed, closes, decisionOf, opens } from './decide.ts'
import type { Tags } from './values.ts'
import type { WayLimit } from './way-limits.ts'
import { DIRECTIONS } from './way-timed.ts'

/** Weight limit of light goods vehicles: 3.5 t. Source: OpenStreetMap wiki, Key:goods. */
const LIGHT_GOODS = { type: Limit.maxWeight, value: 350 }

/**
 * Access tags with their exceptions applied, and the resulting limits. For example, `hgv=no` with
 * `hgv:conditional=yes @ (weight<7.5)` is a limit of weight, and `motor_vehicle=no` with `yes @ delivery` is
 * `destination`. Source: OpenStreetMap wiki, Conditional restrictions.
 */
export function withExceptions(said: Tags): { readonly tags: Tags; readonly limits: readonly WayLimit[] } {
  const tags = withUsualKeys(said)
  const limits = goodsLimits(tags)
  if (!hasConditions(tags)) return { tags, limits }
  const eased = new Map(tags)
  for (const key of ACCESS_KEYS) {
    for (const [suffix, direction] of DIRECTIONS) {
      for (const one of conditionalCases(tags.get(`${key}${suffix}:conditional`))) {
        if (!isException(tags, `${key}${suffix}`, one)) continue
        const sizes = sizesWithin(one.conditions)
        eased.set(`${key}${suffix}`, sizes === null ? 'destination' : one.value)
        const modes = addressed(tags, key)
        for (const size of sizes ?? []) limits.push({ ...size, direction, modes, exceptDestination: false })
      }
    }
  }
  return { tags: eased, limits }
}

const BOTH = new RegExp(`^(${ACCESS_KEYS.join('|')}):both(:conditional)?$`)
const SWAPPED = /^(.+):conditional(:forward|:backward)$/

/** Tags with normalised spellings of `oneway=reverse`, `bicycle:both=no`, `hgv:conditional:forward` and the like. */
export function withUsualKeys(said: Tags): Tags {
  const renamed = [...said].flatMap(([key, value]): [string, string][] => {
    if (key === 'oneway') return value === 'reverse' ? [[key, '-1']] : []
    const [, base, conditional = ''] = BOTH.exec(key) ?? []
    const [, swapped, direction] = SWAPPED.exec(key) ?? []
    const usual = base === undefined ? swapped && `${swapped}${direction}:conditional` : `${base}${conditional}`
    return usual === undefined || said.has(usual) ? [] : [[usual, value]]
  })
  return renamed.length === 0 ? said : new Map([...said, ...renamed])
}

/**
 * Whether a conditional case opens an otherwise closed way to some sizes or to local traffic. A way whose only access
 * tag opens it to some sizes counts as closed to other sizes.
 *
 * @param name the key with its direction
 */
export function isException(tags: Tags, name: string, one: ConditionalCase): boolean {
  const key = withoutDirection(name)
  if (!opens(key, one.value)) return false
  const base = tags.get(name)
  if (isForLocals(one)) return closes(key, base)
  return sizesWithin(one.conditions) !== null && (closes(key, base) || (!opens(key, base) && isAlone(tags, name)))
}

/** Whether no other key opens the way, and no other case does unless a key closes it. */
function isAlone(tags: Tags, name: string): boolean {
  const key = withoutDirection(name)
  const verdicts = MODE_LAWS.filter(({ keys }) => keys.includes(key)).map((law) => decisionOf(law, tags)?.verdict)
  const isOpen = verdicts.some((verdict) => verdict === 'yes' || verdict === 'local')
  const isClosed = verdicts.includes('no')
  return !isOpen && (isClosed || conditionalCases(tags.get(`${name}:conditional`)).length === 1)
}

/** An access key without its direction suffix. */
export function withoutDirection(name: string): string {
  return name.replace(/:(forward|backward)$/, '')
}

/** A weight limit for ways that are closed to trucks but open to `goods`: light goods vehicles may pass. */
function goodsLimits(tags: Tags): WayLimit[] {
  if (!opens('goods', tags.get('goods')) || tags.has('hgv')) return []
  const general = GENERAL_KEYS.find((key) => tags.has(key))
  const byClass = accessOfClass(tags.get('highway'))
  const isClosed =
    general === undefined ? byClass !== null && (byClass & Access.truck) === 0 : closes(general, tags.get(general))
  if (!isClosed) return []
  return [{ ...LIGHT_GOODS, direction: 3, modes: Access.truck, exceptDestination: false }]
}
