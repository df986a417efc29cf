import { qualified, quoteIdentifier, type Queryable, type ScanType } from '@terrane/database'
import { noGeometryColumn, propertyNotShown, tableNotFound } from './errors.ts'

/** What a tile archive shows of a table: SQL expressions for its geometry, feature id and attributes. */
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

interface ColumnFacts {
  readonly name: string
  /** Name of the type, of a domain its base type. */
  readonly type: string
  readonly is_key: boolean
  readonly srid: number | null
  readonly geometry_type: string | null
}

/** Schemas of the platform and the server: what lies there is nobody's map data. */
const HIDDEN_SCHEMAS: ReadonlySet<string> = new Set(['terrane', 'terrane_staging', 'information_schema', 'pg_catalog'])

/** Of several geometry columns, the first of these names is shown, else the first column. */
const USUAL_NAMES = ['geom', 'geometry', 'the_geom', 'wkb_geometry']

const INTEGERS: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'oid'])
const FLOATS: ReadonlySet<string> = new Set(['float4', 'float8', 'numeric'])
/** Types that no map style can use. */
const NEVER_SHOWN: ReadonlySet<string> = new Set([
  'bytea',
  'geometry',
  'geography',
  'raster',
  'vector',
  'halfvec',
  'sparsevec',
  'tsvector',
])

/** Geometry types that may hold arcs. */
const MAY_CURVE = /^(geometry|circularstring|compoundcurve|curvepolygon|multicurve|multisurface)/i

/**
 * Looks a table up and decides what of it is shown.
 *
 * @param properties columns that become attributes; null for all that can
 * @throws TABLE_NOT_FOUND, NO_GEOMETRY_COLUMN, PROPERTY_NOT_SHOWN
 */
export async function findSpatialTable(
  database: Queryable,
  schema: string,
  table: string,
  properties: readonly string[] | null,
): Promise<SpatialTable> {
  if (HIDDEN_SCHEMAS.has(schema)) throw tableNotFound({ schema, table })
  const { rows: relations } = await database.query<{ oid: number; rows: number }>(
    `select c.oid, c.reltuples as rows from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')`,
    [schema, table],
  )
  const relation = relations[0]
  if (!relation) throw tableNotFound({ schema, table })
  const columns = await readColumns(database, relation.oid)
  const geometry = chooseGeometry(columns)
  if (!geometry) throw noGeometryColumn({ schema, table })
  const keys = columns.filter((column) => column.is_key)
  const key = keys.length === 1 && INTEGERS.has(keys[0]!.type) ? keys[0]! : null
  return {
    name: qualified(schema, table),
    geometry: geometrySql(geometry),
    id: key && quoteIdentifier(key.name),
    attributes: chooseAttributes(columns, properties, key),
    rows: relation.rows > 0 ? relation.rows : null,
  }
}

async function readColumns(database: Queryable, oid: number): Promise<ColumnFacts[]> {
  const { rows } = await database.query<ColumnFacts>(
    `select a.attname as name, base.type, coalesce(a.attnum = any (k.conkey), false) as is_key,
       case when base.type in ('geometry', 'geography') then postgis_typmod_srid(base.modifier) end as srid,
       case when base.type in ('geometry', 'geography') then postgis_typmod_type(base.modifier) end as geometry_type
     from pg_attribute a
     cross join lateral (
       with recursive chain (oid, modifier) as (
         select a.atttypid, a.atttypmod
         union all
         select d.typbasetype, d.typtypmod from chain join pg_type d on d.oid = chain.oid and d.typtype = 'd')
       select t.typname as type, chain.modifier from chain join pg_type t on t.oid = chain.oid and t.typtype <> 'd'
     ) base
     left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'p'
     where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped
     order by a.attnum`,
    [oid],
  )
  return rows
}

function chooseGeometry(columns: readonly ColumnFacts[]): ColumnFacts | null {
  const candidates = columns.filter((column) => column.geometry_type !== null)
  const usual = USUAL_NAMES.map((name) => candidates.find((column) => column.name === name)).find((column) => column)
  return usual ?? candidates[0] ?? null
}

function geometrySql({ name, type, srid, geometry_type }: ColumnFacts): string {
  const column = type === 'geography' ? `${quoteIdentifier(name)}::geometry` : quoteIdentifier(name)
  const straight = MAY_CURVE.test(geometry_type ?? '') ? `st_curvetoline(${column})` : column
  if (srid === 4326) return `st_asewkb(${straight})`
  const transformed = `st_transform(${straight}, 4326)`
  // A column of mixed systems: what is in degrees already stays as it is.
  return srid === 0
    ? `st_asewkb(case when st_srid(${column}) = 4326 then ${straight} else ${transformed} end)`
    : `st_asewkb(${transformed})`
}

function chooseAttributes(
  columns: readonly ColumnFacts[],
  properties: readonly string[] | null,
  key: ColumnFacts | null,
): SpatialTable['attributes'] {
  const shown = columns.filter((column) => !NEVER_SHOWN.has(column.type))
  if (properties === null) return shown.filter((column) => column !== key).map(attributeOf)
  return properties.map((name, index) => {
    const column = shown.find((candidate) => candidate.name === name)
    if (!column) throw propertyNotShown({ index, name, columns: shown.map((candidate) => candidate.name) })
    return attributeOf(column)
  })
}

function attributeOf({ name, type }: ColumnFacts): SpatialTable['attributes'][number] {
  const scanType = INTEGERS.has(type) ? 'int8' : FLOATS.has(type) ? 'float8' : type === 'bool' ? 'bool' : 'text'
  return { name, sql: quoteIdentifier(name), type: scanType }
}
