import type { OsmBlock, OsmReader, RelationColumns, TagColumns } from '@terrane/osm'
import { NODE, WAY } from '@terrane/osm'

import { relationFacts, type RelationFacts } from './tags/relation.ts'
import type { Tags } from './tags/values.ts'
import { type WayFacts, wayFacts } from './tags/way.ts'

/** A way of the network, as it stands in the file. */
export interface CollectedWay {
  readonly id: number
  readonly facts: WayFacts
  /** Ids of its nodes, at least two. */
  readonly refs: Float64Array
  /** Where they are, in degrees times 10⁷, if the file keeps that on its ways: it may lack the nodes then. */
  readonly located: { readonly lon: Int32Array; readonly lat: Int32Array } | null
}

export interface Collected {
  readonly ways: readonly CollectedWay[]
  readonly restrictions: readonly TurnRule[]
  /** Ids of ways on signed bicycle routes. */
  readonly bicycleRoutes: ReadonlySet<number>
}

/** A turn restriction: from a way over a node or ways to a way. */
export interface TurnRule {
  readonly facts: RelationFacts & { readonly kind: 'restriction' }
  readonly from: number
  readonly to: number
  /** Id of the via node, or NaN. */
  readonly viaNode: number
  readonly viaWays: readonly number[]
}

/** First pass over the files: the ways that carry traffic and the relations about them. */
export async function collectWays(
  readers: readonly OsmReader[],
  { construction = false, signal }: { construction?: boolean; signal?: AbortSignal } = {},
): Promise<Collected> {
  const ways = new Map<number, CollectedWay>()
  const restrictions = new Map<number, TurnRule>()
  const bicycleRoutes = new Set<number>()
  for (const reader of readers) {
    await reader.read(
      (block) => {
        collectWaysOf(block, ways, construction)
        collectRelationsOf(block, restrictions, bicycleRoutes)
      },
      { kinds: { ways: true, relations: true }, ...(signal && { signal }) },
    )
  }
  const ordered = [...ways.values()].toSorted((a, b) => a.id - b.id)
  return { ways: ordered, restrictions: [...restrictions.values()], bicycleRoutes }
}

/** Closed ways with these keys are areas, not ways around something. */
const AREA_KEYS = ['building', 'landuse', 'leisure', 'natural']

function collectWaysOf({ ways, strings }: OsmBlock, into: Map<number, CollectedWay>, construction: boolean): void {
  for (let i = 0; i < ways.count; i++) {
    const begin = ways.refOffsets[i]!
    const end = ways.refOffsets[i + 1]!
    const id = ways.ids[i]!
    if (end - begin < 2 || into.has(id)) continue
    const tags = tagMap(ways, i, strings)
    if (!maybeWay(tags)) continue
    if (ways.refs[begin] === ways.refs[end - 1] && AREA_KEYS.some((key) => tags.has(key))) continue
    const facts = wayFacts(tags, construction)
    if (facts === null) continue
    const located = ways.hasLocations && {
      lon: ways.refLon.slice(begin, end),
      lat: ways.refLat.slice(begin, end),
    }
    into.set(id, { id, facts, refs: ways.refs.slice(begin, end), located: located || null })
  }
}

/** Rails in a street; they carry other traffic where a tag of a mode says so. */
const STREET_RAILS = new Set(['tram', 'light_rail', 'rail', 'narrow_gauge'])

function maybeWay(tags: Tags): boolean {
  return tags.has('highway') || tags.has('route') || STREET_RAILS.has(tags.get('railway') ?? '')
}

function collectRelationsOf(
  { relations, strings }: OsmBlock,
  restrictions: Map<number, TurnRule>,
  routes: Set<number>,
): void {
  for (let i = 0; i < relations.count; i++) {
    const id = relations.ids[i]!
    const facts = relationFacts(tagMap(relations, i, strings))
    if (facts === null || restrictions.has(id)) continue
    if (facts.kind === 'bicycleRoute') {
      forEachMember(relations, i, (type, ref) => {
        if (type === WAY) routes.add(ref)
      })
      continue
    }
    const rule = turnRule(relations, i, facts, (index) => strings.get(index))
    if (rule !== null) restrictions.set(id, rule)
  }
}

function turnRule(
  relations: RelationColumns,
  row: number,
  facts: TurnRule['facts'],
  text: (index: number) => string,
): TurnRule | null {
  let from = Number.NaN
  let to = Number.NaN
  let viaNode = Number.NaN
  const viaWays: number[] = []
  forEachMember(relations, row, (type, ref, roleIndex) => {
    const role = text(roleIndex)
    if (type === WAY && role === 'from') from = ref
    else if (type === WAY && role === 'to' && Number.isNaN(to)) to = ref
    else if (type === WAY && role === 'via') viaWays.push(ref)
    else if (type === NODE && role === 'via') viaNode = ref
  })
  // A mix of nodes and ways has no agreed meaning.
  const sound = !Number.isNaN(from) && !Number.isNaN(to) && Number.isNaN(viaNode) === viaWays.length > 0
  return sound ? { facts, from, to, viaNode, viaWays } : null
}

function forEachMember(
  relations: RelationColumns,
  row: number,
  visit: (type: number, ref: number, role: number) => void,
): void {
  for (let m = relations.memberOffsets[row]!; m < relations.memberOffsets[row + 1]!; m++) {
    visit(relations.memberTypes[m]!, relations.memberRefs[m]!, relations.memberRoles[m]!)
  }
}

/** The tags of a row as a map. */
export function tagMap(columns: TagColumns, row: number, strings: { get(index: number): string }): Tags {
  const tags = new Map<string, string>()
  for (let t = columns.tagOffsets[row]!; t < columns.tagOffsets[row + 1]!; t++) {
    tags.set(strings.get(columns.tags[2 * t]!), strings.get(columns.tags[2 * t + 1]!))
  }
  return tags
}
