import { definitionOf, sqlTypeOf } from './columns.ts'
import type { ImportColumnType } from './columns.ts'
import type { GeneralizedTable, StyleGeometry, StyleTable } from './style.ts'

export interface ImportColumn {
  readonly name: string
  readonly type: ImportColumnType
}

/** A table that an import fills. */
export interface ImportTable {
  readonly topic: string
  /** The table is called `{prefix}_{suffix}`. */
  readonly suffix: string
  readonly geometryType: 'Point' | 'LineString' | 'MultiLineString' | 'MultiPolygon'
  /**
   * `id`, `osm_type` (N, W or R) and `osm_id` first, then `member` (from 1) in a table of members, then those of the style,
   * and `geom` last.
   */
  readonly columns: readonly ImportColumn[]
  /** Columns that tell the rows apart. */
  readonly unique: readonly string[]
}

/** A table of a style with the topic that it belongs to; a generalized one stands for itself. */
export interface TopicTable extends StyleTable {
  readonly topic: string
  readonly simpler: GeneralizedTable | null
}

const GEOMETRY_TYPES = {
  point: 'Point',
  linestring: 'LineString',
  multilinestring: 'MultiLineString',
  multipolygon: 'MultiPolygon',
} as const satisfies Readonly<Record<StyleGeometry, string>>

/** The tables of a style, each with its generalized ones behind it; the topic is the table's name when null. */
export function expandTables(tables: readonly StyleTable[], topic: string | null): TopicTable[] {
  return tables.flatMap((table) => {
    const all = { ...table, topic: topic ?? table.name }
    const simpler = (table.generalized ?? []).map((each) => {
      const wheres = [table.where ?? [], each.where ?? []].flat()
      const [first] = wheres
      const where = wheres.length > 1 ? { all: wheres } : first
      return { ...all, name: each.name, ...(where && { where }), simpler: each }
    })
    return [{ ...all, simpler: null }, ...simpler]
  })
}

/** The columns of a table. */
export function importTable({ topic, name, geometry, from, columns }: TopicTable): ImportTable {
  const member: ImportColumn[] = from.includes('member') ? [{ name: 'member', type: 'int4' }] : []
  return {
    topic,
    suffix: name,
    geometryType: GEOMETRY_TYPES[geometry],
    columns: [
      { name: 'id', type: 'int8' },
      { name: 'osm_type', type: 'text' },
      { name: 'osm_id', type: 'int8' },
      ...member,
      ...columns.map(definitionOf).map((column) => ({ name: column.name, type: sqlTypeOf(column) })),
      { name: 'geom', type: 'geometry' },
    ],
    unique: ['osm_type', 'osm_id', ...member.map((column) => column.name)],
  }
}
