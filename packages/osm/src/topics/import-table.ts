import { definitionOf, sqlTypeOf } from './columns.ts'
import type { ImportColumnType } from './columns.ts'
import { neededKeys } from './filters.ts'
import type { Filter, GeneralizedTable, StyleGeometry, StyleTable } from './style.ts'

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
  /** `id`, `osm_type` (N, W or R), `osm_id`, `member` (from 1) of a table of members, those of the style, `geom`. */
  readonly columns: readonly ImportColumn[]
  /** Columns whose values together identify a row. */
  readonly unique: readonly string[]
  /** Columns that hold the length or the area of the geometry, in metres. */
  readonly measured: readonly string[]
  /** The least length in metres, or area in square metres, of a row; 0 for any. */
  readonly least: number
}

/** A table of a style with its topic; a generalized table is a separate entry. */
export interface TopicTable extends StyleTable {
  readonly topic: string
  /** Decides areas, lines and the key that matched. */
  readonly where: Filter
  /** A further test of a generalized table. */
  readonly also: Filter | null
  readonly simpler: GeneralizedTable | null
}

/** Tags that describe the mapping or the drawing, not the thing: an element with no other ones is not a feature. */
export const UNINFORMATIVE_KEYS: ReadonlySet<string> = new Set([
  'area',
  'type',
  'created_by',
  'source',
  'source:name',
  'source_ref',
  'note',
  'fixme',
  'FIXME',
  'attribution',
  'comment',
  'odbl',
  'odbl:note',
  'converted_by',
  'import',
  'import_uuid',
])
const INFORMATIVE: Filter = { hasOther: [...UNINFORMATIVE_KEYS] }

const GEOMETRY_TYPES = {
  point: 'Point',
  linestring: 'LineString',
  multilinestring: 'MultiLineString',
  multipolygon: 'MultiPolygon',
} as const satisfies Readonly<Record<StyleGeometry, string>>

/** The tables of a style, each followed by its generalized ones; for null the topic is the table's name. */
export function expandTables(tables: readonly StyleTable[], topic: string | null): TopicTable[] {
  return tables.flatMap((table) => {
    const where = conditionOf(table)
    const all = { ...table, where, topic: topic ?? table.name }
    const simpler = (table.generalized ?? []).map((each) => {
      return { ...all, name: each.name, also: each.where ?? null, simpler: each }
    })
    return [{ ...all, also: null, simpler: null }, ...simpler]
  })
}

/** A condition that fits without any key fits features only. */
function conditionOf({ where }: StyleTable): Filter {
  if (!where) return INFORMATIVE
  return neededKeys(where) ? where : { all: [INFORMATIVE, where] }
}

/** The columns of a table. */
export function importTable({ topic, name, geometry, from, columns, simpler }: TopicTable): ImportTable {
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
    measured: columns.map(definitionOf).flatMap(({ name: column, value }) => {
      return geometry !== 'point' && (value === 'length' || value === 'area') ? [column] : []
    }),
    least: simpler?.minLengthMetres ?? simpler?.minAreaMetres2 ?? 0,
  }
}
