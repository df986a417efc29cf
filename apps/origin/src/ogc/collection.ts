import { qualified, quoteIdentifier, type Queryable } from '@terrane/database'
import { NEVER_SHOWN } from '@terrane/database/scan'
import { findLayer, geometrySql, type Layer } from '../vector/layer.ts'
import { RestError } from '../rest/errors.ts'
import { noCollection } from './errors.ts'
import { offeredSystems, type Crs } from './crs.ts'

/** A table or view with a geometry as a collection of features, within the caller's rights. */
export interface Collection {
  readonly id: string
  readonly schema: string
  readonly table: string
  readonly layer: Layer
  /** `"schema"."table"`. */
  readonly source: string
  /** SQL of the geometry of a row of `source`, without arcs and in {@link srid}. */
  readonly geometry: string
  readonly srid: number
  readonly systems: readonly Crs[]
  readonly geometryColumn: Column
  /** The column with the ids of features; null when there is none. */
  readonly key: Column | null
  /** True when the key is unique and never null. */
  readonly isUnique: boolean
  /** SQL of a total order of the rows. */
  readonly order: string
  /** Columns that are properties of features. */
  readonly properties: readonly Column[]
  /** The property that the parameter `datetime` filters. */
  readonly time: Column | null
  readonly may: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean }
}

export interface Column {
  readonly name: string
  readonly kind: Kind
  /** SQL text of the type. */
  readonly type: string
  readonly typeName: string
  readonly comment: string | null
  readonly labels: readonly string[] | null
  readonly isGenerated: boolean
  readonly mayInsert: boolean
  readonly mayUpdate: boolean
}

/** Kind of a column, by the comparisons that it supports. */
export type Kind = 'integer' | 'number' | 'text' | 'boolean' | 'instant' | 'timestamp' | 'date' | 'geometry' | 'other'

const KINDS: Readonly<Record<string, Kind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  float4: 'number',
  float8: 'number',
  numeric: 'number',
  text: 'text',
  varchar: 'text',
  bpchar: 'text',
  citext: 'text',
  bool: 'boolean',
  timestamptz: 'instant',
  timestamp: 'timestamp',
  date: 'date',
  geometry: 'geometry',
  geography: 'geometry',
}
const TIMES: ReadonlySet<Kind> = new Set(['instant', 'timestamp', 'date'])

const COLUMNS = `
  select a.attname as name, t.typname as "typeName", format_type(a.atttypid, -1) as type, col_description(c.oid, a.attnum) as comment,
    (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as labels,
    coalesce(a.attnum = any (k.conkey) and array_length(k.conkey, 1) = 1, c.relkind in ('v', 'm', 'f') and a.attname = 'id') as "isKey",
    k.oid is not null as "isUnique", c.relkind in ('r', 'p', 'm') and has_table_privilege(c.oid, 'select') as "hasPlaces",
    a.attgenerated <> '' or a.attidentity = 'a' as "isGenerated",
    has_column_privilege(c.oid, a.attnum, 'insert') as "mayInsert", has_column_privilege(c.oid, a.attnum, 'update') as "mayUpdate",
    has_table_privilege(c.oid, 'delete') as "mayDelete", pg_relation_is_updatable(c.oid, true) as updatable
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  where n.nspname = $1 and c.relname = $2 and has_column_privilege(c.oid, a.attnum, 'select')
  order by a.attnum`

type Found = Column & {
  readonly isKey: boolean
  /** The table has a primary key. */
  readonly isUnique: boolean
  /** The caller may read the row locations (`ctid`) of the table. */
  readonly hasPlaces: boolean
  readonly mayDelete: boolean
  readonly updatable: number
}

/** Bits of pg_relation_is_updatable. */
const [UPDATES, INSERTS, DELETES] = [4, 8, 16]

/** Finds a collection as the caller. @throws COLLECTION_NOT_FOUND */
export async function findCollection(session: Queryable, schema: string, table: string): Promise<Collection> {
  const id = `${schema}.${table}`
  const layer = await findLayer(session, schema, table, null).catch((error: unknown) => {
    throw error instanceof RestError && error.status === 404 ? noCollection(id) : error
  })
  const { rows } = await session.query<Found>(COLUMNS, [schema, table])
  const columns = rows.map((row) => ({ ...row, kind: KINDS[row.typeName] ?? 'other' }))
  const geometryColumn = columns.find(({ name }) => layer.geometry.startsWith(`source.${quoteIdentifier(name)}`))!
  const key = columns.find((column) => column.isKey && !NEVER_SHOWN.has(column.typeName)) ?? null
  const properties = columns.filter((column) => column !== key && !NEVER_SHOWN.has(column.typeName))
  const { mayDelete = false, updatable = 0, hasPlaces = false } = columns[0] ?? {}
  const names = columns.map(({ name }) => `source.${quoteIdentifier(name)}`)
  const isUnique = key?.isUnique === true
  const rest = hasPlaces ? ['source.tableoid', 'source.ctid'] : [`row(${names.join(', ')})::text`]
  const order = [...(key ? [`source.${quoteIdentifier(key.name)}`] : []), ...(isUnique ? [] : rest)]
  const srid = layer.srid === 0 ? 4326 : layer.srid
  return {
    id,
    schema,
    table,
    layer,
    source: qualified(schema, table),
    geometry: geometrySql(layer),
    srid,
    systems: await offeredSystems(session, srid),
    geometryColumn,
    key,
    isUnique,
    order: order.join(', '),
    properties,
    time: properties.find(({ kind }) => TIMES.has(kind)) ?? null,
    may: {
      insert: key !== null && (updatable & INSERTS) !== 0 && columns.some(({ mayInsert }) => mayInsert),
      update: key !== null && (updatable & UPDATES) !== 0 && columns.some(({ mayUpdate }) => mayUpdate),
      delete: key !== null && (updatable & DELETES) !== 0 && mayDelete,
    },
  }
}

/** The properties of a collection. */
export interface CollectionProperties {
  readonly id: string
  readonly properties: readonly Pick<Column, 'name' | 'kind' | 'labels'>[]
}

/** The properties of all collections of some schemas, as far as the caller may read them. */
export async function listProperties(
  session: Queryable,
  schemas: readonly string[],
): Promise<readonly CollectionProperties[]> {
  const { rows } = await session.query<{ id: string; columns: Omit<Column, 'kind'>[] }>(
    `select n.nspname || '.' || c.relname as id,
       coalesce(json_agg(json_build_object('name', a.attname, 'typeName', t.typname,
         'labels', (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid))
         order by a.attnum) filter (where t.typname <> all ($2)), '[]') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     join pg_type t on t.oid = a.atttypid
     where n.nspname = any ($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select')
     group by 1 having bool_or(t.typname in ('geometry', 'geography')) order by 1`,
    [schemas, [...NEVER_SHOWN]],
  )
  return rows.map(({ id, columns }) => ({
    id,
    properties: columns.map(({ name, typeName, labels }) => ({ name, kind: KINDS[typeName] ?? 'other', labels })),
  }))
}
