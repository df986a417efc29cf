import type { Bbox } from '@terrane/core'
import { pointOnArea } from '../area/point-on-area.ts'
import { AREA, LINE, LINES, POINT } from '../features/feature.ts'
import type { ElementKind, FeatureVisitor, OsmFeature } from '../features/feature.ts'
import { TagView } from '../features/tag-view.ts'
import { ewkbLine, ewkbLines, ewkbPoint, ewkbPolygons } from '../geometry/ewkb.ts'
import { AREA_RELATIONS, AREA_RULES } from './area-rules.ts'
import { readColumn } from './columns.ts'
import type { ColumnKind } from './columns.ts'
import { keyRules, matches } from './match.ts'
import type { KeyRule } from './match.ts'
import { UNINFORMATIVE_KEYS } from './tables.ts'
import { Extent } from './extent.ts'
import type { RowSource, TopicTable } from './tables.ts'

/** Types of the columns of a table, as PostgreSQL calls them; `jsonb` values are JSON text, geometries EWKB. */
export type ImportColumnType = 'int8' | 'int4' | 'int2' | 'float8' | 'bool' | 'text' | 'jsonb' | 'geometry'

export interface ImportColumn {
  readonly name: string
  readonly type: ImportColumnType
}

/** A table that an import fills. */
export interface ImportTable {
  readonly topic: TopicTable['topic']
  readonly suffix: string
  readonly geometryType: TopicTable['geometryType']
  /** `id`, `osm_type` (N, W or R), `osm_id` and `name` first, `tags` and `geom` last. */
  readonly columns: readonly ImportColumn[]
}

/** One value per column. */
export type ImportRow = (string | number | boolean | Uint8Array | null)[]

const COLUMN_TYPES: Readonly<Record<ColumnKind, ImportColumnType>> = {
  text: 'text',
  integer: 'int4',
  number: 'float8',
  metres: 'float8',
  kmh: 'int2',
  flag: 'bool',
  oneway: 'int2',
}

/** The columns of a topic's table. */
export function importTable(table: TopicTable): ImportTable {
  const { topic, suffix, geometryType } = table
  const columns: ImportColumn[] = [
    { name: 'id', type: 'int8' },
    { name: 'osm_type', type: 'text' },
    { name: 'osm_id', type: 'int8' },
    { name: 'name', type: 'text' },
  ]
  if (table.classified) columns.push({ name: 'category', type: 'text' }, { name: 'kind', type: 'text' })
  if (reducesAreas(table)) columns.push({ name: 'from_area', type: 'bool' })
  for (const [name, kind] of table.columns) columns.push({ name, type: COLUMN_TYPES[kind] })
  columns.push({ name: 'tags', type: 'jsonb' }, { name: 'geom', type: 'geometry' })
  return { topic, suffix, geometryType, columns }
}

/** Turns features into the rows of tables. */
export class TopicRows implements FeatureVisitor {
  readonly tags: TagView
  readonly #tables: readonly CompiledTable[]
  readonly #onRow: (table: number, row: ImportRow) => void
  readonly #areaRules: ReadonlyMap<string, KeyRule>
  readonly #area: number
  readonly #type: number
  readonly #name: number

  constructor(tables: readonly TopicTable[], onRow: (table: number, row: ImportRow) => void) {
    const matched = new Set(tables.flatMap(({ match }) => Object.keys(match ?? {})))
    const asked = tables.flatMap(({ columns }) => columns.map(([name, , key]) => key ?? name))
    const keys = new Set(['area', 'type', 'name', ...Object.keys(AREA_RULES), ...matched, ...asked])
    const everything = tables.some(({ match }) => match === null)
    this.tags = new TagView([...keys], (key) => matched.has(key) || (everything && !UNINFORMATIVE_KEYS.has(key)))
    this.#onRow = onRow
    this.#tables = tables.map((table) => compile(table, this.tags))
    this.#areaRules = new Map(keyRules(AREA_RULES, this.tags).map((rule) => [rule.name, rule]))
    this.#area = this.tags.numberOf('area')
    this.#type = this.tags.numberOf('type')
    this.#name = this.tags.numberOf('name')
  }

  /** Rows and extent of each table so far. */
  get totals(): readonly { readonly rows: number; readonly bbox: Bbox | null }[] {
    return this.#tables.map(({ rows, extent }) => ({ rows, bbox: extent.bbox }))
  }

  select(element: ElementKind): number {
    let geometries = 0
    for (const table of this.#tables) {
      if (table.geometries !== (table.geometries & geometries)) geometries |= this.#geometries(table, element)
    }
    return geometries
  }

  visit(feature: OsmFeature): void {
    for (const [i, table] of this.#tables.entries()) {
      if ((this.#geometries(table, feature.element) & feature.geometry) !== 0) this.#emit(i, table, feature)
    }
  }

  /** The geometries that a table wants of the element at hand. */
  #geometries(table: CompiledTable, element: ElementKind): number {
    const { sources } = table
    switch (element) {
      case 'node':
        return sources.has('node') && this.#match(table) !== null ? POINT : 0
      case 'open way':
        return sources.has('line') && this.#match(table) !== null ? LINE : 0
      case 'closed way': {
        const line = sources.has('line') && this.#isLine(table) ? LINE : 0
        return line | (sources.has('area') && this.#matchArea(table) !== null ? AREA : 0)
      }
      case 'relation': {
        const type = this.tags.get(this.#type) ?? ''
        if (type === 'route' || type === 'waterway') return sources.has(type) && this.#match(table) !== null ? LINES : 0
        return sources.has('area') && AREA_RELATIONS.includes(type) && this.#match(table) !== null ? AREA : 0
      }
    }
  }

  /** The key by which the element at hand belongs to a table, the empty string for a table of everything. */
  #match(table: CompiledTable): string | null {
    if (table.rules === null) return ''
    for (const rule of table.rules) if (matches(rule, this.tags)) return rule.name
    return null
  }

  /** A closed way is a line unless it says otherwise; in a table of everything it is one or the other. */
  #isLine(table: CompiledTable): boolean {
    if (table.rules === null) return this.#matchArea(table) === null
    if (table.areasAreNoLines && this.#matchArea(table) !== null) return false
    return this.tags.get(this.#area) !== 'yes' && this.#match(table) !== null
  }

  /** As {@link #match} for a closed way, whose key must also be one that makes an area. */
  #matchArea(table: CompiledTable): string | null {
    const area = this.tags.get(this.#area)
    if (area === 'no') return null
    if (area === 'yes') return this.#match(table)
    if (table.rules === null) {
      for (const rule of this.#areaRules.values()) if (matches(rule, this.tags)) return ''
      return null
    }
    for (const rule of table.rules) {
      const areaRule = this.#areaRules.get(rule.name)
      if (areaRule && matches(rule, this.tags) && matches(areaRule, this.tags)) return rule.name
    }
    return null
  }

  #emit(index: number, table: CompiledTable, feature: OsmFeature): void {
    const { tags } = this
    const row: ImportRow = [
      ++table.rows,
      feature.element === 'node' ? 'N' : feature.element === 'relation' ? 'R' : 'W',
      feature.id,
      tags.get(this.#name),
    ]
    if (table.classified) {
      const closed = feature.element === 'closed way' && feature.geometry === AREA
      const key = (closed ? this.#matchArea(table) : this.#match(table)) ?? ''
      row.push(key, key === '' ? null : tags.get(tags.numberOf(key)))
    }
    if (table.reducesAreas) row.push(feature.geometry === AREA)
    for (const { kind, key } of table.columns) row.push(readColumn(kind, tags.get(key)))
    row.push(tags.toJson(), geometryOf(feature, table))
    this.#onRow(index, row)
  }
}

interface CompiledTable {
  readonly sources: ReadonlySet<RowSource>
  readonly geometries: number
  readonly rules: readonly KeyRule[] | null
  readonly classified: boolean
  readonly reducesAreas: boolean
  readonly areasAreNoLines: boolean
  readonly columns: readonly { readonly kind: ColumnKind; readonly key: number }[]
  readonly extent: Extent
  rows: number
}

const SOURCE_GEOMETRY: Readonly<Record<RowSource, number>> = {
  node: POINT,
  line: LINE,
  area: AREA,
  route: LINES,
  waterway: LINES,
}

function compile(table: TopicTable, tags: TagView): CompiledTable {
  return {
    sources: new Set(table.sources),
    geometries: table.sources.reduce((bits, source) => bits | SOURCE_GEOMETRY[source], 0),
    rules: table.match && keyRules(table.match, tags),
    classified: table.classified ?? false,
    reducesAreas: reducesAreas(table),
    areasAreNoLines: table.areasAreNoLines ?? false,
    columns: table.columns.map(([name, kind, key]) => ({ kind, key: tags.numberOf(key ?? name) })),
    extent: new Extent(),
    rows: 0,
  }
}

function reducesAreas(table: TopicTable): boolean {
  return table.geometryType === 'Point' && table.sources.includes('area')
}

/** The geometry of a row; the table's extent grows by it. */
function geometryOf({ geometry, lon, lat, lineStart, lines, area }: OsmFeature, table: CompiledTable): Uint8Array {
  if (geometry === AREA && table.reducesAreas) {
    const [x, y] = pointOnArea(area)
    table.extent.add([x], [y], 1)
    return ewkbPoint(x, y)
  }
  if (geometry === AREA) {
    table.extent.add(area.lon, area.lat, area.ringStart[area.polygonStart[area.polygonCount]!]!)
    return ewkbPolygons(area)
  }
  const points = geometry === POINT ? 1 : lineStart[lines]!
  table.extent.add(lon, lat, points)
  if (geometry === POINT) return ewkbPoint(lon[0]!, lat[0]!)
  return geometry === LINE ? ewkbLine(lon, lat, points) : ewkbLines(lon, lat, lineStart, lines)
}
