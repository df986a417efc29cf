import { qualified, quoteIdentifier, type Queryable, type Session } from '@terrane/database'
import { literals, whereClause, type Condition } from '@terrane/database/rest-query'
import {
  chooseGeometry,
  describeColumns,
  readTable,
  wholeSql,
  type ColumnFacts,
  type ScanColumn,
  type ScanSource,
} from '@terrane/database/scan'
import type { ExportFormat } from '@terrane/contracts'
import { columnNotThere, columnRepeated, queryRefused } from './errors.ts'
import { FORMS, type GeometryForm } from './forms.ts'
import { kindSql, remediesFor, type SourceGeometry } from './remedies.ts'

const WGS84 = 4326
/** Maximum digits after the point: enough for each double, as the server writes the shortest exact form. */
export const DIGITS = 40

/** Kind of values in a column of an export. */
export type Kind =
  | 'int2'
  | 'int4'
  | 'int8'
  | 'float4'
  | 'float8'
  /** Decimal text; with a scale where the column bounds it. */
  | 'numeric'
  | 'bool'
  | 'text'
  /** JSON text. */
  | 'json'
  /** `2024-02-29`; ` BC` behind years before Christ; `infinity` and `-infinity`. */
  | 'date'
  | 'time'
  /** `2024-02-29T13:45:10.123456Z`, and as dates. */
  | 'timestamptz'
  /** The same without `Z`: a local time. */
  | 'timestamp'
  /** Hexadecimal digits. */
  | 'bytea'

export interface ExportColumn {
  readonly name: string
  readonly kind: Kind
  /** Digits of a numeric in total and after the point; null for unbounded numerics. */
  readonly precision: number | null
  readonly scale: number | null
  /** A further geometry column, written as EWKT, because a row of a file has only one geometry. */
  readonly isGeometry?: boolean
  readonly scan: ScanColumn
}

/** A table, view or query, and how it is read. */
export interface ExportSource {
  readonly from: ScanSource
  readonly name: string
  readonly columns: readonly ExportColumn[]
  readonly geometry: SourceGeometry | null
  /** The server's estimate of its rows; null without one. */
  readonly estimatedRows: number | null
  /** Entries for the metadata of formats that have some, by key. */
  readonly metadata?: Readonly<Record<string, string>>
}

const KINDS: Readonly<Record<string, Kind>> = {
  int2: 'int2',
  int4: 'int4',
  int8: 'int8',
  oid: 'int8',
  float4: 'float4',
  float8: 'float8',
  numeric: 'numeric',
  bool: 'bool',
  json: 'json',
  jsonb: 'json',
  date: 'date',
  time: 'time',
  timestamptz: 'timestamptz',
  timestamp: 'timestamp',
  bytea: 'bytea',
}

/** A table or view to export. */
export interface TableChoice {
  readonly schema: string
  readonly table: string
  /** Columns besides the geometry; null for all. */
  readonly columns?: readonly string[] | null
  /** Filters of its rows, as `/rest/v1` reads them. */
  readonly conditions?: readonly Condition[]
}

/**
 * Describes a table or view for export, with the rights of the session.
 *
 * @throws TABLE_NOT_FOUND, PROPERTY_NOT_SHOWN, PROPERTY_REPEATED, and errors of the server for filters that it cannot
 * compare
 */
export async function findTable(database: Queryable, choice: TableChoice): Promise<ExportSource> {
  const { schema, table, columns = null, conditions = [] } = choice
  const { columns: facts, rows } = await readTable(database, schema, table)
  const where = whereClause(conditions, 'source', literals)
  const from = { table: qualified(schema, table), alias: 'source', where }
  return { ...sourceOf(from, table, facts, columns), estimatedRows: conditions.length === 0 ? rows : null }
}

/**
 * Describes a query for export, in the transaction that will run it.
 *
 * @throws QUERY_REFUSED for anything but one reading statement; PROPERTY_NOT_SHOWN, PROPERTY_REPEATED
 */
export async function findQuery(
  session: Session,
  query: string,
  columns: readonly string[] | null,
): Promise<ExportSource> {
  return sourceOf(fromQuery(query), 'query', await describeQuery(session, query, columns), columns)
}

/** Scans geometries when a header has types and system that the column does not state; later rows are checked. */
export async function withTypes(
  database: Queryable,
  source: ExportSource,
  format: ExportFormat,
): Promise<ExportSource> {
  const { geometry, from } = source
  const form = FORMS[format]
  if (!geometry || !form.typesFirst) return source
  if (geometry.srid !== null && geometry.types !== null) return withShapes(source, geometry, form)
  const { rows } = await database.query<{ kind: string; type: string; zm: number; srid: number; empty: boolean }>(
    `select distinct ${kindSql('g')} as kind, geometrytype(g) as type, st_zmflag(g) as zm, st_srid(g) as srid,
       st_isempty(g) as empty
     from (select ${geometrySql(geometry.name)} as g from ${wholeSql(from)}) t where g is not null`,
  )
  // Geometries that become null (e.g. empty intersections) have no type.
  const seen = rows.filter(({ empty }) => !empty || !form.lacks.includes('empty geometries'))
  const shown = seen.length > 0 ? seen : rows
  // ST_ZmFlag: 1 for measures, 2 for heights, 3 for both.
  const types = shown.map(({ type, zm }) => isoType(type.replace(/M$/, ''), zm >= 2, zm % 2 === 1))
  const srids = new Set(rows.map((row) => row.srid).filter((one) => one !== 0))
  const isMixed = srids.size > 1
  const srid = geometry.srid ?? (isMixed ? WGS84 : ([...srids][0] ?? WGS84))
  const kinds = rows.map(({ kind }) => kind)
  return withShapes(source, { ...geometry, srid, isMixed, types: [...new Set(types)], kinds }, form)
}

function withShapes(source: ExportSource, geometry: SourceGeometry, { lacks }: GeometryForm): ExportSource {
  const shapes = (geometry.types ?? []).map((type) =>
    remediesFor(geometry, lacks).reduce((shape, { typeOf }) => typeOf(shape), type),
  )
  return { ...source, geometry: { ...geometry, shapes: [...new Set(shapes)] } }
}

/** The columns of a query, which is not run. @throws as {@link findQuery} */
export async function describeQuery(
  session: Session,
  query: string,
  columns: readonly string[] | null,
): Promise<readonly ColumnFacts[]> {
  // The extended protocol takes one statement, so a query in these brackets cannot end it, or other brackets.
  const request = { text: `select * from ${fromQuery(query)} limit 0`, queryMode: 'extended' }
  const { fields } = await session.client.query(request)
  const names = fields.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw queryRefused({ reason: `two columns are called ${twice}` })
  const facts = await describeColumns(session, fields)
  chooseColumns(facts, columns)
  return facts
}

/** The line break ends a comment at the end of the query. */
function fromQuery(query: string): string {
  return `(${query}\n) as source`
}

function sourceOf(
  from: ScanSource,
  name: string,
  facts: readonly ColumnFacts[],
  wanted: readonly string[] | null,
): ExportSource {
  const { place, chosen } = chooseColumns(facts, wanted)
  return { from, name, columns: chosen.map(columnOf), geometry: place && declaredGeometry(place), estimatedRows: null }
}

function chooseColumns(facts: readonly ColumnFacts[], wanted: readonly string[] | null) {
  const place = chooseGeometry(facts)
  const rest = facts.filter((column) => column !== place)
  if (wanted === null) return { place, chosen: rest }
  const named = new Set<string>()
  const chosen = wanted.map((name, index) => {
    if (named.has(name)) throw columnRepeated({ index, name })
    named.add(name)
    const found = rest.find((candidate) => candidate.name === name)
    if (!found) throw columnNotThere({ index, name, columns: rest.map((one) => one.name) })
    return found
  })
  return { place, chosen }
}

/** A column without a declared type may hold any geometry; one declared as `Geometry` any two-dimensional geometry. */
function declaredGeometry({ name, srid, type, geometry_type: declared }: ColumnFacts): SourceGeometry {
  const [, base = '', z = '', m = ''] = /^(.*?)(Z?)(M?)$/.exec(declared ?? '') ?? []
  const isAny = base === '' || base.toUpperCase() === 'GEOMETRY'
  return {
    name,
    srid: srid || (type === 'geography' ? WGS84 : null),
    isDeclared: Boolean(srid) || type === 'geography',
    types: isAny ? null : [isoType(base, z !== '', m !== '')],
    shapes: [],
  }
}

function isoType(name: string, hasZ: boolean, hasM: boolean): number {
  return TYPE_NAMES.indexOf(name.toUpperCase()) + 1 + (hasZ ? 1000 : 0) + (hasM ? 2000 : 0)
}

const TYPE_NAMES =
  'POINT LINESTRING POLYGON MULTIPOINT MULTILINESTRING MULTIPOLYGON GEOMETRYCOLLECTION CIRCULARSTRING COMPOUNDCURVE CURVEPOLYGON MULTICURVE MULTISURFACE CURVE SURFACE POLYHEDRALSURFACE TIN TRIANGLE'.split(
    ' ',
  )

/** A column as geometry, also when its type is geography. */
export function geometrySql(name: string): string {
  return `${quoteIdentifier(name)}::geometry`
}

function columnOf({ name, type, precision, scale, geometry_type: shape }: ColumnFacts): ExportColumn {
  const column = quoteIdentifier(name)
  if (shape !== null) {
    const sql = `st_asewkt(${geometrySql(name)}, ${DIGITS})`
    return { name, kind: 'text', precision, scale, isGeometry: true, scan: { sql, type: 'text' } }
  }
  const kind = KINDS[type] ?? (type.startsWith('_') ? 'json' : 'text')
  return { name, kind, precision, scale, scan: scanOf(column, type, kind) }
}

function scanOf(column: string, type: string, kind: Kind): ScanColumn {
  switch (kind) {
    case 'int2':
    case 'int4':
    case 'int8':
      return { sql: column, type: 'int8' }
    case 'float4':
      // Through its text the float4 1.1 stays 1.1; converted directly it would be 1.100000023841858.
      return { sql: `${column}::text::float8`, type: 'float8' }
    case 'float8':
      return { sql: column, type: 'float8' }
    case 'bool':
      return { sql: column, type: 'bool' }
    case 'json':
      // `to_jsonb` would write large numbers with all of their zeros, which GDAL reads as whole numbers.
      return { sql: type.startsWith('_') ? `to_json(${column})` : column, type: 'text' }
    case 'bytea':
      return { sql: `encode(${column}, 'hex')`, type: 'text' }
    case 'date':
      return { sql: isoSql(column, column, 'YYYY-MM-DD'), type: 'text' }
    case 'timestamp':
      return { sql: isoSql(column, column, 'YYYY-MM-DD"T"HH24:MI:SS.US'), type: 'text' }
    case 'timestamptz':
      return { sql: isoSql(column, `${column} at time zone 'UTC'`, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), type: 'text' }
    default:
      return { sql: column, type: 'text' }
  }
}

/** SQL of a time as text, independent of the session's date style and time zone. */
function isoSql(column: string, local: string, pattern: string): string {
  const era = `case when ${local} < '0001-01-01' then ' BC' else '' end`
  return `case when isfinite(${column}) then to_char(${local}, '${pattern}') || ${era} else ${column}::text end`
}
