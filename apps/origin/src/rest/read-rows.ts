import type { Session } from '@terrane/database'
import type { Parameters, RestQuery } from '@terrane/database/rest-query'
import type { Call, RestScope } from './call.ts'
import { countSql } from './embedding/count-sql.ts'
import { listOf, valueOf } from './embedding/embedded-bytes.ts'
import { ownColumnsOf, type OwnColumns } from './embedding/own-columns.ts'
import { needsPicture, readSql } from './embedding/read-sql.ts'
import { rootSource } from './embedding/sources.ts'
import { RestError, unknownTable } from './errors.ts'
import type { Rows } from './execute.ts'
import { answerBytesOf } from './limits.ts'
import type { Accepted } from './preferences.ts'
import { RESPONSE_COLUMNS } from './response-settings.ts'

/** Rows to read: of a table, or of a preceding statement. */
export interface Read {
  /** Name of the table or view of the rows, for relationships; null for other rows. */
  readonly table: string | null
  /** A `from` item without an alias. */
  readonly from: string
  readonly query: RestQuery
  readonly accepted: Accepted
  readonly parameters: Parameters
  /** `with source as (…), ` with the columns that the answer needs. */
  readonly prefix: (columns: OwnColumns) => string
  /** SQL that counts the rows; by default it counts rows that match the query, if the request asks for the number. */
  readonly total?: string
}

/** Reads rows with all parts of the query, and embedded rows, in one statement. */
export async function readRows(session: Session, deps: RestScope, call: Call, read: Read): Promise<Rows> {
  const { query, accepted, parameters } = read
  const { format, isStripped } = accepted
  const picture = needsPicture(query) ? await deps.pictures.read(session, call.principal.role) : null
  const { maxRows } = deps.limits
  const context = { schema: call.schema, picture, parameters, maxRows, maxBytes: answerBytesOf(call.principal) }
  if (read.table !== null && query.embeds.length > 0 && picture?.columns(call.schema, read.table).length === 0)
    throw unknownTable(call.schema, read.table)
  const source = rootSource(read.table ?? 'source', read.from)
  const prefix = read.prefix(ownColumnsOf(query, source, context))
  const page = readSql(query, source, context)
  const total = read.total ?? (call.preferences.count ? countSql(query, source, context) : 'select null::bigint')
  const row = format === 'geojson' ? 'st_asgeojson(page.*)::json' : isStripped ? 'json_strip_nulls(row_to_json(page.*))' : 'row_to_json(page.*)' // prettier-ignore
  const value = valueOf(query, row, context.maxBytes)
  const list = `coalesce(${listOf('l.v', { maxBytes: context.maxBytes, maxRows: query.limit, place: 'answer' })}, '[]')`
  const body = format === 'geojson' ? `json_build_object('type', 'FeatureCollection', 'features', ${list})` : list
  const text = `${prefix === '' ? 'with ' : prefix}page as (${page}) select ${body}::text as body, count(*) as returned, (${total}) as total, ${RESPONSE_COLUMNS} from (select ${value} as v from page offset 0) as l`
  if (format === 'plan' || format === 'planText')
    return { body: await explain(session, text, accepted, parameters), returned: 1, total: null }
  const result = await session.query<Rows>(text, parameters.values)
  const answer = result.rows[0] as Rows
  if (answer.total !== null && query.offset > answer.total) {
    throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
      details: `An offset of ${query.offset} was requested, but there are only ${answer.total} rows.`,
      headers: { 'content-range': `*/${answer.total}` },
    })
  }
  return { ...answer, body: format === 'object' ? single(answer) : format === 'csv' ? toCsv(answer.body) : answer.body }
}

async function explain(
  session: Session,
  text: string,
  { format, options }: Accepted,
  parameters: Parameters,
): Promise<string> {
  const form = [`format ${format === 'plan' ? 'json' : 'text'}`, ...options].join(', ')
  const { rows } = await session.query<{ 'QUERY PLAN': unknown }>(`explain (${form}) ${text}`, parameters.values)
  const lines = rows.map((row) => row['QUERY PLAN'])
  return format === 'plan' ? JSON.stringify(lines[0]) : lines.join('\n')
}

/** The one row of an answer to `Accept: application/vnd.pgrst.object+json`. */
export function single(rows: Rows): string {
  if (rows.returned === 1) return rows.body.slice(rows.body.indexOf('{'), rows.body.lastIndexOf('}') + 1)
  throw new RestError(406, 'PGRST116', 'Cannot coerce the result to a single JSON object', {
    details: `The result contains ${rows.returned} rows`,
  })
}

/** TypeScript's types lack the source text of values in JSON. */
const ExactJson = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

function toCsv(json: string): string {
  // Numbers keep all digits; a bigint may have more than a double.
  const rows = ExactJson.parse(json, (_, value, { source }) =>
    typeof value === 'number' ? ExactJson.rawJSON(source) : value,
  ) as Record<string, unknown>[]
  const columns = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => columns.map((column) => csvField(row[column])).join(','))
  return [columns.map(csvField).join(','), ...lines].join('\n')
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
