import type { OsmRelation, OsmTags } from '@terrane/osm'

import { type Situation, valuesThatHold } from './conditions.ts'
import { KEYS } from './rules.ts'

/** A turn restriction: from one of some ways, over a node or over ways, to one of some ways. */
export interface Restriction {
  readonly id: number
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Exactly one of the two exists. */
  readonly viaNode: number | null
  readonly viaWays: readonly number[]
  readonly tags: OsmTags
}

/** Reads a relation as a restriction; null if it is not one or its members are invalid. */
export function readRestriction({ id, tags = {}, members }: OsmRelation): Restriction | null {
  if (tags.type !== 'restriction' || tags.day_on !== undefined || tags.hour_on !== undefined) return null
  const ways = (role: string): number[] =>
    members.filter((member) => member.role === role && member.type === 'way').map(({ ref }) => ref)
  const viaNodes = members.filter(({ role, type }) => role === 'via' && type === 'node')
  const viaWays = ways('via')
  const from = ways('from')
  const to = ways('to')
  if (from.length === 0 || to.length === 0 || (viaNodes.length === 1) === viaWays.length > 0) return null
  return { id, from, to, viaNode: viaNodes[0]?.ref ?? null, viaWays, tags }
}

/** A turn that is forbidden, or one that alone is allowed. */
export type TurnRule = 'no' | 'only'

/**
 * What a restriction says in a situation, by the most specific key of the mode: `restriction:hgv` before `restriction`,
 * conditional cases that hold beside plain values. Source: OpenStreetMap wiki, Relation:restriction.
 */
export function turnRules({ tags, from, to }: Restriction, situation: Situation): TurnRule[] {
  const keys = KEYS[situation.mode].filter((key) => key !== 'access')
  const specific = keys.toReversed().find((key) => hasRule(tags, `restriction:${key}`))
  if (specific !== undefined) return rulesOf(tags, `restriction:${specific}`, situation)
  if (situation.mode === 'pedestrian') return []
  const excepted = new Set((tags.except ?? '').split(/[;,]/).map((part) => part.trim()))
  if (keys.some((key) => excepted.has(key))) return []
  return rulesOf(tags, 'restriction', situation).filter(() => {
    // Several ways may be told apart only where all are kept from entering, or from leaving.
    const value = tags.restriction ?? ''
    return (from.length === 1 || value === 'no_entry') && (to.length === 1 || value === 'no_exit')
  })
}

function hasRule(tags: OsmTags, key: string): boolean {
  return tags[key] !== undefined || tags[`${key}:conditional`] !== undefined
}

function rulesOf(tags: OsmTags, key: string, situation: Situation): TurnRule[] {
  const values = [tags[key] ?? '', ...valuesThatHold(tags[`${key}:conditional`], situation)]
  return values.flatMap((value) => (/^(no|only)_/.exec(value)?.[1] ?? []) as TurnRule | [])
}
