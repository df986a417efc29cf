import { growFloat64, growInt32, growUint32, growUint8 } from './grow.ts'
import { StringTable } from './string-table.ts'

/** A coordinate of a node whose location is missing or outside the Earth. */
export const UNDEFINED_COORDINATE = 0x7fffffff

/** Units of the integer coordinates per degree. */
export const UNITS_PER_DEGREE = 1e7

/** Kinds of OSM elements, as stored in {@link RelationColumns.memberTypes}. */
export const NODE = 0
export const WAY = 1
export const RELATION = 2

/** Tags of element `i` are the pairs `tags[2 * t], tags[2 * t + 1]` for `t` in `tagOffsets[i] .. tagOffsets[i + 1]`. */
export interface TagColumns {
  /** Rows in use; the arrays are longer. */
  count: number
  /** OSM ids: integers up to 2^53, negative ones too. */
  ids: Float64Array<ArrayBuffer>
  /** `count + 1` offsets, in pairs. */
  tagOffsets: Uint32Array<ArrayBuffer>
  /** Key and value as indices of the block's string table. */
  tags: Uint32Array<ArrayBuffer>
}

export interface NodeColumns extends TagColumns {
  /** Longitude and latitude in 1e-7 degrees; both {@link UNDEFINED_COORDINATE} for a node without a location. */
  lon: Int32Array<ArrayBuffer>
  lat: Int32Array<ArrayBuffer>
}

export interface WayColumns extends TagColumns {
  /** Node ids of way `i` are `refs[refOffsets[i] .. refOffsets[i + 1]]`. */
  refOffsets: Uint32Array<ArrayBuffer>
  refs: Float64Array<ArrayBuffer>
  /** True when a way of the block has locations of its own: `refLon` and `refLat` then run beside `refs`. */
  hasLocations: boolean
  refLon: Int32Array<ArrayBuffer>
  refLat: Int32Array<ArrayBuffer>
}

export interface RelationColumns extends TagColumns {
  /** Members of relation `i` are the rows `memberOffsets[i] .. memberOffsets[i + 1]` of the three arrays below. */
  memberOffsets: Uint32Array<ArrayBuffer>
  /** {@link NODE}, {@link WAY} or {@link RELATION}. */
  memberTypes: Uint8Array<ArrayBuffer>
  memberRefs: Float64Array<ArrayBuffer>
  /** Role as an index of the block's string table. */
  memberRoles: Uint32Array<ArrayBuffer>
}

/** Some thousand elements in columns that a reader reuses: copy data that is needed after the callback. */
export interface OsmBlock {
  readonly strings: StringTable
  readonly nodes: NodeColumns
  readonly ways: WayColumns
  readonly relations: RelationColumns
}

/** Header of a file. */
export interface OsmHeader {
  /** West, south, east, north in degrees. */
  readonly bbox: readonly [number, number, number, number] | null
  readonly requiredFeatures: readonly string[]
  readonly optionalFeatures: readonly string[]
  readonly writingProgram: string | null
  readonly source: string | null
  /** When the data was current. */
  readonly timestamp: Date | null
  readonly replicationSequence: number | null
  readonly replicationUrl: string | null
  /** True when nodes come before ways, ways before relations, and ids ascend within each. */
  readonly sorted: boolean
  /** A message of the server that wrote the file; Overpass puts its errors there and answers 200. */
  readonly remark: string | null
}

/** The kinds of elements of a pass; others are not decoded. */
export interface Kinds {
  readonly nodes?: boolean
  readonly ways?: boolean
  readonly relations?: boolean
}

/** Receives the blocks of a file in order; a promise holds the reader back. */
export type BlockVisitor = (block: OsmBlock) => void | Promise<void>

/** Grows the arrays of a block as needed and resets it. One block is reused for a whole file. */
export class BlockColumns implements OsmBlock {
  readonly strings = new StringTable()
  readonly nodes: NodeColumns = {
    count: 0,
    ids: new Float64Array(0),
    lon: new Int32Array(0),
    lat: new Int32Array(0),
    tagOffsets: new Uint32Array(1),
    tags: new Uint32Array(0),
  }
  readonly ways: WayColumns = {
    count: 0,
    ids: new Float64Array(0),
    tagOffsets: new Uint32Array(1),
    tags: new Uint32Array(0),
    refOffsets: new Uint32Array(1),
    refs: new Float64Array(0),
    hasLocations: false,
    refLon: new Int32Array(0),
    refLat: new Int32Array(0),
  }
  readonly relations: RelationColumns = {
    count: 0,
    ids: new Float64Array(0),
    tagOffsets: new Uint32Array(1),
    tags: new Uint32Array(0),
    memberOffsets: new Uint32Array(1),
    memberTypes: new Uint8Array(0),
    memberRefs: new Float64Array(0),
    memberRoles: new Uint32Array(0),
  }

  reset(): void {
    this.nodes.count = this.ways.count = this.relations.count = 0
    this.ways.hasLocations = false
  }

  /** Makes room for `rows` nodes in all. */
  reserveNodes(rows: number): void {
    const nodes = this.nodes
    nodes.ids = growFloat64(nodes.ids, rows)
    nodes.lon = growInt32(nodes.lon, rows)
    nodes.lat = growInt32(nodes.lat, rows)
    nodes.tagOffsets = growUint32(nodes.tagOffsets, rows + 1)
  }

  /** Makes room for `rows` ways in all. */
  reserveWays(rows: number): void {
    const ways = this.ways
    ways.ids = growFloat64(ways.ids, rows)
    ways.tagOffsets = growUint32(ways.tagOffsets, rows + 1)
    ways.refOffsets = growUint32(ways.refOffsets, rows + 1)
  }

  /** Makes room for `rows` node references in all. */
  reserveRefs(rows: number): void {
    this.ways.refs = growFloat64(this.ways.refs, rows)
  }

  /** Reserves locations of the references `from .. to`; these, and all before the first ones, are undefined. */
  startLocations(from: number, to: number): void {
    const ways = this.ways
    ways.refLon = growInt32(ways.refLon, to)
    ways.refLat = growInt32(ways.refLat, to)
    const start = ways.hasLocations ? from : 0
    ways.refLon.fill(UNDEFINED_COORDINATE, start, to)
    ways.refLat.fill(UNDEFINED_COORDINATE, start, to)
    ways.hasLocations = true
  }

  /** Makes room for `rows` relations in all. */
  reserveRelations(rows: number): void {
    const relations = this.relations
    relations.ids = growFloat64(relations.ids, rows)
    relations.tagOffsets = growUint32(relations.tagOffsets, rows + 1)
    relations.memberOffsets = growUint32(relations.memberOffsets, rows + 1)
  }

  /** Makes room for `rows` members in all. */
  reserveMembers(rows: number): void {
    const relations = this.relations
    relations.memberTypes = growUint8(relations.memberTypes, rows)
    relations.memberRefs = growFloat64(relations.memberRefs, rows)
    relations.memberRoles = growUint32(relations.memberRoles, rows)
  }
}

/** Makes room for `pairs` tags in all. */
export function reserveTags(columns: TagColumns, pairs: number): void {
  columns.tags = growUint32(columns.tags, pairs * 2)
}
