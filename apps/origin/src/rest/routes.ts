import { qualified, quoteIdentifier, type Session } from '@terrane/database'
import { Parameters, whereClause, type RestQuery, badQuery } from '@terrane/database/rest-query'
import { boundBody, type Http } from '@terrane/service'
import type { FastifyReply } from 'fastify'
import { compressAnswers } from '../compression.ts'
import { readRowsBody } from './bodies.ts'
import { answer, partial, readCall, run, type Call, type Named, type RestDeps } from './call.ts'
import { describeSchema } from './describe.ts'
import { toRestError } from './errors.ts'
import { readRows, type Rows } from './execute.ts'
import { withinRows } from './limits.ts'
import { rpc } from './rpc.ts'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'

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
      compressAnswers(scope)
      // Who asks is settled before a byte of the body is read, and so is how much of one is read.
      scope.addHook('onRequest', async (request) => {
        request.restCaller = await deps.authenticate(request)
        if (request.raw.url?.includes('%00'))
          throw badQuery({ parameter: 'the path', detail: 'a zero byte is part of no name and no value' })
      })
      scope.addHook('preParsing', async (request, _reply, payload) =>
        request.restCaller?.role === 'service_role'
          ? payload
          : boundBody(request, payload, deps.limits.publicBodyBytes),
      )
      // Bodies reach the database as text: it parses them, so that numbers of any size survive.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
      const reads = ['GET', 'HEAD']
      scope.route({ method: reads, url: '/', handler: whileCallerIsThere(deps, describeSchema) })
      scope.route({ method: [...reads, 'POST'], url: '/rpc/:name', handler: whileCallerIsThere(deps, rpc) })
      scope.route({ method: reads, url: '/:name', handler: whileCallerIsThere(deps, readTable) })
      scope.post('/:name', whileCallerIsThere(deps, insert))
      scope.patch('/:name', whileCallerIsThere(deps, update))
      scope.delete('/:name', whileCallerIsThere(deps, remove))
    },
    { prefix: '/rest/v1' },
  )
}

type Handler = (deps: RestDeps, request: Named, reply: FastifyReply) => Promise<FastifyReply>

/** Ends a statement with the request that it is for. */
function whileCallerIsThere(deps: RestDeps, handler: Handler) {
  return abortOnDisconnect((request, reply, signal) =>
    handler({ ...deps, database: deps.database.withSignal(signal) }, request as Named, reply),
  )
}

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
