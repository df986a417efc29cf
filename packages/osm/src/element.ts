import { UNDEFINED_COORDINATE, UNITS_PER_DEGREE } from './block.ts'
import type { OsmBlock, TagColumns } from './block.ts'
import type { StringTable } from './string-table.ts'

const MEMBER_TYPES = ['node', 'way', 'relation'] as const

/** Tags of one element; keys are unique. */
export type OsmTags = Readonly<Record<string, string>>

/** One element as an object: for writing, and for fixtures. Readers use columns instead. */
export type OsmElement = OsmNode | OsmWay | OsmRelation

export interface OsmNode {
  readonly type: 'node'
  readonly id: number
  /** Degrees; kept to 1e-7. */
  readonly lon: number
  readonly lat: number
  readonly tags?: OsmTags
}

export interface OsmWay {
  readonly type: 'way'
  readonly id: number
  readonly refs: readonly number[]
  readonly tags?: OsmTags
}

export interface OsmRelation {
  readonly type: 'relation'
  readonly id: number
  readonly members: readonly OsmMember[]
  readonly tags?: OsmTags
}

export interface OsmMember {
  readonly type: OsmElement['type']
  readonly ref: number
  readonly role: string
}

/** Elements of a block as objects, nodes first, for tools and tests; without a location they are at `NaN`. */
export function* blockElements(block: OsmBlock): Generator<OsmElement> {
  const { nodes, ways, relations, strings } = block
  for (let i = 0; i < nodes.count; i++) {
    const known = nodes.lon[i] !== UNDEFINED_COORDINATE
    const lon = known ? nodes.lon[i]! / UNITS_PER_DEGREE : Number.NaN
    const lat = known ? nodes.lat[i]! / UNITS_PER_DEGREE : Number.NaN
    yield { type: 'node', id: nodes.ids[i]!, lon, lat, tags: tagsOf(nodes, i, strings) }
  }
  for (let i = 0; i < ways.count; i++) {
    const refs = Array.from(ways.refs.subarray(ways.refOffsets[i], ways.refOffsets[i + 1]))
    yield { type: 'way', id: ways.ids[i]!, refs, tags: tagsOf(ways, i, strings) }
  }
  for (let i = 0; i < relations.count; i++) {
    const members: OsmMember[] = []
    for (let m = relations.memberOffsets[i]!; m < relations.memberOffsets[i + 1]!; m++) {
      const type = MEMBER_TYPES[relations.memberTypes[m]!]!
      members.push({ type, ref: relations.memberRefs[m]!, role: strings.get(relations.memberRoles[m]!) })
    }
    yield { type: 'relation', id: relations.ids[i]!, members, tags: tagsOf(relations, i, strings) }
  }
}

/** The tags of row `row` as an object. */
export function tagsOf(columns: TagColumns, row: number, strings: StringTable): Record<string, string> {
  const entries: [string, string][] = []
  for (let t = columns.tagOffsets[row]!; t < columns.tagOffsets[row + 1]!; t++) {
    entries.push([strings.get(columns.tags[t * 2]!), strings.get(columns.tags[t * 2 + 1]!)])
  }
  return Object.fromEntries(entries)
}
