import { quoteIdentifier, quoteLiteral, type Session } from '@terrane/database'
import { describeStatement, type StatementColumn } from './describe-statement.ts'
import { noSuchQuery } from './errors.ts'
import { withValues, type SqlParameter } from './parameters.ts'

/** A statement and the values of its parameters. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly SqlParameter[]
}

/** The planner's estimate: cost in its own units, and number of rows. */
interface Estimate {
  readonly cost: number
  readonly rows: number
}

/** Maximum bytes of the rows that are read, as text of the server. */
const READ_BYTES = 16 << 20
/** Maximum rows of a new table. */
const MOST_TABLE_ROWS = 2_000_000
/** Maximum rows of a kept query, and their bytes as text of the server. */
const MOST_KEPT_ROWS = 100_000
const KEPT_BYTES = 64 << 20

/** The planner's estimate of a statement, without running it. */
export async function planStatement(session: Session, { sql, parameters }: Statement): Promise<Estimate> {
  const { text, args } = withValues(sql, parameters)
  await describeStatement(session, text)
  const { rows } = await session.query<{ plan: readonly { Plan: { 'Total Cost': number; 'Plan Rows': number } }[] }>(
    'select plan from terrane.query_plan($1, $2) as plan',
    [text, args],
  )
  const { Plan: plan } = rows[0]!.plan[0]!
  return { cost: plan['Total Cost'], rows: plan['Plan Rows'] }
}

/**
 * Reads the first rows of a statement as JSON text: `columns`, `rows`, whether there are `more`, and the `estimate`.
 * Geometries are GeoJSON in degrees, or WKT where they have no SRID; whole numbers that JavaScript cannot hold are text.
 */
export async function readStatement(session: Session, statement: Statement, limit: number): Promise<string> {
  const estimate = await planStatement(session, statement)
  const { columns, types, text, args } = await typed(session, statement)
  const values = columns.map(
    ({ name }, i) => `${valueOf(`q.${quoteIdentifier(name)}`, types[i]!)} as ${quoteIdentifier(name)}`,
  )
  const { rows } = await session.query<{ row: string }>(
    `select row_to_json(v)::text as row from terrane.query_rows($1, $2, $3, $4) as q(${definitions(columns, types)}), lateral (select ${values.join(', ')}) v`,
    [text, args, limit + 1, READ_BYTES],
  )
  const listed = columns.map(({ name }, i) => ({ name, type: types[i]!.type }))
  const about = { columns: listed, more: rows.length > limit, estimate }
  const list = rows.slice(0, limit).map(({ row }) => row)
  return `${JSON.stringify(about).slice(0, -1)},"rows":[${list.join(',')}]}`
}

/**
 * Stores rows as a table of `public`. Its comment has only the attribution for its tiles, because the statement would be
 * shown to all readers.
 */
export async function keepTable(
  session: Session,
  statement: Statement,
  { name, attribution }: { readonly name: string; readonly attribution: string | null },
): Promise<number> {
  const { columns, text, args } = await typed(session, statement)
  const comment = attribution === null ? null : JSON.stringify({ attribution })
  const { rows } = await session.query<{ rows: number }>(
    'select terrane.table_from_query($1, $2, $3, $4, $5, $6)::float8 as rows',
    [text, args, JSON.stringify(columns), name, comment, MOST_TABLE_ROWS],
  )
  return rows[0]!.rows
}

/**
 * Stores a statement as a function of `public` with its parameters, their values as defaults, and as a view of the same
 * name. An earlier kept statement of the name is replaced.
 */
export async function keepQuery(session: Session, statement: Statement, name: string): Promise<void> {
  const { columns, text } = await typed(session, statement)
  const { rows } = await session.query<{ oid: number }>(
    'select type::regtype::oid::int8::float8 as oid from json_array_elements_text($1) with ordinality as e(type, i) order by i',
    [JSON.stringify(statement.parameters.map(({ type }) => type))],
  )
  const parameters = statement.parameters.map((one, i) => ({ name: one.name, oid: rows[i]!.oid, value: one.value }))
  const args = [text, JSON.stringify(parameters), JSON.stringify(columns), name, MOST_KEPT_ROWS, KEPT_BYTES]
  await session.query('select terrane.keep_query($1, $2, $3, $4, $5, $6)', args)
}

/** A kept query, with its parameters as SQL declares them. */
interface KeptQuery {
  readonly name: string
  readonly parameters: string
}

export async function keptQueries(session: Session): Promise<readonly KeptQuery[]> {
  return (await session.query<KeptQuery>('select name, parameters from terrane.kept_queries()')).rows
}

/** Removes the function and the view of a kept query. @throws NO_SUCH_QUERY */
export async function removeQuery(session: Session, name: string): Promise<void> {
  const { rows } = await session.query<{ removed: boolean }>('select terrane.remove_query($1) as removed', [name])
  if (!rows[0]!.removed) throw noSuchQuery(name)
}

/** A type as SQL writes it, and the conversion of its values to JSON. */
interface ColumnType {
  readonly type: string
  readonly kind: 'number' | 'geometry' | 'geography' | null
}

interface Typed {
  readonly columns: readonly StatementColumn[]
  readonly types: readonly ColumnType[]
  readonly text: string
  readonly args: string
}

/** The statement with its columns cast to the types that the server reports; a domain is reported as its base type. */
async function typed(session: Session, { sql, parameters }: Statement): Promise<Typed> {
  const { text, args } = withValues(sql, parameters)
  const columns = await describeStatement(session, text)
  const types = await typesOf(session, columns)
  const named = columns.map((_, i) => `c${i}`)
  const cast = columns.map(({ name }, i) => `c${i}::${types[i]!.type} as ${quoteIdentifier(name)}`)
  return { columns, types, text: `select ${cast.join(', ')} from (${text}\n) q(${named.join(', ')})`, args }
}

async function typesOf(session: Session, columns: readonly StatementColumn[]): Promise<readonly ColumnType[]> {
  const { rows } = await session.query<ColumnType>(
    `select format_type((c ->> 'oid')::oid, (c ->> 'typmod')::integer) as type,
       case when c ->> 'oid' in ('20', '1700') then 'number' else (
         select t.typname from pg_type t join pg_depend d on d.classid = 'pg_type'::regclass and d.objid = t.oid
         join pg_extension x on x.oid = d.refobjid and x.extname = 'postgis'
         where t.oid = (c ->> 'oid')::oid and t.typname in ('geometry', 'geography')) end as kind
     from json_array_elements(${quoteLiteral(JSON.stringify(columns.map(({ oid, typmod }) => ({ oid, typmod }))))}) with ordinality as e(c, i) order by i`,
  )
  return rows
}

function definitions(columns: readonly StatementColumn[], types: readonly ColumnType[]): string {
  return columns.map(({ name }, i) => `${quoteIdentifier(name)} ${types[i]!.type}`).join(', ')
}

function valueOf(column: string, { kind }: ColumnType): string {
  switch (kind) {
    case 'geography':
      return `st_asgeojson(${column})::json`
    case 'geometry':
      return `case st_srid(${column}) when 0 then to_json(st_astext(${column})) when 4326 then st_asgeojson(${column})::json else st_asgeojson(st_transform(${column}, 4326))::json end`
    case 'number':
      return `case when ${column} not between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER} then to_json(${column}::text) else to_json(${column}) end`
    default:
      return column
  }
}
