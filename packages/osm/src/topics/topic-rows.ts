import type { Bbox } from '@terrane/core'
import { pointOnArea } from '../area/point-on-area.ts'
import { AREA, MEMBER, POINT } from '../features/feature.ts'
import type { ElementKind, FeatureVisitor, OsmFeature } from '../features/feature.ts'
import { TagView } from '../features/tag-view.ts'
import { ewkbLine, ewkbLines, ewkbPoint, ewkbPolygons } from '../geometry/ewkb.ts'
import { AREA_RULES } from './area-rules.ts'
import { columnKeys, compileColumn, definitionOf } from './columns.ts'
import type { ColumnReader, RowContext } from './columns.ts'
import { Extent } from './extent.ts'
import { keysOf, neededKeys, union } from './filters.ts'
import type { Matched } from './filters.ts'
import { Generalizer } from './generalize.ts'
import type { Shape } from './generalize.ts'
import type { TopicTable } from './import-table.ts'
import { TableRules } from './table-rules.ts'

/** One value per column. */
export type ImportRow = (string | number | boolean | Uint8Array | null)[]

/** Turns features into the rows of tables. */
export class TopicRows implements FeatureVisitor {
  readonly tags: TagView
  readonly #tables: readonly CompiledTable[]
  readonly #onRow: (table: number, row: ImportRow) => void

  constructor(tables: readonly TopicTable[], onRow: (table: number, row: ImportRow) => void) {
    this.tags = tagView(tables)
    this.#onRow = onRow
    this.#tables = tables.map((table) => compile(table, this.tags))
  }

  /** Number of rows and extent of each table. */
  get totals(): readonly { readonly rows: number; readonly bbox: Bbox | null }[] {
    return this.#tables.map(({ rows, extent }) => ({ rows, bbox: extent.bbox }))
  }

  /** Rows of generalized tables that stayed unchanged because simplifying them would take too long. */
  get unsimplified(): number {
    return this.#tables.reduce((sum, { generalizer }) => sum + (generalizer?.unsimplified ?? 0), 0)
  }

  select(element: ElementKind): number {
    let geometries = 0
    for (const { rules } of this.#tables) {
      if (rules.geometries !== (rules.geometries & geometries)) geometries |= rules.wanted(element)
    }
    return geometries
  }

  visit(feature: OsmFeature): void {
    for (const [i, table] of this.#tables.entries()) {
      if ((table.rules.wanted(feature.element) & feature.geometry) !== 0) this.#emit(i, table, feature)
    }
  }

  #emit(index: number, table: CompiledTable, feature: OsmFeature): void {
    const shape = table.generalizer ? table.generalizer.shapeOf(feature) : feature
    if (shape === null) return
    const { context } = table
    context.feature = feature
    context.matched = table.rules.matched(feature.geometry)
    const row: ImportRow = [
      ++table.rows,
      feature.element === 'node' ? 'N' : feature.element === 'relation' ? 'R' : 'W',
      feature.id,
    ]
    if (feature.geometry === MEMBER) row.push(feature.member + 1)
    for (const read of table.columns) row.push(read(context))
    row.push(geometryOf(shape, table))
    this.#onRow(index, row)
  }
}

interface CompiledTable {
  readonly rules: TableRules
  readonly geometry: TopicTable['geometry']
  readonly generalizer: Generalizer | null
  readonly columns: readonly ColumnReader[]
  readonly extent: Extent
  /** Context of the current row. */
  readonly context: { feature: OsmFeature; tags: TagView; matched: Matched }
  rows: number
}

function compile(table: TopicTable, tags: TagView): CompiledTable {
  const columns = table.columns.map(definitionOf)
  return {
    rules: new TableRules(table, tags),
    geometry: table.geometry,
    generalizer: table.simpler && new Generalizer(table.simpler),
    columns: columns.map((column) => compileColumn(column, tags)),
    extent: new Extent(),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- set before a column is read
    context: { tags, matched: { key: -1, name: null } } as RowContext,
    rows: 0,
  }
}

/** A view of the keys of all tables; the needed ones make an element a candidate. */
function tagView(tables: readonly TopicTable[]): TagView {
  const needed = union(tables.flatMap(({ where }) => neededKeys(where) ?? []))
  const candidates = new Set(needed.keys)
  const { prefixes, others } = needed
  const isNeeded = (key: string): boolean => {
    return (
      candidates.has(key) || prefixes.some((prefix) => key.startsWith(prefix)) || others.some((set) => !set.has(key))
    )
  }
  const filters = tables.flatMap(({ where, also, areas }) =>
    [where, also ?? [], typeof areas === 'object' ? areas : []].flat(),
  )
  const asked = tables.flatMap(({ columns }) => columns.flatMap((column) => columnKeys(definitionOf(column))))
  const rules = AREA_RULES.map(({ key }) => key)
  return new TagView([...new Set(['area', 'type', ...rules, ...union(filters.map(keysOf)).keys, ...asked])], isNeeded)
}

/** The geometry of a row; the table's extent grows by it. */
function geometryOf({ geometry, lon, lat, lineStart, lines, area }: Shape, table: CompiledTable): Uint8Array {
  if (geometry === AREA && table.geometry === 'point') {
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
  return table.geometry === 'linestring' ? ewkbLine(lon, lat, points) : ewkbLines(lon, lat, lineStart, lines)
}
