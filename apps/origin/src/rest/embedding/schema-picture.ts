import type { Queryable } from '@terrane/database'
import { RestError } from '../errors.ts'
import { relationshipsOf, type CatalogFunction, type CatalogTable, type Relationship } from './relationships.ts'

/** The tables and relationships that a role can embed. */
export interface SchemaPicture {
  /** Relationships from a table. */
  from(schema: string, table: string): readonly Relationship[]
  /** Names of a table's columns, in order; empty for an unknown one. */
  columns(schema: string, table: string): readonly string[]
}

const TEMPORARY = "array(select oid from pg_class where relpersistence = 't')"

/** Changes with tables, columns, keys, views, functions, grants, members; null if no change ended since snapshot $1. */
const STAMP = `
  select pg_current_snapshot()::text as snapshot, case when pg_current_snapshot()::text = $1 then null else concat_ws(' ',
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_namespace where nspname !~ '^pg_(toast_)?temp_'),
    (select concat_ws('.', count(*), sum(c.xmin::text::bigint)) from pg_class c where c.oid >= 16384 and c.relpersistence <> 't' and c.relkind in ('r', 'p', 'v', 'm', 'f')),
    (select concat_ws('.', count(*), sum(a.xmin::text::bigint)) from pg_attribute a where a.attrelid >= 16384 and a.attnum > 0 and a.attrelid <> all (${TEMPORARY})),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_constraint where conrelid <> all (${TEMPORARY})),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_rewrite where oid >= 16384),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_proc where oid >= 16384 and pronargs = 1),
    (select concat_ws('.', count(*), sum(xmin::text::bigint)) from pg_auth_members)) end as stamp`

/** Tables of the exposed schemas, and tables that their views show; only these can have relationships. */
const REACHED = `
  with recursive reached (id) as (
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any ($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
    union
    select d.refobjid from reached join pg_rewrite r on r.ev_class = reached.id and r.rulename = '_RETURN'
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
  )`

const TABLES = `${REACHED}
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
  where c.oid in (select id from reached) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and n.nspname !~ '^(pg_|information_schema$)'
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

/** Maximum roles whose schema is cached. */
const MAX_ROLES = 16
/** Limits of reading the tables, not the caller's: others use the result. The cache takes three times `bytes`. */
const BOUNDS = { ms: 20_000, bytes: 12 * 1024 * 1024 }
const KEPT_SHARE = 3
/** Milliseconds before a failed read is tried again for its role. */
const FAILED_MS = 10_000

/** Bytes of the result of {@link TABLES} as the catalog stores it; views are parse trees. */
const SIZE = `${REACHED}
  select (select coalesce(sum(octet_length(ev_action::text)), 0) from pg_rewrite
      where ev_class in (select id from reached) and rulename = '_RETURN')
    + (select count(*) * 90 from pg_attribute a join pg_class c on c.oid = a.attrelid
       where a.attrelid in (select id from reached) and a.attnum > 0 and not a.attisdropped
         and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition) as bytes`

/** Caches each role's view of the exposed schemas until the schema, a grant or a membership changes. */
export class SchemaPictures {
  readonly #schemas: readonly string[]
  readonly #bounds: typeof BOUNDS
  /** Running reads by role and stamp; concurrent requests share one. */
  readonly #reading = new Map<string, Promise<Picture>>()
  readonly #pictures = new Map<string, { snapshot: string; stamp: string; picture: Picture }>()
  /** Roles and stamps whose read failed, with the time of the next try (`performance.now`). */
  readonly #failed = new Map<string, { readonly until: number; readonly error: RestError }>()

  constructor(schemas: readonly string[], bounds = BOUNDS) {
    this.#schemas = schemas
    this.#bounds = bounds
  }

  /** The picture of the session's role. @throws PGRST002 for a schema that takes more than 20 s or 12 MiB */
  async read(session: Queryable, role: string): Promise<SchemaPicture> {
    const kept = this.#pictures.get(role)
    const { rows } = await session.query<{ snapshot: string; stamp: string | null }>(STAMP, [kept?.snapshot ?? ''])
    const { snapshot, stamp } = rows[0] as { snapshot: string; stamp: string | null }
    // Another request may have read it meanwhile.
    const valid = stamp === null ? kept : this.#pictures.get(role)
    if (valid && (stamp === null || stamp === valid.stamp)) {
      this.#keep(role, { ...valid, snapshot })
      return valid.picture
    }
    const key = id(role, stamp ?? '')
    this.#refuseFailed(key)
    const shared = this.#reading.get(key)
    // A shared read may fail because its own request ends; then it is repeated here.
    const read = shared && (await shared.catch(() => null))
    if (read) return read
    this.#refuseFailed(key)
    const reading = this.#readTables(session).catch((error: unknown) => {
      throw this.#refused(key, error)
    })
    this.#reading.set(key, reading)
    const picture = await reading.finally(() => this.#reading.delete(key))
    this.#keep(role, { snapshot, stamp: stamp ?? '', picture })
    return picture
  }

  /** Caches a schema as the newest one, and removes the oldest ones beyond the maximum. */
  #keep(role: string, kept: { snapshot: string; stamp: string; picture: Picture }): void {
    this.#pictures.delete(role)
    this.#pictures.set(role, kept)
    let bytes = [...this.#pictures.values()].reduce((sum, { picture }) => sum + picture.bytes, 0)
    for (const [oldest, { picture }] of this.#pictures) {
      if (this.#pictures.size <= MAX_ROLES && bytes <= KEPT_SHARE * this.#bounds.bytes) return
      bytes -= picture.bytes
      this.#pictures.delete(oldest)
    }
  }

  async #readTables(session: Queryable): Promise<Picture> {
    const schemas = [[...this.#schemas]]
    const { rows } = await session.query<{ ms: string }>(
      `select current_setting('statement_timeout') as ms, set_config('statement_timeout', $1, true)`,
      [String(this.#bounds.ms)],
    )
    const { rows: sizes } = await session.query<{ bytes: number }>(SIZE, schemas)
    const bytes = Number(sizes[0]?.bytes)
    if (bytes > this.#bounds.bytes)
      throw unreadable(`its tables and views take ${bytes} of ${this.#bounds.bytes} bytes`)
    const tables = await session.query<CatalogTable & object>(TABLES, schemas)
    const functions = await session.query<CatalogFunction & object>(FUNCTIONS, schemas)
    await session.query(`select set_config('statement_timeout', $1, true)`, [rows[0]!.ms])
    return { ...pictureOf(tables.rows, functions.rows), bytes }
  }

  #refuseFailed(key: string): void {
    const failed = this.#failed.get(key)
    if (failed && failed.until > performance.now()) throw failed.error
  }

  /** Stores the error of a read that exceeded its limits for a while; other errors are returned unchanged. */
  #refused(key: string, error: unknown): unknown {
    const { code } = error as { code?: string }
    const isLate = code === '57014'
    const own = isLate ? unreadable(`reading its tables took longer than ${this.#bounds.ms / 1000} s`) : error
    if (own instanceof RestError) {
      if (this.#failed.size >= MAX_ROLES) this.#failed.clear()
      this.#failed.set(key, { until: performance.now() + FAILED_MS, error: own })
    }
    return own
  }
}

/** A schema description, and its size in the catalog in bytes. */
type Picture = SchemaPicture & { readonly bytes: number }

function unreadable(details: string): RestError {
  return new RestError(503, 'PGRST002', 'Could not read the schema for embedded tables', {
    details,
    hint: 'Ask for the tables one by one, or expose fewer tables and views. Schemas that are not exposed do not count.',
  })
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
