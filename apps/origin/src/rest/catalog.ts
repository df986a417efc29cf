import type { Queryable } from '@terrane/database'
import { argumentsOf, type Argument } from './functions.ts'

/** A table or view of an exposed schema, within the caller's rights. */
export interface Relation {
  readonly name: string
  readonly comment: string | null
  readonly columns: readonly Column[]
  /** Rights of the caller on the relation. */
  readonly may: { readonly read: boolean; readonly insert: boolean; readonly update: boolean; readonly delete: boolean }
}

export interface Column {
  readonly name: string
  /** SQL text of the type, `character varying(20)` for one. */
  readonly type: string
  /** The labels of an enum; null for other types. */
  readonly labels: readonly string[] | null
  readonly nullable: boolean
  /** True when a new row must have a value for it. */
  readonly required: boolean
  /** SQL text of the default. */
  readonly default: string | null
  readonly comment: string | null
  readonly primaryKey: boolean
  /** The table and column that it refers to. */
  readonly refersTo: { readonly table: string; readonly column: string } | null
}

/** A function that the caller may call. Overloads are listed separately. */
export interface Routine {
  readonly name: string
  readonly comment: string | null
  readonly args: readonly Argument[]
  /** SQL type of the result; with `setof` for several rows. */
  readonly result: string
  readonly readOnly: boolean
}

/** The tables and functions of a schema that a caller may use. */
export interface SchemaCatalog {
  readonly schema: string
  readonly relations: readonly Relation[]
  readonly routines: readonly Routine[]
}

const RELATIONS = `
  select c.relname as name, obj_description(c.oid, 'pg_class') as comment,
    json_build_object(
      'read', has_any_column_privilege(c.oid, 'select'),
      'insert', c.relkind <> 'm' and has_any_column_privilege(c.oid, 'insert'),
      'update', c.relkind <> 'm' and has_any_column_privilege(c.oid, 'update'),
      'delete', c.relkind <> 'm' and has_table_privilege(c.oid, 'delete')) as may,
    (select json_agg(json_build_object(
        'name', a.attname,
        'type', format_type(a.atttypid, a.atttypmod),
        'labels', (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = a.atttypid),
        'nullable', not a.attnotnull,
        'required', a.attnotnull and d.adbin is null and a.attidentity = '',
        'default', pg_get_expr(d.adbin, d.adrelid),
        'comment', col_description(c.oid, a.attnum),
        'primaryKey', exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p' and a.attnum = any (k.conkey)),
        'refersTo', (select json_build_object('table', f.relname, 'column', fa.attname)
          from pg_constraint k join pg_class f on f.oid = k.confrelid
          join pg_attribute fa on fa.attrelid = k.confrelid and fa.attnum = k.confkey[array_position(k.conkey, a.attnum)]
          where k.conrelid = c.oid and k.contype = 'f' and a.attnum = any (k.conkey) order by k.conname limit 1)
      ) order by a.attnum)
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       and has_column_privilege(c.oid, a.attnum, 'select, insert, update')) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm', 'f') and has_schema_privilege(n.oid, 'usage')
    and (has_any_column_privilege(c.oid, 'select, insert, update') or has_table_privilege(c.oid, 'delete'))
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by c.relname`

const ROUTINES = `
  select p.proname as name, obj_description(p.oid, 'pg_proc') as comment, p.provolatile <> 'v' as "readOnly",
    pg_get_function_result(p.oid) as result, p.pronargdefaults as defaults,
    array(select format_type(a.oid, null) from unnest(p.proargtypes) with ordinality a(oid, i) order by a.i) as types,
    p.proargnames as names, p.proargmodes::text[] as modes
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.prokind = 'f' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
    and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')
    and (p.proname = any ($2) or not exists (
      select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'))
  order by p.proname, p.oid`

/** Reads the catalog of a schema; to be run under the caller's role. */
export async function readCatalog(
  session: Queryable,
  schema: string,
  extensionFunctions: readonly string[],
): Promise<SchemaCatalog> {
  const relations = await session.query<Relation & { columns: Column[] | null }>(RELATIONS, [schema])
  const routines = await session.query<RoutineRow>(ROUTINES, [schema, [...extensionFunctions]])
  return {
    schema,
    relations: relations.rows.map((relation) => ({ ...relation, columns: relation.columns ?? [] })),
    routines: routines.rows.map((row) => ({ ...row, args: argumentsOf(row) })),
  }
}

type RoutineRow = Omit<Routine, 'args'> & Parameters<typeof argumentsOf>[0]
