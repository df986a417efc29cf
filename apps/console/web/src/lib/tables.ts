import { qualified } from '@terrane/core/sql-text'
import type { Filter } from '@terrane/map-style'
import { get, projectPath, request } from './api.ts'
import { readStatement } from './sql.ts'

/** A table or view of the project. */
export interface Table {
  readonly table_schema: string
  readonly table_name: string
  readonly kind: 'table' | 'view' | 'embeddings'
  readonly geometry_type: string | null
  /** Row count estimated by the server; null when it has none. */
  readonly rows: number | null
  readonly bytes: number
  readonly job_id: string | null
  readonly task: string | null
  readonly attribution: string | null
  readonly licence: string | null
  readonly created_at: string | null
  readonly shared_with: readonly Role[]
}

/** A table name without the default schema `public`. */
export function tableLabel(table: string): string {
  return table.replace(/^public\./, '')
}

export type Role = 'anon' | 'authenticated'

export function readTables(ref: string, signal?: AbortSignal): Promise<readonly Table[]> {
  return get(projectPath(ref, '/tables'), signal)
}

export function readRows(
  ref: string,
  table: Pick<Table, 'table_schema' | 'table_name'>,
  how: {
    readonly offset: number
    readonly sort?: string
    readonly isDescending?: boolean
    readonly filters?: readonly Filter[]
  },
  signal?: AbortSignal,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { offset, sort, isDescending = false, filters = [] } = how
  const query = new URLSearchParams({ limit: '50', offset: String(offset) })
  if (sort !== undefined) query.set('sort', sort)
  if (isDescending) query.set('descending', 'true')
  if (filters.length > 0) query.set('filters', JSON.stringify(filters))
  return get(`${pathOf(ref, table)}/rows?${query.toString()}`, signal)
}

/** Columns of the primary key, and columns that cannot be changed as text; no key for views and tables without one. */
export interface TableKey {
  readonly key: readonly string[]
  readonly fixed: readonly string[]
}

/** @param table `schema.table`; the key is empty for schemas other than `public` */
export async function readTableKey(ref: string, table: string, signal?: AbortSignal): Promise<TableKey> {
  if (!table.startsWith('public.')) return { key: [], fixed: [] }
  // JSON, arrays, geometries and bytes cannot be edited as text.
  const sql = `select a.attname as name, coalesce(a.attnum = any (i.indkey), false) as is_key,
  a.attgenerated <> '' or a.attidentity = 'a' or t.typcategory not in ('B', 'D', 'E', 'I', 'N', 'S', 'T') and t.typname <> 'uuid' as is_fixed
from pg_catalog.pg_attribute a
join pg_catalog.pg_type t on t.oid = a.atttypid
left join pg_catalog.pg_index i on i.indrelid = a.attrelid and i.indisprimary
where a.attrelid = pg_catalog.to_regclass(:table) and a.attnum > 0 and not a.attisdropped`
  const parameters = [{ name: 'table', type: 'text', value: qualified('public', nameIn(table)) }] as const
  const { rows } = await readStatement(ref, { sql, parameters }, signal)
  const namesOf = (is: string) => rows.filter((row) => row[is] === true).map((row) => String(row['name']))
  return { key: namesOf('is_key'), fixed: [...namesOf('is_key'), ...namesOf('is_fixed')] }
}

const nameIn = (table: string) => table.slice(table.indexOf('.') + 1)

/** A change of one cell; values as text, null for none. */
export interface CellChange {
  readonly key: Readonly<Record<string, string>>
  readonly column: string
  readonly from: string | null
  readonly to: string | null
}

/**
 * Changes a cell and returns its stored value. Refused (409) when the cell no longer has the value `from`. @param table
 * `public.table`
 */
export function changeCell(ref: string, table: string, change: CellChange): Promise<{ readonly value: string | null }> {
  return request('PATCH', projectPath(ref, `/tables/public/${encodeURIComponent(nameIn(table))}/rows`), change)
}

export function shareTable(ref: string, table: Table, role: Role, shared: boolean): Promise<void> {
  return shared
    ? request('POST', `${pathOf(ref, table)}/share`, { role })
    : request('DELETE', `${pathOf(ref, table)}/share/${role}`)
}

export function dropTable(ref: string, table: Table): Promise<void> {
  return request('DELETE', pathOf(ref, table))
}

/** A word of a shell command, quoted if necessary. */
function word(text: string): string {
  return /^[\w.][\w.-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Client code that reads the table, or the command that writes its layers for QGIS. */
export function callOf(table: Table, language: 'supabase-js' | 'curl' | 'qgis'): string {
  const { table_schema: schema, table_name: name } = table
  if (language === 'qgis') {
    const of = schema === 'public' ? '' : ` --schema ${word(schema)}`
    return `terrane qgis ${word(name)}${of} --role service --file ${word(`${name}.qlr`)}`
  }
  if (language === 'curl') {
    const profile = schema === 'public' ? '' : ` -H "Accept-Profile: ${schema}"`
    return `curl "$PROJECT_URL/rest/v1/${name}?limit=10" -H "apikey: $ANON_KEY"${profile}`
  }
  return `const { data, error } = await supabase${schema === 'public' ? '' : `.schema('${schema}')`}.from('${name}').select('*').limit(10)`
}

/** Download formats of a table. */
export const FILE_FORMATS = ['GeoPackage', 'GeoJSON', 'GeoParquet', 'FlatGeobuf', 'CSV'] as const

/** URL of the table as a file for download. */
export function fileOf(ref: string, table: Table, format: (typeof FILE_FORMATS)[number]): string {
  return `${pathOf(ref, table)}/file?format=${format}`
}

function pathOf(
  ref: string,
  { table_schema: schema, table_name: name }: Pick<Table, 'table_schema' | 'table_name'>,
): string {
  return projectPath(ref, `/tables/${schema}/${encodeURIComponent(name)}`)
}
