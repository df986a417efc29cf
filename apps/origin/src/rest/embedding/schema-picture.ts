import type { Queryable } from '@terrane/database'
import { relationshipsOf, type CatalogFunction, type CatalogTable, type Relationship } from './relationships.ts'

/** What a role sees of the tables that may be embedded. */
export interface SchemaPicture {
  /** Relationships from a table. */
  from(schema: string, table: string): readonly Relationship[]
  /** Names of a table's columns, in order; empty for an unknown one. */
  columns(schema: string, table: string): readonly string[]
}

const TEMPORARY = "array(select oid from pg_class where relpersistence = 't')"

/**
 * The stamp changes whenever a table, a column, a key, a view, a function, a grant or a membership does. It is not computed
 * where the snapshot is that of $1: since then no transaction has ended that changed anything.
 */
const STAMP = `
  select pg_current_snapshot()::text as snapshot, case when pg_current_snapshot()::text = $1 then null else concat_ws(' ',
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_namespace where nspname !~ '^pg_(toast_)?temp_'),
    (select concat_ws('.', count(*), sum(c.xmin::text::bigint)) from pg_class c where c.oid >= 16384 and c.relpersistence <> 't' and c.relkind in ('r', 'p', 'v', 'm', 'f')),
    (select concat_ws('.', count(*), sum(a.xmin::text::bigint)) from pg_attribute a where a.attrelid >= 16384 and a.attnum > 0 and a.attrelid <> all (${TEMPORARY})),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_constraint where conrelid <> all (${TEMPORARY})),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_rewrite where oid >= 16384),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_proc where oid >= 16384 and pronargs = 1),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_auth_members)) end as stamp`

const TABLES = `
  select c.oid::text as id, n.nspname as schema, c.relname as name, c.relkind in ('v', 'm') as "isView",
    n.nspname = any ($1) and has_schema_privilege(n.oid, 'usage') as "isOpen",
    (select coalesce(json_agg(json_build_object('number', a.attnum, 'name', a.attname,
        'isReadable', has_column_privilege(c.oid, a.attnum, 'select')) order by a.attnum), '[]')
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    (select to_json(k.conkey) from pg_constraint k where k.conrelid = c.oid and k.contype = 'p') as key,
    (select json_agg(json_build_object('name', k.conname, 'columns', k.conkey, 'target', k.confrelid::text, 'targetColumns', k.confkey,
        'isUnique', exists (select from pg_constraint u where u.conrelid = c.oid and u.contype in ('p', 'u')
          and u.conkey @> k.conkey and u.conkey <@ k.conkey)) order by k.conname)
      from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0) as "references",
    case when c.relkind in ('v', 'm') then (select r.ev_action::text from pg_rewrite r where r.ev_class = c.oid and r.rulename = '_RETURN') end as rule
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and n.nspname !~ '^(pg_|information_schema$)'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by c.oid`

const FUNCTIONS = `
  select n.nspname as schema, p.proname as name, a.typrelid::text as table, r.typrelid::text as target,
    not p.proretset or p.prorows = 1 as "isSingle"
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    join pg_type a on a.oid = p.proargtypes[0] join pg_type r on r.oid = p.prorettype
  where p.pronargs = 1 and p.prokind = 'f' and a.typtype = 'c' and r.typtype = 'c' and n.nspname = any ($1)
    and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')
  order by n.nspname, p.proname`

/** Most roles whose pictures are kept. */
const MAX_ROLES = 16

/** Keeps what each role sees of the exposed schemas until the schema, a grant or a membership changes. */
export class SchemaPictures {
  readonly #schemas: readonly string[]
  /** Pictures that are being read, by role and stamp: requests at one time read one. */
  readonly #reading = new Map<string, Promise<SchemaPicture>>()
  readonly #pictures = new Map<string, { snapshot: string; stamp: string; picture: SchemaPicture }>()

  constructor(schemas: readonly string[]) {
    this.#schemas = schemas
  }

  /** The picture of a role; the session has taken the role. */
  async read(session: Queryable, role: string): Promise<SchemaPicture> {
    const kept = this.#pictures.get(role)
    const { rows } = await session.query<{ snapshot: string; stamp: string | null }>(STAMP, [kept?.snapshot ?? ''])
    const { snapshot, stamp } = rows[0] as { snapshot: string; stamp: string | null }
    // Another request may have read it in the meantime.
    const valid = stamp === null ? kept : this.#pictures.get(role)
    if (valid && (stamp === null || stamp === valid.stamp)) {
      this.#pictures.set(role, { ...valid, snapshot })
      return valid.picture
    }
    const key = id(role, stamp ?? '')
    const shared = this.#reading.get(key)
    // One that fails, as its request ends, is read again.
    const read = shared && (await shared.catch(() => null))
    if (read) return read
    const reading = this.#readTables(session)
    this.#reading.set(key, reading)
    const picture = await reading.finally(() => this.#reading.delete(key))
    if (this.#pictures.size >= MAX_ROLES) this.#pictures.clear()
    this.#pictures.set(role, { snapshot, stamp: stamp ?? '', picture })
    return picture
  }

  async #readTables(session: Queryable): Promise<SchemaPicture> {
    const schemas = [[...this.#schemas]]
    const tables = await session.query<CatalogTable & object>(TABLES, schemas)
    const functions = await session.query<CatalogFunction & object>(FUNCTIONS, schemas)
    return pictureOf(tables.rows, functions.rows)
  }
}

function id(schema: string, name: string): string {
  return JSON.stringify([schema, name])
}

function pictureOf(tables: readonly CatalogTable[], functions: readonly CatalogFunction[]): SchemaPicture {
  const named = new Map(tables.map((table) => [id(table.schema, table.name), table]))
  const relationships = Map.groupBy(relationshipsOf(tables, functions), ({ table }) => table)
  return {
    from: (schema, name) => relationships.get(named.get(id(schema, name)) as CatalogTable) ?? [],
    columns: (schema, name) => named.get(id(schema, name))?.columns.map((column) => column.name) ?? [],
  }
}
