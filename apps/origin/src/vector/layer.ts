import { qualified, quoteIdentifier, type Queryable } from '@terrane/database'
import { NEVER_SHOWN, chooseGeometry, mapTypeOf } from '@terrane/database/scan'
import { noSuchLayer, noSuchProperty, repeatedProperty } from './errors.ts'

/** Content of tiles of a table or view, within the caller's rights. */
export interface Layer {
  readonly schema: string
  readonly table: string
  /** `"schema"."table"`. */
  readonly source: string
  /** Name of the geometry column. */
  readonly column: string
  readonly isGeography: boolean
  /** SQL of the geometry column. */
  readonly geometry: string
  /** 0 when the column has no SRID. */
  readonly srid: number
  readonly geometryType: string
  /** The primary key, if it is a single integer column. */
  readonly id: string | null
  readonly properties: readonly Property[]
  /** The server's estimate; null when it has none. */
  readonly rows: number | null
  readonly comment: string | null
}

export interface Property {
  readonly name: string
  readonly type: 'int8' | 'float8' | 'bool' | 'text'
}

interface Found {
  readonly name: string
  readonly type: string
  readonly is_key: boolean
  readonly srid: number | null
  readonly geometry_type: string | null
  readonly rows: number
  readonly comment: string | null
}

/** SQL for the columns of a relation ($2) of a schema ($1) that the caller may read; run it under that role. */
const COLUMNS = `
  select a.attname as name, t.typname as type, coalesce(a.attnum = any (k.conkey) and array_length(k.conkey, 1) = 1, false) as is_key,
    case when t.typname in ('geometry', 'geography') then postgis_typmod_srid(a.atttypmod) end as srid,
    case when t.typname in ('geometry', 'geography') then postgis_typmod_type(a.atttypmod) end as geometry_type,
    c.reltuples as rows, obj_description(c.oid, 'pg_class') as comment
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select')
  order by a.attnum`

/**
 * Finds a layer as the caller.
 *
 * @param wanted properties in the order in which they are named; null for all that tiles can hold
 * @throws 42P01 for a table that does not exist or that the caller may not read, 42703, 42701
 */
export async function findLayer(
  session: Queryable,
  schema: string,
  table: string,
  wanted: readonly string[] | null,
): Promise<Layer> {
  const { rows: columns } = await session.query<Found>(COLUMNS, [schema, table])
  const geometry = chooseGeometry(columns)
  if (!geometry) throw noSuchLayer(schema, table)
  const key = columns.find((column) => column.is_key && mapTypeOf(column.type) === 'int8') ?? null
  const shown = columns.filter((column) => !NEVER_SHOWN.has(column.type))
  const names = shown.map((column) => column.name)
  const properties =
    wanted === null
      ? shown
      : wanted.map((name, index) => {
          if (wanted.indexOf(name) < index) throw repeatedProperty(name)
          const found = shown.find((column) => column.name === name)
          if (!found) throw noSuchProperty(name, names)
          return found
        })
  const column = `source.${quoteIdentifier(geometry.name)}`
  return {
    schema,
    table,
    source: qualified(schema, table),
    column: geometry.name,
    isGeography: geometry.type === 'geography',
    geometry: geometry.type === 'geography' ? `${column}::geometry` : column,
    srid: geometry.srid ?? 0,
    geometryType: geometry.geometry_type ?? 'Geometry',
    id: key && key.name,
    properties: properties.map(({ name, type }) => ({ name, type: mapTypeOf(type) })),
    rows: geometry.rows > 0 ? geometry.rows : null,
    comment: geometry.comment,
  }
}

interface ListedLayer {
  readonly schema: string
  readonly name: string
  /** 0 when the column has no SRID. */
  readonly srid: number
  readonly geometry_type: string
  readonly rows: number | null
  /** The table's comment. */
  readonly comment: string | null
}

/** Names of the layers of some schemas that the caller may read, with their kind of geometry. */
export async function listLayers(session: Queryable, schemas: readonly string[]): Promise<readonly ListedLayer[]> {
  const { rows } = await session.query<ListedLayer>(
    `select distinct on (n.nspname, c.relname) n.nspname as schema, c.relname as name, postgis_typmod_srid(a.atttypmod) as srid,
       postgis_typmod_type(a.atttypmod) as geometry_type, nullif(greatest(c.reltuples, 0), 0)::float8 as rows,
       obj_description(c.oid, 'pg_class') as comment
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     join pg_type t on t.oid = a.atttypid and t.typname in ('geometry', 'geography')
     where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select')
     order by n.nspname, c.relname, a.attnum`,
    [schemas],
  )
  return rows
}

/** A column without an SRID may have another one in each row; rows without one are in degrees. */
export function geometrySql({ geometry, srid }: Layer): string {
  if (srid !== 0) return geometry
  return `(case when st_srid(${geometry}) in (0, 4326) then st_setsrid(${geometry}, 4326) else st_transform(${geometry}, 4326) end)`
}
