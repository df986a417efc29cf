import type { OsmRelation, OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
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
}

/** Reads a relation as a restriction that always holds; null when it is none, or only holds at times. */
export function readRestriction({ id, tags = {}, members }: OsmRelation): Restriction | null {
  if (tags.type !== 'restriction' && tags.type?.startsWith('restriction:') !== true) return null
  const value = Object.entries(tags).find(
    ([key]) => key === 'restriction' || /^restriction:(?!conditional)/.test(key),
  )?.[1]
  if (value === undefined || !/^(no|only)_/.test(value) || tags.day_on !== undefined || tags.hour_on !== undefined)
    return null
  const ways = (role: string): number[] =>
    members.filter((member) => member.role === role && member.type === 'way').map(({ ref }) => ref)
  const viaNodes = members.filter(({ role, type }) => role === 'via' && type === 'node')
  const viaWays = ways('via')
  const from = ways('from')
  const to = ways('to')
  if (from.length === 0 || to.length === 0 || (viaNodes.length === 1) === viaWays.length > 0) return null
  return { id, only: value.startsWith('only_'), from, to, viaNode: viaNodes[0]?.ref ?? null, viaWays, tags }
}

/** Whether a restriction holds for a mode: for vehicles, but not for those that are excepted. */
export function holdsFor({ tags }: Restriction, mode: Mode): boolean {
  const keys = KEYS[mode].filter((key) => key !== 'access')
  const except = new Set((tags.except ?? '').split(/[;,]/).map((part) => part.trim()))
  if (keys.some((key) => except.has(key))) return false
  if (tags.restriction !== undefined && tags.type === 'restriction') return mode !== 'pedestrian'
  return keys.some((key) => tags[`restriction:${key}`] !== undefined || tags.type === `restriction:${key}`)
}
