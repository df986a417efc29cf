import { qualified, type Database, type Queryable, type Session } from '@terrane/database'
import { bulkLoad, type Column } from '@terrane/database/bulk-load'
import { STAGING_SCHEMA, stagedTable, type JobRun, type StagedTable } from '@terrane/database/staging'
import type { Page, PageKind, PageStore } from '@terrane/osm/updates'

/** Schema of the tables of pages; only its owner has rights there. */
export const PAGES_SCHEMA = 'terrane'

const COLUMNS: readonly Column[] = [
  { name: 'kind', type: 'int2' },
  { name: 'page', type: 'int8' },
  { name: 'part', type: 'int4' },
  { name: 'data', type: 'bytea' },
]
/** Pages per query; a page has about 2 KB. */
const PAGES_AT_ONCE = 5000

/** The table of pages of an import, named after its job. */
export function stagedPages(run: JobRun, index: number): StagedTable {
  return stagedTable(run, index, PAGES_SCHEMA, `osm_pages_${run.jobId.replaceAll('-', '')}`)
}

export async function createPages(database: Queryable, { staging }: StagedTable): Promise<void> {
  const table = qualified(STAGING_SCHEMA, staging)
  const columns = COLUMNS.map(({ name, type }) => `${name} ${type} not null`).join(', ')
  // Pages up to 8 KB are stored in the row itself.
  await database.query(
    `drop table if exists ${table}; create table ${table} (${columns}); alter table ${table} alter data set storage main`,
  )
}

/** Adds the key of a loaded table of pages, if it is not there yet. */
export async function finishPages(database: Queryable, { staging }: StagedTable): Promise<void> {
  const table = qualified(STAGING_SCHEMA, staging)
  await database.query(
    `alter table ${table} add constraint ${staging}_pkey primary key (kind, page, part); analyze ${table}`,
  )
}

export async function loadPages(database: Database, { staging }: StagedTable, pages: readonly Page[]): Promise<void> {
  const rows = pages.map(({ kind, page, part, data }) => [kind, page, part, data])
  await bulkLoad(database, { schema: STAGING_SCHEMA, table: staging, columns: COLUMNS }, [rows])
}

/** Replaces pages of the import by those of a staging table. */
export async function mergePages(session: Session, { staging }: StagedTable, table: string): Promise<void> {
  const [source, target] = [qualified(STAGING_SCHEMA, staging), qualified(PAGES_SCHEMA, table)]
  await session.query(
    `delete from ${target} t using ${source} s
       where t.kind = s.kind and t.page = s.page and (t.part <> 0 or length(s.data) = 0);
     insert into ${target} (kind, page, part, data) select kind, page, part, data from ${source} where length(data) > 0
       on conflict (kind, page, part) do update set data = excluded.data`,
  )
}

/** The pages of an import. */
export function pageStore(database: Queryable, table: string): PageStore {
  return {
    async read(kind: PageKind, pages: readonly number[]) {
      const found: { page: number; data: Uint8Array }[] = []
      for (let at = 0; at < pages.length; at += PAGES_AT_ONCE) {
        const { rows } = await database.query<{ page: number; data: Uint8Array }>(
          `select page, data from ${qualified(PAGES_SCHEMA, table)} where kind = $1 and page = any($2::int8[])`,
          [kind, pages.slice(at, at + PAGES_AT_ONCE)],
        )
        found.push(...rows)
      }
      return found
    },
  }
}
