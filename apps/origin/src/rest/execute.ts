import { quoteLiteral, type Database, type Session } from '@terrane/database'
import { type Parameters, orderClause, selectList, whereClause, type RestQuery } from '@terrane/database/rest-query'
import type { Principal } from '@terrane/auth'
import { RestError } from './errors.ts'
import { answerBytesOf } from './limits.ts'
import type { Format, Preferences } from './preferences.ts'

/** What a statement runs as. */
export interface RunAs {
  readonly principal: Principal
  readonly schema: string
  readonly readOnly: boolean
  /** All statements see one moment. */
  readonly isSnapshot?: boolean
  readonly rollback: boolean
  readonly timeoutMs: number
}

/** The rows of an answer. */
export interface Rows {
  /** The answer's body in the format that was asked for. */
  readonly body: string
  readonly returned: number
  /** Number of rows that fit the filters; null unless it was asked for. */
  readonly total: number | null
}

/**
 * Runs work in one transaction under the caller's database role, with the claims where row-level security reads them.
 * `SET LOCAL` ends with the transaction, so the next caller starts clean. Answers are bounded in bytes by the caller's role;
 * COPY streams are not.
 *
 * @throws ANSWER_TOO_LARGE
 */
export function runAs<T>(database: Database, as: RunAs, work: (session: Session) => Promise<T>): Promise<T> {
  return database
    .withAnswerBytes(answerBytesOf(as.principal))
    .transaction(async (session) => {
      const value = await work(session)
      if (as.rollback) throw new Rollback(value)
      return value
    }, beginAs(as))
    .catch((error: unknown) => {
      if (error instanceof Rollback) return error.value as T
      throw error
    })
}

/** Begins a transaction as the caller, in one round trip: statements of several parts take no parameters. */
export function beginAs(as: Omit<RunAs, 'rollback'>): string {
  const { role, claims } = as.principal
  const settings = [
    ['search_path', `"${as.schema}", public, extensions`],
    ['request.jwt.claims', asciiJson(claims)],
    ['statement_timeout', String(as.timeoutMs)],
    ['role', role],
  ] as const
  const set = settings.map(([name, value]) => `set_config('${name}', ${quoteLiteral(value)}, true)`)
  return `begin${as.isSnapshot ? ' isolation level repeatable read' : ''}${as.readOnly ? ' read only' : ''}; select ${set.join(', ')}`
}

/** JSON in ASCII alone: in whatever encoding a session reads the statement, its quotes stay where they are. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

class Rollback extends Error {
  readonly value: unknown
  constructor(value: unknown) {
    super('rolled back as asked')
    this.value = value
  }
}

/** Reads rows of a source (a table, a function call or a CTE) with everything the query says. */
export async function readRows(
  session: Session,
  source: string,
  query: RestQuery,
  format: Format,
  preferences: Pick<Preferences, 'count'>,
  parameters: Parameters,
  prefix = '',
): Promise<Rows> {
  const where = whereClause(query.conditions, 'source', parameters)
  const order = orderClause(query.order, 'source')
  const page = `${query.limit === null ? '' : ` limit ${query.limit}`}${query.offset === 0 ? '' : ` offset ${query.offset}`}`
  const rows = `select ${selectList(query.select, 'source')} from ${source}${where}${order}${page}`
  if (format === 'plan' || format === 'planText') {
    const body = await explain(session, `${prefix.replace(/, $/, ' ')}${rows}`, format, parameters)
    return { body, returned: 1, total: null }
  }
  const total = preferences.count ? `(select count(*) from ${source}${where})` : 'null::bigint'
  const body =
    format === 'geojson'
      ? `json_build_object('type', 'FeatureCollection', 'features', coalesce(json_agg(st_asgeojson(page)::json), '[]'))::text`
      : `coalesce(json_agg(page), '[]')::text`
  const text = `${prefix}${prefix ? '' : 'with '}page as (${rows}) select ${body} as body, count(page) as returned, ${total} as total from page`
  const result = await session.query<{ body: string; returned: number; total: number | null }>(text, parameters.values)
  const row = result.rows[0] as { body: string; returned: number; total: number | null }
  if (row.total !== null && query.offset > row.total) {
    throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
      details: `An offset of ${query.offset} was requested, but there are only ${row.total} rows.`,
    })
  }
  return { ...row, body: format === 'object' ? single(row) : format === 'csv' ? toCsv(row.body) : row.body }
}

async function explain(
  session: Session,
  text: string,
  format: 'plan' | 'planText',
  parameters: Parameters,
): Promise<string> {
  const { rows } = await session.query<{ 'QUERY PLAN': unknown }>(
    `explain (format ${format === 'plan' ? 'json' : 'text'}) ${text}`,
    parameters.values,
  )
  const lines = rows.map((row) => row['QUERY PLAN'])
  return format === 'plan' ? JSON.stringify(lines[0]) : lines.join('\n')
}

/** The one row of an answer to `Accept: application/vnd.pgrst.object+json`. */
function single(rows: Rows): string {
  if (rows.returned === 1) return rows.body.slice(rows.body.indexOf('{'), rows.body.lastIndexOf('}') + 1)
  throw new RestError(406, 'PGRST116', 'Cannot coerce the result to a single JSON object', {
    details: `The result contains ${rows.returned} rows`,
  })
}

function toCsv(json: string): string {
  const rows = JSON.parse(json) as Record<string, unknown>[]
  const columns = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => columns.map((column) => csvField(row[column])).join(','))
  return [columns.map(csvField).join(','), ...lines].join('\n')
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** `0-9/100` for Content-Range. */
export function contentRange(query: Pick<RestQuery, 'offset'>, rows: Rows): string {
  const total = rows.total === null ? '*' : String(rows.total)
  return rows.returned === 0 ? `*/${total}` : `${query.offset}-${query.offset + rows.returned - 1}/${total}`
}
