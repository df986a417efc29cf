import { Access, Limit } from '../../graph/attributes.ts'
import { sizesWithin } from '../../time/conditions.ts'
import { type ConditionalCase, conditionalCases, hasConditions, isForLocals } from './conditional.ts'
import { ACCESS_KEYS } from './mode-tags.ts'
import { ACCESS, meaning, type Tags, TRUCK } from './values.ts'
import type { WayLimit } from './way-limits.ts'
import { accessOfClass } from './way-access.ts'
import { addressed, DIRECTIONS } from './way-timed.ts'

/** The heaviest goods vehicle that is no heavy one. Source: OpenStreetMap wiki, Key:goods. */
const LIGHT_GOODS = { type: Limit.maxWeight, value: 350 }

/**
 * Access tags with their exceptions in place of what they are exceptions from, and the limits that come with these:
 * `hgv=no` with `hgv:conditional=yes @ (weight<7.5)` is a limit of weight, `motor_vehicle=no` with `yes @ delivery` is
 * `destination`. Source: OpenStreetMap wiki, Conditional restrictions.
 */
export function withExceptions(tags: Tags): { readonly tags: Tags; readonly limits: readonly WayLimit[] } {
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

/**
 * Whether a case opens what its key closes otherwise, to some sizes or to local traffic. Who says for which sizes a way is
 * open, and nothing else of it, means that it is closed to others.
 */
export function isException(tags: Tags, key: string, one: ConditionalCase): boolean {
  if (ACCESS.get(one.value) !== true) return false
  const base = meaning(ACCESS, tags.get(key))
  return isForLocals(one) ? base === false : base !== true && sizesWithin(one.conditions) !== null
}

/** What is open to goods vehicles though it is closed to motor vehicles, by a tag or by its class, is open to the light ones. */
function goodsLimits(tags: Tags): WayLimit[] {
  if (meaning(TRUCK, tags.get('goods')) !== true || tags.has('hgv')) return []
  const general = ['motor_vehicle', 'vehicle', 'access'].find((key) => tags.has(key))
  const byClass = accessOfClass(tags.get('highway'))
  const isClosed =
    general === undefined
      ? byClass !== null && (byClass & Access.truck) === 0
      : meaning(ACCESS, tags.get(general)) === false
  if (!isClosed) return []
  return [{ ...LIGHT_GOODS, direction: 3, modes: Access.truck, exceptDestination: false }]
}
