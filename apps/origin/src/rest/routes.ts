import type { Principal } from '@terrane/auth'
import { TerraneError } from '@terrane/core'
import { qualified, quoteIdentifier, type Database, type Session } from '@terrane/database'
import { boundBody, refuseDeepJson, type Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Parameters, whereClause } from './build-sql.ts'
import { RestError, badQuery, toRestError } from './errors.ts'
import { contentRange, readRows, runAs, type Rows } from './execute.ts'
import { callSql, resolveFunction } from './functions.ts'
import { timeoutOf, withinRows, type RestLimits } from './limits.ts'
import { isArgument, parseQuery, type RestQuery } from './parse-query.ts'
import { parseAccept, parsePreferences, parseRange, type Format, type Preferences } from './preferences.ts'

export interface RestDeps {
  readonly database: Database
  /** Schemas that may be asked for; the first is the default. */
  readonly schemas: readonly string[]
  readonly limits: RestLimits
  /** The caller of a request, after its keys were verified; 401 otherwise. */
  readonly authenticate: (request: FastifyRequest) => Promise<Principal>
}

/** One request, read. */
interface Call {
  readonly principal: Principal
  readonly schema: string
  readonly query: RestQuery
  readonly parameters: URLSearchParams
  readonly preferences: Preferences
  readonly format: Format
  readonly headOnly: boolean
}

const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  object: 'application/vnd.pgrst.object+json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  geojson: 'application/geo+json; charset=utf-8',
  plan: 'application/vnd.pgrst.plan+json; charset=utf-8',
  planText: 'application/vnd.pgrst.plan+text; charset=utf-8',
}

/** `/rest/v1`: tables and functions of the project's database over HTTP, as PostgREST serves them. */
export async function restRoutes(app: Http, deps: RestDeps): Promise<void> {
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => {
        const anonymous = request.restCaller?.role === 'anon'
        const error = toRestError(thrown, anonymous)
        if (error.status >= 500) request.log.error({ err: thrown }, 'request failed')
        if (error.status === 401) reply.header('www-authenticate', 'Bearer')
        if (error.status === 429) reply.header('retry-after', '60')
        void reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(error.toBody()))
      })
      scope.decorateRequest('restCaller', null)
      // Who asks is settled before a byte of the body is read, and so is how much of one is read.
      scope.addHook('onRequest', async (request) => {
        request.restCaller = await deps.authenticate(request)
        if (request.raw.url?.includes('%00')) throw badQuery('the path', 'a zero byte is part of no name and no value')
      })
      scope.addHook('preParsing', async (request, _reply, payload) =>
        request.restCaller?.role === 'service_role'
          ? payload
          : boundBody(request, payload, deps.limits.publicBodyBytes),
      )
      // Bodies reach the database as text: it parses them, so that numbers of any size survive.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
      scope.route({
        method: ['POST'],
        url: '/rpc/:name',
        handler: (request, reply) => rpc(deps, request as Named, reply),
      })
      scope.route({
        method: ['GET', 'HEAD'],
        url: '/rpc/:name',
        handler: (request, reply) => rpc(deps, request as Named, reply),
      })
      scope.route({
        method: ['GET', 'HEAD'],
        url: '/:name',
        handler: (request, reply) => readTable(deps, request as Named, reply),
      })
      scope.route({
        method: ['POST'],
        url: '/:name',
        handler: (request, reply) => insert(deps, request as Named, reply),
      })
      scope.route({
        method: ['PATCH'],
        url: '/:name',
        handler: (request, reply) => update(deps, request as Named, reply),
      })
      scope.route({
        method: ['DELETE'],
        url: '/:name',
        handler: (request, reply) => remove(deps, request as Named, reply),
      })
    },
    { prefix: '/rest/v1' },
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    restCaller: Principal | null
  }
}

type Named = FastifyRequest<{ Params: { name: string } }>

async function readTable(deps: RestDeps, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const read = await readCall(deps, request)
  const call = { ...read, query: withinRows(read.query, deps.limits) }
  const table = qualified(call.schema, request.params.name)
  const rows = await run(deps, call, true, (session) =>
    readRows(session, `${table} as source`, call.query, call.format, call.preferences, new Parameters()),
  )
  return answer(reply, call, rows, partial(call, rows) ? 206 : 200)
}

async function insert(deps: RestDeps, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const call = await readCall(deps, request)
  const table = qualified(call.schema, request.params.name)
  const { columns, rows: given, json } = readRowsBody(request.body, call.query)
  const parameters = new Parameters()
  const body = parameters.add(Array.isArray(given) ? json : `[${json}]`)
  const list = columns.map(quoteIdentifier).join(', ')
  if (columns.length === 0) parameters.values.length = 0
  const rows = await change(deps, call, parameters, async (session) => {
    if (columns.length === 0) return `insert into ${table} default values returning *`
    const conflict = await conflictClause(session, call, request.params.name, columns)
    return `insert into ${table} (${list}) select ${list} from json_populate_recordset(null::${table}, ${body}::json)${conflict} returning *`
  })
  return answer(reply, call, rows, 201)
}

async function update(deps: RestDeps, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const call = await readCall(deps, request)
  const table = qualified(call.schema, request.params.name)
  const { columns, json } = readRowsBody(request.body, call.query)
  if (columns.length === 0) return answer(reply, call, { body: '[]', returned: 0, total: null }, 200)
  const parameters = new Parameters()
  const body = parameters.add(json)
  const set = columns.map((column) => `${quoteIdentifier(column)} = body.${quoteIdentifier(column)}`).join(', ')
  const where = whereClause(call.query.conditions, 'source', parameters)
  const statement = `update ${table} as source set ${set} from json_populate_record(null::${table}, ${body}::json) as body${where} returning source.*`
  const rows = await change(deps, call, parameters, async () => statement)
  return answer(reply, call, rows, 200)
}

async function remove(deps: RestDeps, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const call = await readCall(deps, request)
  const table = qualified(call.schema, request.params.name)
  const parameters = new Parameters()
  const statement = `delete from ${table} as source${whereClause(call.query.conditions, 'source', parameters)} returning source.*`
  const rows = await change(deps, call, parameters, async () => statement)
  return answer(reply, call, rows, 200)
}

async function rpc(deps: RestDeps, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const isPost = request.method === 'POST'
  const parameters = searchParameters(request)
  const given = isPost ? argumentsOfBody(request.body) : null
  const principal = callerOf(request)
  const schema = schemaOf(deps, request)
  const preferences = parsePreferences(request.headers.prefer)
  const format = parseAccept(request.headers.accept, deps.limits.plans)
  const timeoutMs = timeoutOf(deps.limits, principal)
  const as = { principal, schema, readOnly: !isPost, rollback: preferences.rollback, timeoutMs }
  // Answered after the commit: what was promised has happened, and what fails at its end is told.
  const respond = await runAs(deps.database, as, async (session) => {
    const names = given ? given.names : [...new Set([...parameters].filter(isArgument).map(([name]) => name))]
    const fn = await resolveFunction(session, schema, request.params.name, names, deps.limits.extensionFunctions)
    const args = given ? given.json : argumentsOfQuery(parameters)
    const rowParameters = given
      ? parameters
      : new URLSearchParams([...parameters].filter((entry) => !isArgument(entry)))
    const query = withinRows(withRange(parseQuery(rowParameters), request), deps.limits)
    const call: Call = {
      principal,
      schema,
      query,
      parameters,
      preferences,
      format,
      headOnly: request.method === 'HEAD',
    }
    const values = new Parameters()
    const source = callSql(fn, names, names.length > 0 ? values.add(args) : '')
    if (fn.returnsVoid) {
      await session.query(`select from ${source}`, values.values)
      return () => reply.code(204).send()
    }
    if (!fn.returnsRow) {
      const page = `(select result from ${source} as result${query.limit === null ? '' : ` limit ${query.limit}`}) as page`
      const { rows } = await session.query<{ body: string }>(
        fn.returnsSet
          ? `select coalesce(json_agg(page.result), '[]')::text as body from ${page}`
          : `select to_json(result.*)::text as body from ${source} as result`,
        values.values,
      )
      return () => answer(reply, call, { body: rows[0]?.body ?? 'null', returned: 1, total: null }, 200)
    }
    const prefix = `with source as materialized (select result.* from ${source} as result), `
    const rows = await readRows(
      session,
      'source',
      query,
      fn.returnsSet ? format : 'object',
      preferences,
      values,
      prefix,
    )
    return () => answer(reply, call, rows, partial(call, rows) ? 206 : 200)
  })
  return respond()
}

/** Runs a change and reads what it returns, as the query selects it. */
function change(
  deps: RestDeps,
  call: Call,
  parameters: Parameters,
  statement: (session: Session) => Promise<string>,
): Promise<Rows> {
  const { select, order } = call.query
  const query: RestQuery = { select, order, conditions: [], limit: null, offset: 0, columns: null, onConflict: null }
  return run(deps, call, false, async (session) =>
    readRows(
      session,
      'source',
      query,
      call.format,
      call.preferences,
      parameters,
      `with source as (${await statement(session)}), `,
    ),
  )
}

function run<T>(deps: RestDeps, call: Call, readOnly: boolean, work: (session: Session) => Promise<T>): Promise<T> {
  const as = {
    principal: call.principal,
    schema: call.schema,
    readOnly,
    rollback: call.preferences.rollback,
    timeoutMs: timeoutOf(deps.limits, call.principal),
  }
  return runAs(deps.database, as, work)
}

function answer(reply: FastifyReply, call: Call, rows: Rows, status: number): FastifyReply {
  const { preferences, headOnly } = call
  const isChange = status === 201 || !['GET', 'HEAD'].includes(reply.request.method)
  reply.header('content-range', contentRange(call.query, rows))
  if (preferences.representation)
    reply.header(
      'preference-applied',
      `return=${preferences.representation === 'full' ? 'representation' : preferences.representation === 'none' ? 'minimal' : 'headers-only'}`,
    )
  const isCall = reply.request.url.includes('/rpc/')
  if (isChange && !isCall && preferences.representation !== 'full') return reply.code(status === 201 ? 201 : 204).send()
  reply.code(status).type(CONTENT_TYPES[call.format])
  return headOnly ? reply.send() : reply.send(rows.body)
}

function partial(call: Call, rows: Rows): boolean {
  return rows.total !== null && rows.returned > 0 && rows.returned < rows.total && call.preferences.count
}

async function readCall(deps: RestDeps, request: Named): Promise<Call> {
  const principal = callerOf(request)
  const parameters = searchParameters(request)
  return {
    principal,
    schema: schemaOf(deps, request),
    query: withRange(parseQuery(parameters), request),
    parameters,
    preferences: parsePreferences(request.headers.prefer),
    format: parseAccept(request.headers.accept, deps.limits.plans),
    headOnly: request.method === 'HEAD',
  }
}

/** The schema by Accept-Profile for reads, Content-Profile for the rest; the first exposed one without either. */
function schemaOf(deps: RestDeps, request: FastifyRequest): string {
  const reads = request.method === 'GET' || request.method === 'HEAD'
  const header =
    request.headers[reads ? 'accept-profile' : 'content-profile'] ??
    request.headers[reads ? 'content-profile' : 'accept-profile']
  const wanted = typeof header === 'string' && header !== '' ? header : (deps.schemas[0] as string)
  if (!deps.schemas.includes(wanted)) {
    throw new RestError(406, 'PGRST106', `Invalid schema: ${wanted}`, {
      hint: `Only the following schemas are exposed: ${deps.schemas.join(', ')}`,
    })
  }
  return wanted
}

function searchParameters(request: FastifyRequest): URLSearchParams {
  const { url } = request.raw
  const start = url?.indexOf('?') ?? -1
  return new URLSearchParams(start < 0 ? '' : url?.slice(start + 1))
}

function withRange(query: RestQuery, request: FastifyRequest): RestQuery {
  const range = parseRange(request.headers.range)
  return range && query.limit === null && query.offset === 0 ? { ...query, ...range } : query
}

/** The caller whom the first hook has let in. */
function callerOf(request: FastifyRequest): Principal {
  if (!request.restCaller) throw new Error('the request has not passed the door')
  return request.restCaller
}

function argumentsOfBody(body: unknown): { json: string; names: string[] } {
  if (body === undefined || body === null || body === '') return { json: '{}', names: [] }
  const parsed = parseJson(body)
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
    throw new RestError(400, 'PGRST102', 'The body must be a JSON object of named arguments')
  }
  const names = Object.keys(parsed)
  // PostgreSQL's own limit of a function's arguments.
  if (names.length > 100) throw new RestError(400, 'PGRST102', 'A function has at most 100 arguments')
  return { json: body as string, names }
}

function argumentsOfQuery(parameters: URLSearchParams): string {
  return JSON.stringify(Object.fromEntries([...parameters].filter(isArgument)))
}

/** The rows of a body and their columns: those of `columns=`, else those of the first row. */
function readRowsBody(body: unknown, query: RestQuery): { columns: string[]; rows: unknown; json: string } {
  const rows = parseJson(body)
  const first: unknown = Array.isArray(rows) ? rows[0] : rows
  if (Array.isArray(rows) && rows.length === 0) return { columns: [], rows, json: '[]' }
  if (first === null || typeof first !== 'object')
    throw new RestError(400, 'PGRST102', 'The body must be a JSON object or an array of objects')
  const columns = query.columns ? [...query.columns] : Object.keys(first)
  if (columns.length > 1600) throw new RestError(400, 'PGRST102', 'A table has at most 1600 columns')
  return { columns, rows, json: body as string }
}

function parseJson(body: unknown): unknown {
  try {
    const text = typeof body === 'string' ? body : 'x'
    refuseDeepJson(text)
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof TerraneError) throw new RestError(400, 'PGRST102', error.message)
    throw new RestError(400, 'PGRST102', 'Error in $: the body is not valid JSON')
  }
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
  const set = columns
    .filter((c) => !keys.includes(c))
    .map((c) => `${quoteIdentifier(c)} = excluded.${quoteIdentifier(c)}`)
  if (resolution === 'ignore-duplicates' || set.length === 0) return ` on conflict (${target}) do nothing`
  return ` on conflict (${target}) do update set ${set.join(', ')}`
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
