import { qualified, quoteLiteral, replaceNames } from '@terrane/core/sql-text'
import { NUMBERED_KEYS, type QuestionTable } from '@terrane/map-style/question'
import { projectPath, request } from './api.ts'

/** Types that a parameter may have. */
export const PARAMETER_TYPES = ['text', 'bigint', 'double precision', 'boolean', 'date', 'timestamptz'] as const

/** A value for `:name` in a statement. */
export interface SqlParameter {
  readonly name: string
  readonly type: (typeof PARAMETER_TYPES)[number]
  readonly value: string
}

/** A statement with its parameters. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly SqlParameter[]
}

export type Row = Readonly<Record<string, unknown>>

/** Result of a statement. */
export interface SqlResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly Row[]
  /** True when there are further rows. */
  readonly more: boolean
  /** The planner's estimate: cost in its own units, and number of rows. */
  readonly estimate: { readonly cost: number; readonly rows: number }
}

/** The first thousand rows of a statement. */
export function readStatement(ref: string, statement: Statement, signal?: AbortSignal): Promise<SqlResult> {
  return request('POST', projectPath(ref, '/sql/v1/rows'), statement, signal)
}

/** Stores the rows of a statement as a table. @param attribution of the data that the statement reads */
export function keepTable(
  ref: string,
  statement: Statement,
  name: string,
  attribution: string | null = null,
): Promise<{ table: string; rows: number }> {
  return request('POST', projectPath(ref, '/sql/v1/table'), { ...statement, name, attribution })
}

/** Keeps a statement as a function with its parameters, and as a view that maps show. Returns `schema.view`. */
export async function keepQuery(ref: string, statement: Statement, name: string): Promise<string> {
  const body = { ...statement, name }
  return (await request<{ view: string }>('POST', projectPath(ref, '/sql/v1/query'), body)).view
}

/** A kept query, with its parameters as SQL declares them. */
interface KeptQuery {
  readonly name: string
  readonly parameters: string
}

export function readKeptQueries(ref: string, signal?: AbortSignal): Promise<readonly KeptQuery[]> {
  return request('POST', projectPath(ref, '/sql/v1/queries'), {}, signal)
}

export async function removeQuery(ref: string, name: string): Promise<void> {
  await request('POST', projectPath(ref, '/sql/v1/remove'), { name })
}

/** The columns of a table with their SQL types. @param table `schema.table` */
export async function readColumns(ref: string, table: string, signal?: AbortSignal): Promise<SqlResult['columns']> {
  const dot = table.indexOf('.')
  const sql = `select * from ${qualified(table.slice(0, dot), table.slice(dot + 1))} limit 0`
  return (await readStatement(ref, { sql, parameters: [] }, signal)).columns
}

/** The geometry column with SRID 4326; null for none. */
export function geometryIn(columns: SqlResult['columns']): string | null {
  return columns.find(({ type }) => /^(\w+\.)?geometry\(\w+,4326\)$/.test(type))?.name ?? null
}

/** The columns of a table for a question. @param table `schema.table` */
export async function readQuestionTable(ref: string, table: string, signal?: AbortSignal): Promise<QuestionTable> {
  const columns = await readColumns(ref, table, signal)
  return { table, columns: columns.map(({ name }) => name), geometry: geometryIn(columns) }
}

/**
 * The table or view with a geometry that shares the most column names with a table; null when none shares one. Keys
 * that imports number do not count.
 *
 * @param table `schema.table`
 */
export async function bestPartner(ref: string, table: string, signal?: AbortSignal): Promise<string | null> {
  const sql = `select n.nspname || '.' || c.relname as name
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_attribute b on b.attrelid = pg_catalog.to_regclass(:table) and b.attnum > 0 and b.attname = a.attname
  and not (1 in (a.attnum, b.attnum) and a.attname in (${NUMBERED_KEYS.map(quoteLiteral).join(', ')}))
where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm') and c.oid <> b.attrelid
  and exists (select from pg_catalog.pg_attribute g where g.attrelid = c.oid and not g.attisdropped
    and g.atttypid = (select oid from pg_catalog.pg_type where typname = 'geometry' limit 1))
group by n.nspname, c.relname, c.oid
order by count(*) desc, c.oid desc limit 1`
  const dot = table.indexOf('.')
  const value = qualified(table.slice(0, dot), table.slice(dot + 1))
  const { rows } = await readStatement(ref, { sql, parameters: [{ name: 'table', type: 'text', value }] }, signal)
  return rows[0] ? String(rows[0]['name']) : null
}

/** The parameters in a statement, with their former types and values. */
export function parametersOf(sql: string, before: readonly SqlParameter[]): SqlParameter[] {
  const names = new Set<string>()
  replaceNames(sql, (name) => (names.add(name), null))
  return [...names].map((name) => before.find((one) => one.name === name) ?? { name, type: 'text', value: '' })
}

/** The rows as features; empty when no column has geometries. Geometries without an SRID are text. */
export function featuresOf({ columns, rows }: SqlResult): GeoJSON.FeatureCollection {
  const column = columns.find(({ type }) => /^(\w+\.)?geograph|^(\w+\.)?geometry/.test(type))?.name
  const features = rows.flatMap((row): GeoJSON.Feature[] => {
    if (column === undefined) return []
    const { [column]: geometry, ...properties } = row
    if (typeof geometry !== 'object' || geometry === null) return []
    return [{ type: 'Feature', properties, geometry: geometry as GeoJSON.Geometry }]
  })
  return { type: 'FeatureCollection', features }
}
