import type { Queryable } from '../database.ts'
import { tableNotFound } from '../errors.ts'

/** A column of a table or view, of a domain its base type. */
export interface ColumnFacts {
  readonly name: string
  /** Name of the type, of a domain its base type. */
  readonly type: string
  /** Total digits and decimal places of a bounded numeric. */
  readonly precision: number | null
  readonly scale: number | null
  readonly is_key: boolean
  readonly srid: number | null
  readonly geometry_type: string | null
}

/** Schemas of the platform and the server, which hold no map data. */
const HIDDEN_SCHEMAS: ReadonlySet<string> = new Set(['terrane', 'terrane_staging', 'information_schema', 'pg_catalog'])

/** Usual names of geometry columns; of several columns the first of these is chosen, else the first column. */
const USUAL_NAMES = ['geom', 'geometry', 'the_geom', 'wkb_geometry']

/** Columns of a table or view, and the server's estimate of its rows; null without one. @throws TABLE_NOT_FOUND */
export async function readTable(
  database: Queryable,
  schema: string,
  table: string,
): Promise<{ readonly columns: ColumnFacts[]; readonly rows: number | null }> {
  if (HIDDEN_SCHEMAS.has(schema)) throw tableNotFound({ schema, table })
  const { rows: relations } = await database.query<{ oid: number; rows: number }>(
    `select c.oid, c.reltuples as rows from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')`,
    [schema, table],
  )
  const relation = relations[0]
  if (!relation) throw tableNotFound({ schema, table })
  return { columns: await columnsOf(database, relation.oid), rows: relation.rows > 0 ? relation.rows : null }
}

/** The geometry column: the one with a usual name, else the first; null when there is none. */
export function chooseGeometry<Column extends Pick<ColumnFacts, 'name' | 'geometry_type'>>(
  columns: readonly Column[],
): Column | null {
  const candidates = columns.filter((column) => column.geometry_type !== null)
  const usual = USUAL_NAMES.map((name) => candidates.find((column) => column.name === name)).find((column) => column)
  return usual ?? candidates[0] ?? null
}

/** The columns of a relation that the session may read. */
async function columnsOf(database: Queryable, oid: number): Promise<ColumnFacts[]> {
  return await factsOf(
    database,
    `select a.attname, a.atttypid, a.atttypmod, coalesce(a.attnum = any (k.conkey), false), a.attnum
     from pg_attribute a left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'p'
     where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped and has_column_privilege(a.attrelid, a.attnum, 'select')`,
    [oid],
  )
}

/** A column of a statement's answer as the driver describes it. */
interface DescribedColumn {
  readonly name: string
  readonly dataTypeID: number
  readonly dataTypeModifier: number
}

/** The columns of a statement's answer. */
export async function describeColumns(
  database: Queryable,
  columns: readonly DescribedColumn[],
): Promise<ColumnFacts[]> {
  return await factsOf(
    database,
    'select name, type, modifier, false, place from unnest($1::text[], $2::oid[], $3::int4[]) with ordinality as c (name, type, modifier, place)',
    [
      columns.map(({ name }) => name),
      columns.map(({ dataTypeID }) => dataTypeID),
      columns.map(({ dataTypeModifier }) => dataTypeModifier),
    ],
  )
}

/** @param listed a statement with the name, type, type modifier, key flag and position of each column */
async function factsOf(database: Queryable, listed: string, values: readonly unknown[]): Promise<ColumnFacts[]> {
  const { rows } = await database.query<ColumnFacts>(
    `select listed.name, base.type,
       case when base.type = 'numeric' and base.modifier > 0 then ((base.modifier - 4) >> 16) & 65535 end as precision,
       case when base.type = 'numeric' and base.modifier > 0 then (base.modifier - 4) & 2047 end as scale, listed.is_key,
       case when base.type in ('geometry', 'geography') then postgis_typmod_srid(base.modifier) end as srid,
       case when base.type in ('geometry', 'geography') then postgis_typmod_type(base.modifier) end as geometry_type
     from (${listed}) as listed (name, type, modifier, is_key, place)
     cross join lateral (
       with recursive chain (oid, modifier) as (
         select listed.type, listed.modifier
         union all
         select d.typbasetype, d.typtypmod from chain join pg_type d on d.oid = chain.oid and d.typtype = 'd')
       select t.typname as type, chain.modifier from chain join pg_type t on t.oid = chain.oid and t.typtype <> 'd'
     ) base
     order by listed.place`,
    values,
  )
  return rows
}
