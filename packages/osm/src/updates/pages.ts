import { BlockColumns, UNITS_PER_DEGREE } from '../block.ts'
import { blockElements } from '../element.ts'
import type { OsmElement, OsmRelation, OsmWay } from '../element.ts'
import { osmMalformed } from '../errors.ts'
import { decodeBlock } from '../pbf/decode.ts'
import { WireWriter } from '../pbf/wire-writer.ts'
import { countVarints, readDeltas } from '../pbf/wire.ts'
import { encodeBlock } from '../pbf/write.ts'

/** Kinds of pages: elements by id, or ids of referring elements by id. */
export const NODE_PAGE = 0
export const WAY_PAGE = 1
export const RELATION_PAGE = 2
export const WAYS_OF_NODES = 3
export const RELATIONS_OF_WAYS = 4
export type PageKind = 0 | 1 | 2 | 3 | 4

/** Elements of a range of ids, or ids of elements that refer to them, for updates; references may come in parts. */
export interface Page {
  readonly kind: PageKind
  /** Ids `page * n .. page * n + n - 1`; `n` is 256 for nodes and 32 for ways and relations. */
  readonly page: number
  readonly part: number
  /** The content; empty data removes the page. */
  readonly data: Uint8Array
}

/** Storage of pages. */
export interface PageStore {
  /** All parts of the pages, in any order; pages that are absent are left out. */
  read(kind: PageKind, pages: readonly number[]): Promise<readonly Pick<Page, 'page' | 'data'>[]>
}

/** Longitude and latitude in 1e-7 degrees. */
export type Location = readonly [lon: number, lat: number]

const NODES = 256
const OTHERS = 32
const NODE_BYTES = 9

/** The page of an id. */
export function pageOf(kind: PageKind, id: number): number {
  return Math.floor(id / (kind === NODE_PAGE || kind === WAYS_OF_NODES ? NODES : OTHERS))
}

/** Nodes of one page: the low byte of the id, longitude, latitude, 9 bytes each. */
export function encodeNodes(nodes: ReadonlyMap<number, Location>): Uint8Array {
  const bytes = new Uint8Array(nodes.size * NODE_BYTES)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [id, [lon, lat]] of sortedEntries(nodes)) {
    view.setUint8(at, id - pageOf(NODE_PAGE, id) * NODES)
    view.setInt32(at + 1, lon, true)
    view.setInt32(at + 5, lat, true)
    at += NODE_BYTES
  }
  return bytes
}

/** @throws OSM_MALFORMED */
export function decodeNodes(page: number, data: Uint8Array): Map<number, Location> {
  if (data.length % NODE_BYTES !== 0) throw osmMalformed({ what: 'a page of nodes ends within a node' })
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const nodes = new Map<number, Location>()
  for (let at = 0; at < data.length; at += NODE_BYTES) {
    nodes.set(page * NODES + view.getUint8(at), [view.getInt32(at + 1, true), view.getInt32(at + 5, true)])
  }
  return nodes
}

/** Ways or relations of one page, as a block of a PBF file; of relations the members that are ways. */
export function encodeElements(elements: ReadonlyMap<number, OsmWay | OsmRelation>): Uint8Array {
  if (elements.size === 0) return new Uint8Array()
  return encodeBlock(
    sortedEntries(elements).map(([, element]) => element),
    {},
  )
}

/** Entries in ascending order, so that equal pages have equal bytes. */
function sortedEntries<Entry>(entries: ReadonlyMap<number, Entry>): [number, Entry][] {
  return [...entries].toSorted(([a], [b]) => a - b)
}

const scratch = new BlockColumns()

/** @throws OSM_MALFORMED */
export function decodeElements(data: Uint8Array): Map<number, OsmElement> {
  decodeBlock(data, { ways: true, relations: true }, scratch)
  return new Map([...blockElements(scratch)].map((element) => [element.id, element]))
}

/** Ids in ascending order, as differences. */
export function encodeIds(ids: Iterable<number>): Uint8Array {
  const writer = new WireWriter()
  let last = 0
  for (const id of [...ids].toSorted((a, b) => a - b)) {
    writer.rawZigzag(id - last)
    last = id
  }
  return writer.finish()
}

/** @throws OSM_MALFORMED */
export function decodeIds(data: Uint8Array): Float64Array {
  const ids = new Float64Array(countVarints(data, 0, data.length))
  readDeltas(data, 0, data.length, ids, 0)
  return ids
}

/** Stored part of a relation: its tags and the members that are ways. */
export function withWaysOnly(relation: OsmRelation): OsmRelation {
  return { ...relation, members: relation.members.filter(({ type }) => type === 'way') }
}

/** Degrees as 1e-7 degrees; null where a node has no location. */
export function locationOf({ lon, lat }: { readonly lon: number; readonly lat: number }): Location | null {
  return Number.isNaN(lon) ? null : [Math.round(lon * UNITS_PER_DEGREE), Math.round(lat * UNITS_PER_DEGREE)]
}
