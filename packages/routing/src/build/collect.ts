import type { OsmBlock, OsmReader, RelationColumns, TagColumns } from '@terrane/osm'
import { NODE, UNDEFINED_COORDINATE, WAY } from '@terrane/osm'

import { NumberList } from '../graph/lists.ts'
import { Pool } from './pool.ts'
import { SharedFacts } from './shared-facts.ts'
import { relationFacts, type RelationFacts } from './tags/relation.ts'
import type { UnreadTag } from './tags/unread.ts'
import type { Tags } from './tags/values.ts'
import { type WayFacts, wayFacts } from './tags/way.ts'

/** The ways of the network as stored in the files, ascending by id. */
export interface WayColumns {
  readonly ids: Float64Array
  /** Meanings of the tags of ways; ways with equal tags share an entry. */
  readonly facts: readonly WayFacts[]
  /** Position of each way's facts. */
  readonly factOf: Uint32Array
  /** Node ids of way `w`, at least two: `refs[firstRef[w]] … refs[firstRef[w + 1] - 1]`. */
  readonly firstRef: Uint32Array
  readonly refs: Float64Array
  /**
   * Positions of these nodes in degrees times 10⁷, if a file stores them on its ways; such a file may lack the nodes.
   */
  readonly located: { readonly lon: Int32Array; readonly lat: Int32Array } | null
}

export interface Collected {
  readonly ways: WayColumns
  readonly restrictions: readonly TurnRule[]
  readonly unreadTurns: readonly UnreadTurn[]
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

/** A turn restriction with unsupported conditions, by its via members. */
export interface UnreadTurn extends UnreadTag {
  readonly viaNode: number
  readonly viaWays: readonly number[]
}

/** Collects turn restrictions and bicycle routes from relations. */
class RelationCollector {
  readonly restrictions: TurnRule[] = []
  readonly unread: UnreadTurn[] = []
  readonly bicycleRoutes = new Set<number>()
  readonly #seen = new Set<number>()

  add({ relations, strings }: OsmBlock): void {
    for (let i = 0; i < relations.count; i++) {
      const facts = relationFacts(tagMap(relations, i, strings))
      if (facts.length === 0 || this.#seen.has(relations.ids[i]!)) continue
      this.#seen.add(relations.ids[i]!)
      const members = membersOf(relations, i, (index) => strings.get(index))
      for (const one of facts) {
        if (one.kind === 'bicycleRoute') for (const way of members.ways) this.bicycleRoutes.add(way)
        else if (one.kind === 'unread') this.unread.push({ ...one, ...members })
        else this.restrictions.push(...turnRules(one, members))
      }
    }
  }
}

/** First pass over the files: the ways that carry traffic and the relations about them. */
export async function collectWays(
  readers: readonly OsmReader[],
  { construction = false, signal }: { construction?: boolean; signal?: AbortSignal } = {},
): Promise<Collected> {
  const ways = new WayCollector(construction)
  const relations = new RelationCollector()
  for (const reader of readers) {
    await reader.read(
      (block) => {
        ways.add(block)
        relations.add(block)
      },
      { kinds: { ways: true, relations: true }, ...(signal && { signal }) },
    )
  }
  const { restrictions, unread: unreadTurns, bicycleRoutes } = relations
  return { ways: ways.finish(), restrictions, unreadTurns, bicycleRoutes }
}

/** Closed ways with these keys are areas instead of loops. */
const AREA_KEYS = ['building', 'landuse', 'leisure', 'natural']

class WayCollector {
  readonly #construction: boolean
  readonly #facts = new Pool<{ facts: WayFacts | null; area: boolean }>()
  readonly #shared = new SharedFacts()
  readonly #ids = new NumberList(new Float64Array())
  readonly #factOf = new NumberList(new Uint32Array())
  readonly #firstRef = new NumberList(Uint32Array.of(0))
  readonly #refs = new NumberList(new Float64Array())
  #lon: NumberList<Int32Array<ArrayBuffer>> | null = null
  #lat: NumberList<Int32Array<ArrayBuffer>> | null = null

  constructor(construction: boolean) {
    this.#construction = construction
  }

  add({ ways, strings }: OsmBlock): void {
    for (let i = 0; i < ways.count; i++) {
      const begin = ways.refOffsets[i]!
      const end = ways.refOffsets[i + 1]!
      if (end - begin < 2 || !maybeWay(ways, i, strings)) continue
      const number = this.#facts.number(tagKey(ways, i, strings), () => this.#read(tagMap(ways, i, strings)))
      const { facts, area } = this.#facts.values[number]!
      if (facts === null || (area && ways.refs[begin] === ways.refs[end - 1])) continue
      this.#ids.push(ways.ids[i]!)
      this.#factOf.push(number)
      this.#refs.append(ways.refs.subarray(begin, end))
      this.#firstRef.push(this.#refs.length)
      if (ways.hasLocations || this.#lon !== null) this.#locate(ways, begin, end)
    }
  }

  /** The collected ways; the first counts when a way was added twice. */
  finish(): WayColumns {
    const ids = this.#ids.take()
    const firstRef = this.#firstRef.take()
    const refs = this.#refs.take()
    const [lon, lat] = [this.#lon?.take(), this.#lat?.take()]
    const located = lon !== undefined && lat !== undefined ? { lon, lat } : null
    const facts = this.#facts.values.map((value) => value.facts!)
    const columns = { ids, facts, factOf: this.#factOf.take(), firstRef, refs, located }
    return ids.every((id, i) => i === 0 || id > ids[i - 1]!) ? columns : sorted(columns)
  }

  #read(tags: Tags): { facts: WayFacts | null; area: boolean } {
    const facts = wayFacts(tags, this.#construction)
    return { facts: facts && this.#shared.share(facts), area: AREA_KEYS.some((key) => tags.has(key)) }
  }

  #locate({ hasLocations, refLon, refLat }: OsmBlock['ways'], begin: number, end: number): void {
    const before = this.#refs.length - (end - begin)
    this.#lon ??= new NumberList(new Int32Array(before).fill(UNDEFINED_COORDINATE))
    this.#lat ??= new NumberList(new Int32Array(before).fill(UNDEFINED_COORDINATE))
    const unknown = new Int32Array(end - begin).fill(UNDEFINED_COORDINATE)
    this.#lon.append(hasLocations ? refLon.subarray(begin, end) : unknown)
    this.#lat.append(hasLocations ? refLat.subarray(begin, end) : unknown)
  }
}

/** The columns sorted by id, without repetitions. */
function sorted({ ids, facts, factOf, firstRef, refs, located }: WayColumns): WayColumns {
  const order = Uint32Array.from(ids.keys()).toSorted((a, b) => ids[a]! - ids[b]! || a - b)
  const kept = order.filter((way, i) => i === 0 || ids[way] !== ids[order[i - 1]!])
  const first = new Uint32Array(kept.length + 1)
  kept.forEach((way, i) => (first[i + 1] = first[i]! + firstRef[way + 1]! - firstRef[way]!))
  const moved = <T extends Float64Array | Int32Array>(from: T, to: T): T => {
    kept.forEach((way, i) => to.set(from.subarray(firstRef[way], firstRef[way + 1]), first[i]))
    return to
  }
  const size = first.at(-1)!
  return {
    ids: Float64Array.from(kept, (way) => ids[way]!),
    facts,
    factOf: Uint32Array.from(kept, (way) => factOf[way]!),
    firstRef: first,
    refs: moved(refs, new Float64Array(size)),
    located: located && {
      lon: moved(located.lon, new Int32Array(size)),
      lat: moved(located.lat, new Int32Array(size)),
    },
  }
}

/** Railways that may run in a street; other traffic may use them where an access tag of its mode allows it. */
const STREET_RAILS = new Set(['tram', 'light_rail', 'rail', 'narrow_gauge'])

function maybeWay(columns: TagColumns, row: number, strings: { get(index: number): string }): boolean {
  for (let t = columns.tagOffsets[row]!; t < columns.tagOffsets[row + 1]!; t++) {
    const key = strings.get(columns.tags[2 * t]!)
    if (key === 'highway' || key === 'route') return true
    if (key === 'railway' && STREET_RAILS.has(strings.get(columns.tags[2 * t + 1]!))) return true
  }
  return false
}

/** Keys that do not affect routing. */
const IDLE_KEYS = new Set(['source', 'created_by', 'note', 'fixme', 'FIXME', 'wikidata', 'wikipedia', 'website'])

/** A text that is equal for equal tags. */
export function tagKey(columns: TagColumns, row: number, strings: { get(index: number): string }): string {
  let key = ''
  for (let t = columns.tagOffsets[row]!; t < columns.tagOffsets[row + 1]!; t++) {
    const name = strings.get(columns.tags[2 * t]!)
    if (!IDLE_KEYS.has(name)) key += `${name}\0${strings.get(columns.tags[2 * t + 1]!)}\0`
  }
  return key
}

/** Members of a relation by their roles in a turn restriction. */
interface Members {
  readonly from: readonly number[]
  readonly to: readonly number[]
  readonly viaNode: number
  readonly viaWays: readonly number[]
  readonly ways: readonly number[]
}

function membersOf(relations: RelationColumns, row: number, text: (index: number) => string): Members {
  const byRole: Record<string, number[]> = { from: [], to: [], via: [] }
  const ways: number[] = []
  let viaNode = Number.NaN
  forEachMember(relations, row, (type, ref, roleIndex) => {
    const role = text(roleIndex)
    if (type === WAY) {
      ways.push(ref)
      if (Object.hasOwn(byRole, role)) byRole[role]!.push(ref)
    } else if (type === NODE && role === 'via') viaNode = ref
  })
  return { from: byRole.from!, to: byRole.to!, viaNode, viaWays: byRole.via!, ways }
}

function turnRules(facts: TurnRule['facts'], { from, to, viaNode, viaWays }: Members): TurnRule[] {
  // A mix of nodes and ways has no agreed meaning.
  if (Number.isNaN(viaNode) !== viaWays.length > 0) return []
  // `no_entry` and `no_exit` may have several ways in one role. Other restrictions use the last `from` and the first
  // `to`.
  const every = facts.turn === 'any' && !facts.only
  const [entries, exits] = every ? [from, to] : [from.slice(-1), to.slice(0, 1)]
  return entries.flatMap((entry) => exits.map((exit) => ({ facts, from: entry, to: exit, viaNode, viaWays })))
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
