import type { Filter } from '@terrane/map-style'
import { projectPath, request } from './api.ts'

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

/** A table name without the default schema. */
export function tableLabel(qualified: string): string {
  return qualified.replace(/^public\./, '')
}

export type Role = 'anon' | 'authenticated'

export function readTables(ref: string, signal?: AbortSignal): Promise<readonly Table[]> {
  return request('GET', projectPath(ref, '/tables'), undefined, signal)
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
  return request('GET', `${pathOf(ref, table)}/rows?${query.toString()}`, undefined, signal)
}

export function shareTable(ref: string, table: Table, role: Role, shared: boolean): Promise<void> {
  return shared
    ? request('POST', `${pathOf(ref, table)}/share`, { role })
    : request('DELETE', `${pathOf(ref, table)}/share/${role}`)
}

export function dropTable(ref: string, table: Table): Promise<void> {
  return request('DELETE', pathOf(ref, table))
}

/** Client code that reads the table. */
export function callOf(table: Table, language: 'supabase-js' | 'curl'): string {
  const { table_schema: schema, table_name: name } = table
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
