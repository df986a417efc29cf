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

const FIRST_PAGES = 64
const MOST_PAGES = 8192
/** Target duration of a slice, in milliseconds. */
const SLICE_MS = 500

/** State of a table at the start of a sliced scan. */
interface TableState {
  /** Changes when the table is replaced, rewritten or truncated. */
  readonly file: string
  /** Rows updated or deleted so far, also by transactions that were rolled back. */
  readonly changes: string
}

/**
 * Slices of a table by pages for the embedded database, whose one session is free between two slices. A slice has the
 * rows that were committed when the scan began. Updates and deletions lose such rows, so they end the scan.
 */
export class TableSlices {
  readonly #source: TableSource
  readonly #state: TableState
  readonly #pages: number
  /** First transaction after the start of the scan. */
  readonly #horizon: string
  #next = 0
  #step = FIRST_PAGES

  /** Null for views, tables with children, and callers that may read some columns only. */
  static async of(database: Queryable, source: TableSource): Promise<TableSlices | null> {
    const { rows } = await database.query<TableState & { pages: number; horizon: string }>(
      `select ${STATE}, (pg_relation_size(c.oid) / current_setting('block_size')::int)::int as pages,
         (pg_snapshot_xmax(pg_current_snapshot())::text::numeric % 4294967296)::text as horizon
       from pg_class c where c.oid = to_regclass($1) and c.relkind in ('r', 'm') and not c.relhassubclass and has_table_privilege(c.oid, 'select')`,
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
    this.#pages = pages
    this.#horizon = horizon
  }

  /** SQL after FROM of the next slice; null after the last one. */
  next(): string | null {
    if (this.#next >= this.#pages) return null
    const [first, past] = [this.#next, this.#next + this.#step]
    this.#next = past
    const { alias, where } = this.#source
    const pages = `${alias}.ctid >= '(${first},0)' and ${alias}.ctid < '(${past},0)'`
    // A condition, not a subquery: functions of the row's type stay columns of it.
    return `${wholeSql(this.#source)}${where === '' ? ' where' : ' and'} ${pages} and age(${alias}.xmin) > age('${this.#horizon}'::xid)`
  }

  /** Adapts the size of the following slices to the duration of the last one. */
  took(ms: number): void {
    if (ms > SLICE_MS) this.#step = Math.max(1, this.#step >> 1)
    else if (ms < SLICE_MS / 4) this.#step = Math.min(MOST_PAGES, this.#step << 1)
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
const STATE = `c.oid || '/' || pg_relation_filenode(c.oid) as file, (${['updated', 'deleted']
  .map((kind) => `pg_stat_get_tuples_${kind}(c.oid) + pg_stat_get_xact_tuples_${kind}(c.oid)`)
  .join(' + ')})::text as changes`
