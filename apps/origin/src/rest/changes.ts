import { qualified, quoteIdentifier, quoteLiteral, type Session } from '@terrane/database'
import { badQuery, conditionList, Parameters, type Condition } from '@terrane/database/rest-query'
import type { FastifyReply } from 'fastify'
import { readRowsBody } from './bodies.ts'
import { answer, readCall, run, type Call, type Named, type RestScope } from './call.ts'
import type { OwnColumns } from './embedding/own-columns.ts'
import { aliasOf } from './embedding/sources.ts'
import { RestError } from './errors.ts'
import type { Rows } from './execute.ts'
import { requirePositionsOfRows } from './positions.ts'
import { readRows, single } from './read-rows.ts'
import { readSettings, RESPONSE_COLUMNS } from './response-settings.ts'

/** `POST /rest/v1/{table}`: inserts the rows of the body, or merges them with existing rows. */
export async function insert(deps: RestScope, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const call = await readCall(deps, request)
  return insertRows(deps, call, { name: request.params.name, body: request.body }, reply)
}

/** `PUT /rest/v1/{table}`: inserts a row, or replaces the row with its primary key, which the filters name. */
export async function put(deps: RestScope, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const read = await readCall(deps, request)
  if (read.parameters.has('limit') || read.parameters.has('offset'))
    throw new RestError(400, 'PGRST114', 'limit/offset querystring parameters are not allowed for PUT')
  const preferences = { ...read.preferences, resolution: 'merge-duplicates' } as const
  const call = { ...read, preferences, query: { ...read.query, onConflict: null } }
  return insertRows(deps, call, { name: request.params.name, body: request.body, isKeyed: true }, reply)
}

/** Rows to insert. */
interface Insertion {
  readonly name: string
  readonly body: unknown
  /** Whether the filters of the request name the primary key of the only row. */
  readonly isKeyed?: boolean
}

async function insertRows(
  deps: RestScope,
  call: Call,
  insertion: Insertion,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { name } = insertion
  const table = qualified(call.schema, name)
  const { columns, rows: given, json } = readRowsBody(insertion.body, call.query)
  const parameters = new Parameters()
  const body = `${parameters.add(Array.isArray(given) ? json : `[${json}]`)}::json`
  const into = `insert into ${table} as ${quoteIdentifier(name)}`
  const list = columns.map(quoteIdentifier).join(', ')
  const isMerge = call.preferences.resolution === 'merge-duplicates'
  let inserted = 1
  const rows = await change(deps, call, {
    table: name,
    parameters,
    statement: async (session) => {
      const isKeyed = insertion.isKeyed === true
      if (isKeyed) requireKey(call.query.conditions, await primaryKey(session, call.schema, name), { columns, given })
      if (columns.length === 0) return `${into} select from json_array_elements(${body})`
      await requirePositionsOfRows(session, table, { columns, rows: given })
      const conflict = await conflictClause(session, call, name, columns)
      const complete = await withDefaults(session, call, name, { columns, body, isList: true })
      const alias = aliasOf('body', 'body', new Set([name]))
      const wanted = [
        // The database compares the keys, because it alone knows when values of their types are equal.
        ...(isKeyed ? conditionList(call.query.conditions, alias, parameters) : []),
        ...(conflict.includes(COUNTER) ? [`${count(1)} <> 0`] : []),
      ]
      const where = wanted.length === 0 ? '' : ` where ${wanted.join(' and ')}`
      return `${into} (${list}) select ${list} from json_populate_recordset(null::${table}, ${complete}) as ${alias}${where}${conflict}`
    },
    keys: (session) => primaryKey(session, call.schema, name),
    after: async (session, affectedRows) => {
      if (insertion.isKeyed === true && (affectedRows ?? 1) !== 1) throw otherKey()
      if (isMerge) inserted = await insertedRows(session)
    },
  })
  if (rows.location) reply.header('location', rows.location)
  return answer(reply, call, rows, inserted > 0 ? 201 : 200)
}

/** @throws PGRST105 unless the filters are `eq` on the columns of the primary key; PGRST115 unless the body is a row with them */
function requireKey(
  conditions: readonly Condition[],
  keys: readonly string[],
  { columns, given }: { columns: readonly string[]; given: unknown },
): void {
  const named = conditions.map((condition) => {
    const isPlain = condition.kind === 'filter' && condition.operator === 'eq' && !condition.negated
    return isPlain && condition.quantifier === null && condition.field.path.length === 0 ? condition.field.column : ''
  })
  if (keys.length === 0 || new Set(named).size !== keys.length || !keys.every((key) => named.includes(key)))
    throw new RestError(405, 'PGRST105', "Filters must include all and only primary key columns with 'eq' operators")
  if ((Array.isArray(given) && given.length !== 1) || !keys.every((key) => columns.includes(key))) throw otherKey()
}

function otherKey(): RestError {
  return new RestError(400, 'PGRST115', 'Payload values do not match URL in primary key column(s)')
}

/** `PATCH /rest/v1/{table}`: sets columns of the rows that match the filters. */
export async function update(deps: RestScope, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const call = await readCall(deps, request)
  const { name } = request.params
  const { columns, rows: given, json } = readRowsBody(request.body, call.query)
  if (Array.isArray(given) && given.length > 1)
    throw new RestError(400, 'PGRST102', 'The body of PATCH is one object of columns and values, not a list of several')
  if (columns.length === 0) {
    const none = { body: '[]', returned: 0, total: null }
    if (call.accepted.format === 'object') single(none)
    return answer(reply, call, none, 200)
  }
  const parameters = new Parameters()
  const body = Array.isArray(given) ? `(${parameters.add(json)}::json -> 0)` : `${parameters.add(json)}::json`
  const table = qualified(call.schema, name)
  const alias = aliasOf('body', 'body', new Set([name]))
  const set = columns.map((column) => `${quoteIdentifier(column)} = ${alias}.${quoteIdentifier(column)}`).join(', ')
  const where = filters(call, name, parameters)
  const statement = async (session: Session) => {
    await requirePositionsOfRows(session, table, { columns, rows: given })
    const complete = await withDefaults(session, call, name, { columns, body, isList: false })
    return `update ${table} as ${quoteIdentifier(name)} set ${set} from json_populate_record(null::${table}, ${complete}) as ${alias}${where}`
  }
  const rows = await change(deps, call, { table: name, parameters, statement })
  return answer(reply, call, rows, 200)
}

/** `DELETE /rest/v1/{table}`: deletes the rows that match the filters. */
export async function remove(deps: RestScope, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const call = await readCall(deps, request)
  const { name } = request.params
  const parameters = new Parameters()
  const statement = `delete from ${qualified(call.schema, name)} as ${quoteIdentifier(name)}${filters(call, name, parameters)}`
  const rows = await change(deps, call, { table: name, parameters, statement: async () => statement })
  return answer(reply, call, rows, 200)
}

/** @throws PGRST100 for `limit` and `offset`, because a change would also affect rows outside of the page */
function filters(call: Call, name: string, parameters: Parameters): string {
  const parameter = ['limit', 'offset'].find((word) => call.parameters.has(word))
  if (parameter)
    throw badQuery({
      parameter,
      detail: 'PATCH and DELETE change all rows that fit the filters; name the rows by filters',
    })
  const list = conditionList(call.query.conditions, quoteIdentifier(name), parameters)
  return list.length === 0 ? '' : ` where ${list.join(' and ')}`
}

interface Change {
  readonly table: string
  readonly parameters: Parameters
  /** SQL of the statement without its `returning`. */
  statement(session: Session): Promise<string>
  /** Columns of the key that `Location` names with `return=headers-only`. */
  keys?(session: Session): Promise<string[]>
  /** @param affectedRows null for a plan */
  after?(session: Session, affectedRows: number | null): Promise<void>
}

/** The rows of a change, and the address of its only row. */
interface Changed extends Rows {
  readonly location?: string | null
}

/** Runs a change and reads its rows in the form of the query; none without `return=representation`. */
function change(deps: RestScope, call: Call, work: Change): Promise<Changed> {
  const { table, parameters } = work
  const { accepted, preferences } = call
  const { select, embeds, order } = call.query
  const query = { ...call.query, select, embeds, order, conditions: [], limit: null, offset: 0 }
  const isRead = preferences.representation === 'full' || accepted.format.startsWith('plan')
  return run(deps, call, false, async (session) => {
    const statement = await work.statement(session)
    const own = quoteIdentifier(table)
    const returning = ({ names, isAll }: OwnColumns) =>
      isAll ? `${own}.*` : names.map((column) => `${own}.${quoteIdentifier(column)}`).join(', ') || '1'
    const keys = preferences.representation === 'headers' ? ((await work.keys?.(session)) ?? []) : []
    const rows: Changed = isRead
      ? await readRows(session, deps, call, {
          table,
          from: 'source',
          query,
          accepted,
          parameters,
          prefix: (columns) => `with source as (${statement} returning ${returning(columns)}), `,
          total: 'select count(*) from source',
        })
      : await affected(session, { statement, table, keys, parameters })
    if (!statement.startsWith('insert')) refuseTooMany(call, rows.total ?? 0)
    if (!isRead && accepted.format === 'object') single(rows)
    readSettings(rows)
    await work.after?.(session, rows.total)
    return { ...rows, total: preferences.count ? rows.total : null }
  })
}

async function affected(
  session: Session,
  of: { statement: string; table: string; keys: readonly string[]; parameters: Parameters },
): Promise<Changed> {
  const values = of.keys.map((key) => `${quoteIdentifier(of.table)}.${quoteIdentifier(key)}::text`)
  const key = values.length === 0 ? 'null' : `json_build_array(${values.join(', ')})`
  const text = `with source as (${of.statement} returning ${key}::text as key)
    select '' as body, count(*) as returned, count(*) as total, case when count(*) = 1 then min(key) end as key, ${RESPONSE_COLUMNS} from source`
  const { rows } = await session.query<Rows & { key: string | null }>(text, of.parameters.values)
  const { key: found, ...counted } = rows[0] as Rows & { key: string | null }
  return { ...counted, location: found === null ? null : locationOf(of.table, of.keys, JSON.parse(found)) }
}

function locationOf(table: string, keys: readonly string[], values: readonly (string | null)[]): string {
  const query = keys.map((key, i) => [key, values[i] === null ? 'is.null' : `eq.${values[i]}`].map(encodeURIComponent))
  return `/rest/v1/${encodeURIComponent(table)}?${query.map((part) => part.join('=')).join('&')}`
}

/** @throws PGRST124 when more rows are affected than the request allows */
export function refuseTooMany({ preferences }: Pick<Call, 'preferences'>, affectedRows: number): void {
  if (preferences.maxAffected === null || affectedRows <= preferences.maxAffected) return
  throw new RestError(400, 'PGRST124', 'Query result exceeds max-affected preference constraint', {
    details: `The query affects ${affectedRows} rows`,
  })
}

/** Setting that counts the rows that an upsert has inserted. */
const COUNTER = 'terrane.inserted_rows'

function count(step: 1 | -1): string {
  const before = `coalesce(nullif(current_setting('${COUNTER}', true), ''), '0')::bigint`
  // The result is never null, because the row must not be skipped when the count returns to zero.
  return `set_config('${COUNTER}', (${before} + ${step})::text, true)::bigint`
}

async function insertedRows(session: Session): Promise<number> {
  const { rows } = await session.query<{ n: string | null }>(
    `select nullif(current_setting('${COUNTER}', true), '') as n`,
  )
  return Number(rows[0]?.n ?? 1)
}

async function conflictClause(
  session: Session,
  call: Call,
  table: string,
  columns: readonly string[],
): Promise<string> {
  const { resolution } = call.preferences
  if (resolution === null) return ''
  const keys = call.query.onConflict ?? (await primaryKey(session, call.schema, table))
  if (keys.length === 0) return ''
  const target = keys.map(quoteIdentifier).join(', ')
  if (resolution === 'ignore-duplicates') return ` on conflict (${target}) do nothing`
  const set = columns.map((c) => `${quoteIdentifier(c)} = excluded.${quoteIdentifier(c)}`)
  return ` on conflict (${target}) do update set ${set.join(', ')} where ${count(-1)} <> -1`
}

async function primaryKey(session: Session, schema: string, table: string): Promise<string[]> {
  const { rows } = await session.query<{ name: string }>(
    `select a.attname as name from pg_index i
     join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
     where i.indisprimary and n.nspname = $1 and c.relname = $2`,
    [schema, table],
  )
  return rows.map((row) => row.name)
}

/** The body as SQL of type json. On request, missing columns of rows get their defaults. */
async function withDefaults(
  session: Session,
  call: Call,
  table: string,
  given: { columns: readonly string[]; body: string; isList: boolean },
): Promise<string> {
  const { columns, body, isList } = given
  if (!call.preferences.missingDefault) return body
  const { rows } = await session.query<{ name: string; value: string }>(
    `select a.attname as name, case when a.attidentity = '' then pg_get_expr(d.adbin, d.adrelid)
       else format('nextval(%L)', pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname)) end as value
     from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where n.nspname = $1 and c.relname = $2 and a.attname = any ($3) and a.attgenerated = '' and (d.adbin is not null or a.attidentity <> '')`,
    [call.schema, table, [...columns]],
  )
  if (rows.length === 0) return body
  const defaults = rows.map(({ name, value }) => `jsonb_build_object(${quoteLiteral(name)}, ${value})`).join(' || ')
  if (!isList) return `((${defaults}) || (${body})::jsonb)::json`
  return `(select json_agg((${defaults}) || given.row) from jsonb_array_elements((${body})::jsonb) as given(row))`
}
