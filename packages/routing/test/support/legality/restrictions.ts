import type { OsmRelation, OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
import { holdsAllThrough, singleCase, type When } from './conditions.ts'
import { KEYS } from './rules.ts'

/** A turn restriction: from one of some ways, over a node or over ways, to one of some ways. */
export interface Restriction {
  readonly id: number
  readonly only: boolean
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Exactly one of the two is there. */
  readonly viaNode: number | null
  readonly viaWays: readonly number[]
  readonly tags: OsmTags
  /** Plain hours in which alone it holds; null when it always does. */
  readonly hours: string | null
}

/** Reads a relation as a restriction; null when it is none, or holds under conditions that are not understood. */
export function readRestriction({ id, tags = {}, members }: OsmRelation): Restriction | null {
  if (tags.type !== 'restriction' && tags.type?.startsWith('restriction:') !== true) return null
  const plain = Object.entries(tags).find(
    ([key]) => key === 'restriction' || (key.startsWith('restriction:') && !key.includes('conditional')),
  )?.[1]
  const timed = plain === undefined ? singleCase(tags['restriction:conditional']) : null
  const value = plain ?? timed?.value
  if (value === undefined || !/^(no|only)_/.test(value) || tags.day_on !== undefined || tags.hour_on !== undefined)
    return null
  const ways = (role: string): number[] =>
    members.filter((member) => member.role === role && member.type === 'way').map(({ ref }) => ref)
  const viaNodes = members.filter(({ role, type }) => role === 'via' && type === 'node')
  const viaWays = ways('via')
  const from = ways('from')
  const to = ways('to')
  // Several ways may be told apart only where all are kept from entering, or from leaving.
  if ((from.length > 1 && value !== 'no_entry') || (to.length > 1 && value !== 'no_exit')) return null
  if (from.length === 0 || to.length === 0 || (viaNodes.length === 1) === viaWays.length > 0) return null
  return {
    id,
    only: value.startsWith('only_'),
    from,
    to,
    viaNode: viaNodes[0]?.ref ?? null,
    viaWays,
    tags,
    hours: timed?.condition ?? null,
  }
}

/** Whether a restriction holds for a mode: for vehicles that are not excepted, and in its hours. */
export function holdsFor({ tags, hours }: Restriction, mode: Mode, when: When | null): boolean {
  if (hours !== null && (when === null || holdsAllThrough(hours, when) !== true)) return false
  const keys = KEYS[mode].filter((key) => key !== 'access')
  const except = new Set((tags.except ?? '').split(/[;,]/).map((part) => part.trim()))
  if (keys.some((key) => except.has(key))) return false
  // A vehicle's own restriction counts for it in place of the general one.
  const own = keys.toReversed().flatMap((key) => tags[`restriction:${key}`] ?? [])[0]
  if (own !== undefined && tags.restriction !== undefined && own !== tags.restriction) return false
  if ((tags.restriction !== undefined || hours !== null) && tags.type === 'restriction') return mode !== 'pedestrian'
  return keys.some((key) => tags[`restriction:${key}`] !== undefined || tags.type === `restriction:${key}`)
}
