import type { Queryable } from '../database.ts'
import { tableChanged } from '../errors.ts'

/** A table that may be read in slices of its pages. */
export interface TableSource {
  /** Qualified and quoted. */
  readonly table: string
  /** Quoted name of its rows. */
  readonly alias: string
  /** ` where …`, to which conditions can be added by `and`; empty for all rows. */
  readonly where: string
}

/** SQL after FROM, or a table that may be read in slices. */
export type ScanSource = string | TableSource

/** SQL after FROM that reads the whole source. */
export function wholeSql(source: ScanSource): string {
  return typeof source === 'string' ? source : `${source.table} as ${source.alias}${source.where}`
}

const FIRST_PAGES = 16
const MOST_PAGES = 8192
/** Target duration of a slice, in milliseconds. */
const SLICE_MS = 500

/** State of a table at the start of a sliced scan. */
interface TableState {
  /** Changes when the table is replaced, rewritten or truncated, and when the server starts, which may lose counts. */
  readonly file: string
  /** Rows updated or deleted so far, also by transactions that were rolled back. */
  readonly changes: string
}

/** Slices of a table as it was at the start, so that others run in between; updates and deletions end the scan. */
export class TableSlices {
  readonly #source: TableSource
  readonly #state: TableState
  readonly #pages: number
  /** First transaction after the start of the scan. */
  readonly #horizon: string
  #next = 0
  #step = FIRST_PAGES

  /** Null for views, tables with children, callers of some columns only, and policies that read other tables. */
  static async of(database: Queryable, source: TableSource): Promise<TableSlices | null> {
    const { rows } = await database.query<TableState & { pages: number; horizon: string }>(
      `select ${STATE}, (pg_relation_size(c.oid) / current_setting('block_size')::int)::int as pages,
         (pg_snapshot_xmax(pg_current_snapshot())::text::numeric % 4294967296)::text as horizon
       from pg_class c where c.oid = to_regclass($1) and c.relkind in ('r', 'm') and not c.relhassubclass
         and has_table_privilege(c.oid, 'select') and not (row_security_active(c.oid) and ${READS_OTHERS})`,
      [source.table],
    )
    return rows[0] ? new TableSlices(source, rows[0]) : null
  }

  private constructor(
    source: TableSource,
    { pages, horizon, ...state }: TableState & { pages: number; horizon: string },
  ) {
    this.#source = source
    this.#state = state
    // An empty table is read as well, so that the server can refuse an invalid condition.
    this.#pages = Math.max(1, pages)
    this.#horizon = horizon
  }

  /** SQL after FROM of the next slice; null after the last one. */
  next(): string | null {
    if (this.#next >= this.#pages) return null
    const [first, past] = [this.#next, this.#next + this.#step]
    this.#next = past
    const { table, alias, where } = this.#source
    // `only` excludes tables that become children of this one meanwhile.
    const rows = wholeSql({ table: `only ${table}`, alias, where })
    const pages = `${alias}.ctid >= '(${first},0)' and ${alias}.ctid < '(${past},0)'`
    // The slice is a condition and not a subquery, so that functions of the row type can still be used as columns.
    return `${rows}${where === '' ? ' where' : ' and'} ${pages} and age(${alias}.xmin) not between 0 and age('${this.#horizon}'::xid)`
  }

  /** Adapts the size of the following slices to the duration of the last one, in milliseconds. */
  took(ms: number): void {
    this.#step = Math.min(MOST_PAGES, Math.max(1, Math.round(this.#step * Math.min(4, SLICE_MS / ms))))
  }

  /** Call after each slice. @throws TABLE_CHANGED */
  async check(database: Queryable): Promise<void> {
    const { table } = this.#source
    const { rows } = await database.query<TableState>(`select ${STATE} from pg_class c where c.oid = to_regclass($1)`, [
      table,
    ])
    const now = rows[0]
    if (now?.file !== this.#state.file || now.changes !== this.#state.changes) throw tableChanged({ table })
  }
}

/** Counts of the running backend are added, because they reach the statistics later. */
const STATE = `concat_ws('/', c.oid, pg_relation_filenode(c.oid), pg_postmaster_start_time()) as file, (${[
  'updated',
  'deleted',
]
  .map((kind) => `pg_stat_get_tuples_${kind}(c.oid) + pg_stat_get_xact_tuples_${kind}(c.oid)`)
  .join(' + ')})::text as changes`

/** Whether policies of a table name another table, or a function that may read one. */
const READS_OTHERS = `exists (select from pg_policy p join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid
  left join pg_proc f on d.refclassid = 'pg_proc'::regclass and f.oid = d.refobjid
  where p.polrelid = c.oid and (d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
    or f.provolatile <> 'i'))`
