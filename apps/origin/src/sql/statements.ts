import { quoteIdentifier, quoteLiteral, type Session } from '@terrane/database'
import { describeStatement, type StatementColumn } from './describe-statement.ts'
import { replaceParameters, withValues, type SqlParameter } from './parameters.ts'

/** A statement and the values of its parameters. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly SqlParameter[]
}

/** What the planner expects: its cost in its own units, and rows. */
interface Estimate {
  readonly cost: number
  readonly rows: number
}

/** Most bytes of rows that are read, as the server stores them. */
const READ_BYTES = 16 << 20
/** Most rows that become a table. */
const MOST_TABLE_ROWS = 2_000_000

/** What the planner expects of a statement, which is not run. */
export async function planStatement(session: Session, { sql, parameters }: Statement): Promise<Estimate> {
  const { text, args } = withValues(sql, parameters)
  await describeStatement(session, text)
  const { rows } = await session.query<{ plan: readonly { Plan: { 'Total Cost': number; 'Plan Rows': number } }[] }>(
    'select plan from geoembeddings.query_plan($1, $2) as plan',
    [text, args],
  )
  const { Plan: plan } = rows[0]!.plan[0]!
  return { cost: plan['Total Cost'], rows: plan['Plan Rows'] }
}

/**
 * Reads the first rows of a statement as JSON text: `columns`, `rows`, whether there are `more`, and the `estimate`.
 * Geometries are GeoJSON in degrees; whole numbers that JavaScript cannot hold are text.
 */
export async function readStatement(session: Session, statement: Statement, limit: number): Promise<string> {
  const estimate = await planStatement(session, statement)
  const { text, args } = withValues(statement.sql, statement.parameters)
  const columns = await describeStatement(session, text)
  const types = await typesOf(session, columns)
  const values = columns.map(
    ({ name }, i) => `${valueOf(`q.${quoteIdentifier(name)}`, types[i]!)} as ${quoteIdentifier(name)}`,
  )
  const { rows } = await session.query<{ row: string }>(
    `select row_to_json(v)::text as row from geoembeddings.query_rows($1, $2, $3, $4) as q(${definitions(columns, types)}), lateral (select ${values.join(', ')}) v`,
    [text, args, limit + 1, READ_BYTES],
  )
  const listed = columns.map(({ name }, i) => ({ name, type: types[i] }))
  const about = { columns: listed, more: rows.length > limit, estimate }
  const list = rows.slice(0, limit).map(({ row }) => row)
  return `${JSON.stringify(about).slice(0, -1)},"rows":[${list.join(',')}]}`
}

/** Keeps the rows of a statement as a table of `public`; returns their number. */
export async function keepTable(session: Session, { sql, parameters }: Statement, name: string): Promise<number> {
  const { text, args } = withValues(sql, parameters)
  const columns = await describeStatement(session, text)
  const { rows } = await session.query<{ rows: number }>(
    'select geoembeddings.table_from_query($1, $2, $3, $4, $5)::float8 as rows',
    [text, args, JSON.stringify(columns), name, MOST_TABLE_ROWS],
  )
  return rows[0]!.rows
}

/** Keeps a statement as a function of `public`; returns the names of the functions: its own, and that of its tiles where there is one. */
export async function keepQuery(
  session: Session,
  { sql, parameters }: Statement,
  name: string,
): Promise<readonly string[]> {
  const columns = await describeStatement(session, withValues(sql, parameters).text)
  const { rows: types } = await session.query<{ oid: number }>(
    `select t.name::regtype::oid as oid from unnest($1::text[]) with ordinality as t(name, i) order by t.i`,
    [parameters.map(({ type }) => type)],
  )
  const given = parameters.map(({ name: parameter, value }, i) => ({
    name: parameter,
    oid: types[i]!.oid,
    default: value,
  }))
  const text = replaceParameters(sql, parameters, (_, i) => `$${i + 1}`)
  const { rows } = await session.query<{ made: string[] }>('select geoembeddings.save_query($1, $2, $3, $4) as made', [
    text,
    JSON.stringify(given),
    JSON.stringify(columns),
    name,
  ])
  return rows[0]!.made
}

/** The queries that were kept: names, arguments, and whether they give tiles. */
export async function listQueries(session: Session): Promise<readonly object[]> {
  const { rows } = await session.query(
    `select p.proname as name, pg_get_function_arguments(p.oid) as arguments, substr(obj_description(p.oid, 'pg_proc'), 15) as sql,
       exists (select from pg_proc t where t.pronamespace = p.pronamespace and t.proname = p.proname || '_tiles') as has_tiles
     from pg_proc p where p.pronamespace = 'public'::regnamespace and obj_description(p.oid, 'pg_proc') like 'terrane:query %' order by 1`,
  )
  return rows
}

async function typesOf(session: Session, columns: readonly StatementColumn[]): Promise<readonly string[]> {
  const { rows } = await session.query<{ type: string }>(
    `select format_type((c ->> 'oid')::oid, (c ->> 'typmod')::integer) as type
     from json_array_elements(${quoteLiteral(JSON.stringify(columns.map(({ oid, typmod }) => ({ oid, typmod }))))}) with ordinality as e(c, i) order by i`,
  )
  return rows.map(({ type }) => type)
}

function definitions(columns: readonly StatementColumn[], types: readonly string[]): string {
  return columns.map(({ name }, i) => `${quoteIdentifier(name)} ${types[i]}`).join(', ')
}

function valueOf(column: string, type: string): string {
  if (/^(?:\w+\.)?geography/.test(type)) return `st_asgeojson(${column})::json`
  if (/^(?:\w+\.)?geometry/.test(type))
    return `st_asgeojson(case when st_srid(${column}) in (0, 4326) then ${column} else st_transform(${column}, 4326) end)::json`
  return /^(?:bigint|numeric)/.test(type)
    ? `case when length(${column}::text) > 15 then to_json(${column}::text) else to_json(${column}) end`
    : column
}
