import { BlockColumns, NODE, RELATION, UNDEFINED_COORDINATE, WAY, reserveTags } from '../block.ts'
import type { Kinds, OsmHeader, TagColumns } from '../block.ts'
import { osmMalformed, osmTooLarge, osmUnsupported } from '../errors.ts'
import { decodeText } from './scan.ts'
import type { Attributes, XmlHandler } from './scan.ts'

const MEMBER_TYPES: Readonly<Record<string, number>> = { node: NODE, way: WAY, relation: RELATION }

/** OSM allows 2,000 nodes per way and 32,000 members per relation; an element with more parts than this is hostile. */
const MAX_PARTS = 1 << 20
/** Maximum length of the server's remark that is kept, in characters. */
const MAX_REMARK = 1 << 16

/** Puts the elements of an OSM document into a block, each at its closing tag, so never half of one. */
export class ElementCollector implements XmlHandler {
  readonly block = new BlockColumns()
  /** Elements, tags and references in the block. */
  rows = 0
  foundRoot = false
  readonly #kinds: Kinds
  readonly #hasVersions: boolean
  readonly #strings = new Map<string, number>()
  /** Tags and references of the element that is open. */
  #parts = 0
  readonly #tags: string[] = []
  readonly #refs: number[] = []
  /** Locations of the references, if any. */
  readonly #refLon: number[] = []
  readonly #refLat: number[] = []
  #located = false
  readonly #types: number[] = []
  readonly #roles: string[] = []
  /** The element that is open, null when it is not wanted. */
  #element: 'node' | 'way' | 'relation' | null = null
  /** Kind, id and version of the wanted element that came last. */
  #kind: 'node' | 'way' | 'relation' | null = null
  #id = 0
  #version: string | null = null
  #lon = UNDEFINED_COORDINATE
  #lat = UNDEFINED_COORDINATE
  #inRemark = false
  #remark = ''
  #bbox: OsmHeader['bbox'] = null
  #generator: string | null = null
  #timestamp: Date | null = null

  /** @param hasVersions whether elements may occur in several versions, which is invalid in a plain file */
  constructor(kinds: Kinds, { hasVersions = false }: { readonly hasVersions?: boolean } = {}) {
    this.#kinds = kinds
    this.#hasVersions = hasVersions
    this.startBlock()
  }

  startBlock(): void {
    this.block.reset()
    this.block.strings.reset(new Uint8Array())
    this.#strings.clear()
    this.rows = 0
  }

  open(name: string, attributes: Attributes): void {
    switch (name) {
      case 'osm':
        this.foundRoot = true
        this.#generator = attributes.get('generator')
        this.#timestamp = toDate(attributes.get('timestamp'))
        return
      case 'meta':
        this.#timestamp = toDate(attributes.get('osm_base')) ?? this.#timestamp
        return
      case 'bounds':
        this.#bbox = toBbox(attributes)
        return
      case 'remark':
        this.#inRemark = true
        return
      case 'node':
      case 'way':
      case 'relation':
        this.#start(name, attributes)
        return
      case 'tag':
        if (!this.#element) return
        this.#addPart()
        this.#tags.push(required(attributes, 'tag', 'k'), required(attributes, 'tag', 'v'))
        return
      case 'nd':
        if (this.#element) this.#reference(attributes)
        return
      case 'member':
        if (this.#element) this.#member(attributes)
        return
      default:
        if (!this.foundRoot) throw osmUnsupported({ what: `its root is <${name}>, not <osm>` })
    }
  }

  close(name: string): void {
    if (name === 'remark') this.#inRemark = false
    if (name !== this.#element) return
    if (name === 'node') this.#addNode()
    else if (name === 'way') this.#addWay()
    else this.#addRelation()
    this.#element = null
    this.rows += 1 + this.#parts
  }

  text(text: string): void {
    if (this.#inRemark && this.#remark.length < MAX_REMARK) this.#remark += decodeText(text).slice(0, MAX_REMARK)
  }

  header(): OsmHeader {
    const remark = this.#remark.trim()
    return {
      bbox: this.#bbox,
      requiredFeatures: [],
      optionalFeatures: [],
      writingProgram: this.#generator,
      source: null,
      timestamp: this.#timestamp,
      replicationSequence: null,
      replicationUrl: null,
      sorted: false,
      remark: remark === '' ? null : remark,
    }
  }

  #start(name: 'node' | 'way' | 'relation', attributes: Attributes): void {
    if (!this.foundRoot) throw osmUnsupported({ what: `its root is <${name}>, not <osm>` })
    const wanted = name === 'node' ? this.#kinds.nodes : name === 'way' ? this.#kinds.ways : this.#kinds.relations
    this.#element = null
    this.#tags.length = this.#refs.length = this.#types.length = this.#roles.length = 0
    this.#refLon.length = this.#refLat.length = 0
    this.#located = false
    this.#parts = 0
    if (!wanted) return
    const id = toId(required(attributes, name, 'id'))
    const version = attributes.get('version')
    if (!this.#hasVersions && name === this.#kind && id === this.#id && version !== this.#version) {
      throw osmUnsupported({ what: `it is a history, which holds ${name} ${id} in several versions` })
    }
    this.#kind = name
    this.#id = id
    this.#version = version
    if (attributes.get('visible') === 'false' || attributes.get('action') === 'delete') return
    this.#element = name
    if (name === 'node') this.#readLocation(attributes)
  }

  /** Adds a node of a way; the tag may carry its location, as after `osmium add-locations-to-ways` and `out geom`. */
  #reference(attributes: Attributes): void {
    this.#addPart()
    this.#refs.push(toId(required(attributes, 'nd', 'ref')))
    this.#readLocation(attributes)
    this.#refLon.push(this.#lon)
    this.#refLat.push(this.#lat)
    this.#located ||= this.#lon !== UNDEFINED_COORDINATE
  }

  #addPart(): void {
    if (++this.#parts <= MAX_PARTS) return
    const what = `The number of tags and references of ${this.#kind} ${this.#id}`
    throw osmTooLarge({ what, size: this.#parts, limit: MAX_PARTS })
  }

  #readLocation(attributes: Attributes): void {
    this.#lon = toCoordinate(attributes.get('lon'), 180)
    this.#lat = toCoordinate(attributes.get('lat'), 90)
    if (this.#lon === UNDEFINED_COORDINATE || this.#lat === UNDEFINED_COORDINATE) {
      this.#lon = this.#lat = UNDEFINED_COORDINATE
    }
  }

  #member(attributes: Attributes): void {
    this.#addPart()
    const name = required(attributes, 'member', 'type')
    const type = MEMBER_TYPES[name]
    if (type === undefined) throw osmMalformed({ what: `a relation has a member of type "${name}"` })
    this.#types.push(type)
    this.#refs.push(toId(required(attributes, 'member', 'ref')))
    this.#roles.push(attributes.get('role') ?? '')
  }

  #addNode(): void {
    const nodes = this.block.nodes
    const row = nodes.count
    this.block.reserveNodes(row + 1)
    nodes.lon[row] = this.#lon
    nodes.lat[row] = this.#lat
    this.#addRow(nodes)
  }

  #addWay(): void {
    const ways = this.block.ways
    const row = ways.count
    const first = ways.refOffsets[row]!
    this.block.reserveWays(row + 1)
    this.block.reserveRefs(first + this.#refs.length)
    const last = first + this.#refs.length
    ways.refs.set(this.#refs, first)
    if (this.#located || ways.hasLocations) this.block.startLocations(first, last)
    if (this.#located) {
      ways.refLon.set(this.#refLon, first)
      ways.refLat.set(this.#refLat, first)
    }
    ways.refOffsets[row + 1] = last
    this.#addRow(ways)
  }

  #addRelation(): void {
    const relations = this.block.relations
    const row = relations.count
    const first = relations.memberOffsets[row]!
    this.block.reserveRelations(row + 1)
    this.block.reserveMembers(first + this.#refs.length)
    relations.memberRefs.set(this.#refs, first)
    relations.memberTypes.set(this.#types, first)
    for (const [i, role] of this.#roles.entries()) relations.memberRoles[first + i] = this.#string(role)
    relations.memberOffsets[row + 1] = first + this.#refs.length
    this.#addRow(relations)
  }

  #addRow(columns: TagColumns): void {
    const row = columns.count++
    let at = columns.tagOffsets[row]! * 2
    reserveTags(columns, (at + this.#tags.length) / 2)
    for (const text of this.#tags) columns.tags[at++] = this.#string(text)
    columns.tagOffsets[row + 1] = at / 2
    columns.ids[row] = this.#id
  }

  #string(text: string): number {
    let index = this.#strings.get(text)
    if (index === undefined) {
      index = this.block.strings.addText(text)
      this.#strings.set(text, index)
    }
    return index
  }
}

function required(attributes: Attributes, tag: string, name: string): string {
  const value = attributes.get(name)
  if (value === null) throw osmMalformed({ what: `a <${tag}> has no ${name}` })
  return value
}

function toId(text: string): number {
  const id = Number(text)
  if (text === '' || !Number.isSafeInteger(id)) throw osmMalformed({ what: `"${text.slice(0, 40)}" is not an id` })
  return id
}

function toCoordinate(text: string | null, limit: number): number {
  const degrees = text === null || text === '' ? Number.NaN : Number(text)
  return Math.abs(degrees) <= limit ? Math.round(degrees * 1e7) : UNDEFINED_COORDINATE
}

function toDate(text: string | null): Date | null {
  const date = new Date(text ?? '')
  return Number.isNaN(date.getTime()) ? null : date
}

function toBbox(attributes: Attributes): OsmHeader['bbox'] {
  const side = (name: string): number => Number(attributes.get(name) ?? Number.NaN)
  const bbox = [side('minlon'), side('minlat'), side('maxlon'), side('maxlat')] as const
  return bbox.some(Number.isNaN) ? null : bbox
}
