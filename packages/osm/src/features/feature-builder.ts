import type { Aoi } from '@terrane/core'
import { AreaAssembler } from '../area/assemble.ts'
import { UNDEFINED_COORDINATE } from '../block.ts'
import type { NodeColumns, RelationColumns, WayColumns } from '../block.ts'
import { osmTooLarge } from '../errors.ts'
import { growInt32 } from '../grow.ts'
import type { StringTable } from '../string-table.ts'
import { AREA, LINE, LINES, MEMBER, MEMBERS, POINT, noCounts } from './feature.ts'
import type { ElementKind, FeatureVisitor, OsmFeature } from './feature.ts'
import { MemberWays } from './member-ways.ts'
import { NodeIndex } from './node-index.ts'
import { NodeLocations } from './node-locations.ts'
import type { NodeLimits, NodeLookup } from './node-locations.ts'
import { Once } from './once.ts'
import { RelationStore } from './relation-store.ts'
import { NODES_SHARE } from './spill.ts'
import type { Spill } from './spill.ts'
import type { TagView } from './tag-view.ts'
import { touchesArea, touchesLines, touchesPoint } from './touches.ts'

/** Limits of a builder, and the area whose features are visited; all when null. */
export interface FeatureBuilderOptions extends NodeLimits {
  readonly aoi?: Aoi | null
}

/** Builds features from elements, block by block, and passes each to the visitor. */
export class FeatureBuilder implements OsmFeature {
  // The current feature.
  element: ElementKind = 'node'
  id = 0
  geometry = 0
  lon = new Int32Array(1024)
  lat = new Int32Array(1024)
  lineStart = new Int32Array(64)
  lines = 0
  readonly area = new AreaAssembler()
  memberWays: Float64Array = new Float64Array()
  memberRoles: readonly string[] = []
  member = 0
  readonly tags: TagView

  readonly counts = noCounts()
  readonly #visitor: FeatureVisitor
  readonly #aoi: Aoi | null
  readonly #locations: NodeLocations
  #index: NodeLookup = new NodeIndex(0)
  readonly #spill: Spill | undefined
  readonly #relations = new RelationStore()
  /** The geometries wanted of each relation kept. */
  readonly #relationGeometries: number[] = []
  #members = new MemberWays(new Float64Array())
  /** Whether the current relation was counted. */
  #isCounted = false
  readonly #nodesOnce = new Once()
  readonly #waysOnce = new Once()
  readonly #relationsOnce = new Once()

  constructor(visitor: FeatureVisitor, options: FeatureBuilderOptions) {
    this.#visitor = visitor
    this.#aoi = options.aoi ?? null
    this.#locations = new NodeLocations(options)
    this.#spill = options.spill
    this.tags = visitor.tags
  }

  [Symbol.dispose](): void {
    this.#locations[Symbol.dispose]()
    this.#members[Symbol.dispose]()
  }

  get relationCount(): number {
    return this.#relations.columns.count
  }

  /** Yields whenever the visitor is full. */
  *takeNodes(nodes: NodeColumns, strings: StringTable): Generator<void> {
    if (nodes.count === 0) return
    this.#locations.add(nodes)
    this.tags.start(strings)
    const { tagOffsets, ids, lon, lat, count } = nodes
    for (let i = 0; i < count; i++) {
      if (tagOffsets[i] === tagOffsets[i + 1] || !this.tags.load(nodes, i)) continue
      if ((this.#visitor.select('node') & POINT) === 0) continue
      if (lon[i] === UNDEFINED_COORDINATE) this.counts.withoutGeometry++
      else if (!touchesPoint(this.#aoi, lon[i]!, lat[i]!)) this.counts.outside++
      else if (!this.#nodesOnce.first(ids[i]!)) this.counts.repeated++
      else {
        this.lon[0] = lon[i]!
        this.lat[0] = lat[i]!
        this.counts.nodes++
        this.#visit('node', ids[i]!, POINT)
        if (this.#visitor.isFull) yield
      }
    }
  }

  takeRelations(relations: RelationColumns, strings: StringTable): void {
    if (relations.count === 0) return
    this.tags.start(strings)
    const limit = this.#spill ? this.#spill.memoryBytes * (1 - NODES_SHARE) : Infinity
    for (let i = 0; i < relations.count; i++) {
      if (!this.tags.load(relations, i)) continue
      const wanted = this.#visitor.select('relation') & (AREA | LINES | MEMBER | MEMBERS)
      if (wanted === 0) continue
      if (!this.#relationsOnce.first(relations.ids[i]!)) {
        this.counts.repeated++
        continue
      }
      this.#relations.add(relations, i, strings, (wanted & (MEMBER | MEMBERS)) !== 0)
      this.#relationGeometries.push(wanted)
      const size = this.#relations.memberBytes
      if (size > limit) throw osmTooLarge({ what: 'the memory for the members of relations', size, limit })
    }
  }

  /** Called when all nodes and relations are known, before the first way. */
  beginWays(): void {
    this.#index = this.#locations.finish()
    this.#members = new MemberWays(this.#relations.neededWays(), this.#spill, this.#relations.memberBytes)
  }

  /** Yields whenever the visitor is full. */
  *takeWays(ways: WayColumns, strings: StringTable): Generator<void> {
    this.tags.start(strings)
    const { ids, refs, refOffsets, count } = ways
    for (let i = 0; i < count; i++) {
      const from = refOffsets[i]!
      const to = refOffsets[i + 1]!
      const closed = to - from > 2 && refs[from] === refs[to - 1]
      const element = closed ? 'closed way' : 'open way'
      const wanted = this.tags.load(ways, i) ? this.#visitor.select(element) & (closed ? LINE | AREA : LINE) : 0
      const member = this.#members.find(ids[i]!)
      if (wanted === 0 && member < 0) continue
      const points = this.#locate(ways, from, to)
      if (member >= 0) this.#members.set(member, this.lon, this.lat, points)
      if (wanted === 0) continue
      this.#buildWay(ids[i]!, element, wanted, points)
      if (this.#visitor.isFull) yield
    }
  }

  /** Draws a relation whose ways have been read; yields whenever the visitor is full. */
  *buildRelation(row: number): Generator<void> {
    const { columns, strings, wayIds, wayOffsets } = this.#relations
    if (row === 0) this.tags.start(strings)
    this.tags.load(columns, row)
    const id = columns.ids[row]!
    const wanted = this.#relationGeometries[row]!
    let points = 0
    this.#isCounted = false
    this.lines = 0
    this.area.start()
    for (let w = wayOffsets[row]!; w < wayOffsets[row + 1]!; w++) {
      const count = this.#members.load(this.#members.find(wayIds[w]!))
      if (count < 2) continue
      const { lon, lat } = this.#members
      if (wanted & AREA) this.area.addLine(lon, lat, 0, count)
      if ((wanted & LINES) === 0) continue
      this.#reserve(points + count, this.lines + 1)
      this.lon.set(lon, points)
      this.lat.set(lat, points)
      points += count
      this.lineStart[++this.lines] = points
    }
    const { ways, roles } = this.#relations.membersOf(row)
    this.memberWays = ways
    this.memberRoles = roles
    if (wanted & LINES) this.#finishLines('relation', id, LINES)
    if (wanted & AREA) this.#finishArea('relation', id)
    if (this.#visitor.isFull) yield
    if (wanted & MEMBER) yield* this.#visitMembers(id, (wanted & (LINES | AREA)) === 0)
  }

  /** @param isAlone whether the relation has no other geometry */
  *#visitMembers(id: number, isAlone: boolean): Generator<void> {
    let isOutside = false
    let isVisited = false
    for (const [i, way] of this.memberWays.entries()) {
      const count = this.#members.load(this.#members.find(way))
      if (count < 2) {
        this.counts.missingMembers++
        continue
      }
      this.#reserve(count, 1)
      this.lon.set(this.#members.lon)
      this.lat.set(this.#members.lat)
      this.lines = 1
      this.lineStart[1] = count
      this.member = i
      if (!touchesLines(this.#aoi, this)) {
        isOutside = true
        continue
      }
      isVisited = true
      this.#visit('relation', id, MEMBER)
      if (this.#visitor.isFull) yield
    }
    if (isVisited) this.#count('relation')
    else if (isAlone && isOutside) this.counts.outside++
    else if (isAlone) this.counts.withoutGeometry++
  }

  #buildWay(id: number, element: ElementKind, wanted: number, points: number): void {
    if (points < 2) this.counts.withoutGeometry++
    else if (!this.#waysOnce.first(id)) this.counts.repeated++
    else {
      this.lines = 1
      this.lineStart[1] = points
      if (wanted & LINE) this.#finishLines(element, id, LINE)
      if (wanted & AREA) {
        this.area.start()
        this.area.addLine(this.lon, this.lat, 0, points)
        this.#finishArea(element, id)
      }
    }
  }

  #finishLines(element: ElementKind, id: number, geometry: number): void {
    if (this.lines === 0) this.counts.withoutGeometry++
    else if (!touchesLines(this.#aoi, this)) this.counts.outside++
    else {
      this.#count(element)
      this.#visit(element, id, geometry)
    }
  }

  #finishArea(element: ElementKind, id: number): void {
    const fault = this.area.assemble()
    if (fault === 'empty' && element === 'relation') this.counts.withoutGeometry++
    else if (fault === 'open') this.counts.openAreas++
    else if (fault !== null) this.counts.invalidAreas++
    else if (!touchesArea(this.#aoi, this.area)) this.counts.outside++
    else {
      this.#count(element)
      this.#visit(element, id, AREA)
    }
  }

  #count(element: ElementKind): void {
    if (element !== 'relation') this.counts.ways++
    else if (!this.#isCounted) this.counts.relations++
    this.#isCounted = true
  }

  #visit(element: ElementKind, id: number, geometry: number): void {
    this.element = element
    this.id = id
    this.geometry = geometry
    this.#visitor.visit(this)
  }

  /** Puts a way's points into `lon` and `lat` without missing nodes and repeated points; returns their number. */
  #locate(ways: WayColumns, from: number, to: number): number {
    this.#reserve(to - from, 1)
    const { lon, lat } = this
    const index = this.#index
    let count = 0
    let missing = 0
    for (let i = from; i < to; i++) {
      let x = UNDEFINED_COORDINATE
      let y = UNDEFINED_COORDINATE
      if (ways.hasLocations) {
        x = ways.refLon[i]!
        y = ways.refLat[i]!
      }
      if (x === UNDEFINED_COORDINATE) {
        const row = index.find(ways.refs[i]!)
        if (row >= 0) {
          x = index.lon(row)
          y = index.lat(row)
        }
      }
      if (x === UNDEFINED_COORDINATE) missing++
      else if (count === 0 || x !== lon[count - 1] || y !== lat[count - 1]) {
        lon[count] = x
        lat[count++] = y
      }
    }
    this.counts.missingNodes += missing
    return count
  }

  #reserve(points: number, lines: number): void {
    if (points <= this.lon.length && lines < this.lineStart.length) return
    this.lon = growInt32(this.lon, points)
    this.lat = growInt32(this.lat, points)
    this.lineStart = growInt32(this.lineStart, lines + 1)
  }
}
