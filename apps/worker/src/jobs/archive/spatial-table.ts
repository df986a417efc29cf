import { qualified, quoteIdentifier, type Queryable } from '@terrane/database'
import {
  NEVER_SHOWN,
  chooseGeometry,
  mapTypeOf,
  readTable,
  type ColumnFacts,
  type ScanType,
} from '@terrane/database/scan'
import { noGeometryColumn, propertyNotShown } from './errors.ts'

/** Columns of a table in a tile archive: SQL expressions for geometry, feature id and attributes. */
export interface SpatialTable {
  /** `"schema"."table"`. */
  readonly name: string
  /** EWKB in EPSG:4326. */
  readonly geometry: string
  /** The primary key, when it is one whole number. */
  readonly id: string | null
  readonly attributes: readonly { readonly name: string; readonly sql: string; readonly type: ScanType }[]
  /** The server's estimate; null when it has none. */
  readonly rows: number | null
}

/** Geometry types that may contain arcs. */
const MAY_CURVE = /^(geometry|circularstring|compoundcurve|curvepolygon|multicurve|multisurface)/i

/**
 * Looks up a table and its columns for the archive.
 *
 * @param properties columns that become attributes; null for all that can
 * @param path where the request names the table, as a JSON pointer
 * @throws TABLE_NOT_FOUND, NO_GEOMETRY_COLUMN, PROPERTY_NOT_SHOWN
 */
export async function findSpatialTable(
  database: Queryable,
  schema: string,
  table: string,
  properties: readonly string[] | null,
  path = '',
): Promise<SpatialTable> {
  const { columns, rows } = await readTable(database, schema, table)
  const geometry = chooseGeometry(columns)
  if (!geometry) throw noGeometryColumn({ schema, table, path })
  const keys = columns.filter((column) => column.is_key)
  const key = keys.length === 1 && scanTypeOf(keys[0]!.type) === 'int8' ? keys[0]! : null
  return {
    name: qualified(schema, table),
    geometry: geometrySql(geometry),
    id: key && quoteIdentifier(key.name),
    attributes: chooseAttributes(columns, properties, key, path),
    rows,
  }
}

function geometrySql({ name, type, srid, geometry_type }: ColumnFacts): string {
  const column = type === 'geography' ? `${quoteIdentifier(name)}::geometry` : quoteIdentifier(name)
  const straight = MAY_CURVE.test(geometry_type ?? '') ? `st_curvetoline(${column})` : column
  if (srid === 4326) return `st_asewkb(${straight})`
  const transformed = `st_transform(${straight}, 4326)`
  // A column without an SRID may mix systems; geometries in EPSG:4326 are not transformed.
  return srid === 0
    ? `st_asewkb(case when st_srid(${column}) = 4326 then ${straight} else ${transformed} end)`
    : `st_asewkb(${transformed})`
}

function chooseAttributes(
  columns: readonly ColumnFacts[],
  properties: readonly string[] | null,
  key: ColumnFacts | null,
  path: string,
): SpatialTable['attributes'] {
  const shown = columns.filter((column) => !NEVER_SHOWN.has(column.type))
  if (properties === null) return shown.filter((column) => column !== key).map(attributeOf)
  return properties.map((name, index) => {
    const column = shown.find((candidate) => candidate.name === name)
    if (!column) throw propertyNotShown({ path, index, name, columns: shown.map((candidate) => candidate.name) })
    return attributeOf(column)
  })
}

function attributeOf({ name, type }: ColumnFacts): SpatialTable['attributes'][number] {
  return { name, sql: quoteIdentifier(name), type: scanTypeOf(type) }
}

/** As on every map, but an oid is a number in an archive, also as the id of features. */
function scanTypeOf(type: string): ScanType {
  return type === 'oid' ? 'int8' : mapTypeOf(type)
}
