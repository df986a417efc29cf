import { quoteIdentifier, type Session } from '@terrane/database'
import { Parameters, isArgument, orderClause, parseQuery, whereClause } from '@terrane/database/rest-query'
import { readParameters } from '@terrane/service'
import type { FastifyReply } from 'fastify'
import { argumentsOfBody, argumentsOfQuery } from './bodies.ts'
import {
  answer,
  callerOf,
  partial,
  schemaOf,
  searchParameters,
  withRange,
  type Call,
  type Named,
  type RestScope,
} from './call.ts'
import { refuseTooMany } from './changes.ts'
import { listOf } from './embedding/embedded-bytes.ts'
import { RestError } from './errors.ts'
import { depthOf, runAs, type Rows } from './execute.ts'
import { requirePositions } from './positions.ts'
import { readRows, single } from './read-rows.ts'
import { callSql, geometriesOf, resolveFunction, type CallableFunction } from './functions.ts'
import { answerBytesOf, timeoutOf, withinRows } from './limits.ts'
import { parseAccept, parsePreferences } from './preferences.ts'

/** `/rest/v1/rpc/{name}`: calls the overload whose parameters the request names. */
export async function rpc(deps: RestScope, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const isPost = request.method === 'POST'
  const parameters = searchParameters(request)
  if (!isPost) requireArgumentsOnce(request, parameters)
  const { json, names, values: sent } = isPost ? argumentsOfBody(request.body) : argumentsOfQuery(parameters)
  const principal = callerOf(request)
  const schema = schemaOf(deps, request)
  const preferences = parsePreferences(request.headers.prefer)
  const accepted = parseAccept(request.headers.accept, deps.limits.plans)
  const timeoutMs = timeoutOf(deps.limits, principal)
  const as = { principal, schema, readOnly: !isPost, rollback: preferences.rollback, timeoutMs, ...depthOf(request) }
  // The answer is sent after the commit, so that deferred errors reach the caller.
  const warnings: string[] = []
  const respond = await runAs(deps.database, as, async (session) => {
    using _listening = collectWarnings(session, warnings)
    const fn = await resolveFunction(
      session,
      schema,
      request.params.name,
      { names, isBody: isPost },
      deps.limits.extensionFunctions,
    )
    requirePositions(sent, geometriesOf(fn))
    const rowParameters = isPost
      ? parameters
      : new URLSearchParams([...parameters].filter((entry) => !isArgument(entry)))
    const query = withinRows(withRange(parseQuery(rowParameters, true), request), deps.limits)
    const call: Call = {
      principal,
      schema,
      query,
      parameters,
      preferences,
      accepted,
      headOnly: request.method === 'HEAD',
    }
    const values = new Parameters()
    const source = callSql(fn, names, () => values.add(json))
    if (fn.returnsVoid) {
      await session.query(`select from ${source}`, values.values)
      return () => reply.code(204).send()
    }
    if (preferences.maxAffected !== null && !fn.returnsSet) {
      throw new RestError(
        400,
        'PGRST128',
        'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
      )
    }
    const rows = fn.returnsRow
      ? await rowsOf(session, deps, call, { fn, source, values })
      : await valuesOf(session, call, { fn, source, values })
    refuseTooMany(call, preferences.maxAffected === null ? 0 : (rows.total ?? 0))
    const counted = preferences.count ? rows : { ...rows, total: null }
    return () => answer(reply, call, counted, partial(call, counted) ? 206 : 200)
  })
  if (warnings.length > 0) reply.header('x-warnings', warnings.join('; '))
  return respond()
}

/** Warnings of an answer, and characters of each. */
const MAX_WARNINGS = { count: 5, characters: 300 }

/** Collects what functions say by `raise warning`, in the characters of a header, until it is disposed of. */
function collectWarnings({ client }: Session, to: string[]): Disposable {
  const listen = ({ severity, code, message = '' }: NoticeMessage): void => {
    const text = message.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_WARNINGS.characters)
    // The word depends on the language of the server, the class of the code does not.
    const isWarning = severity === 'WARNING' || code?.startsWith('01') === true
    if (isWarning && to.length < MAX_WARNINGS.count && !to.includes(text)) to.push(text)
  }
  client.on('notice', listen)
  return { [Symbol.dispose]: () => client.off('notice', listen) }
}

/** The part of a notice of the server that is read. */
interface NoticeMessage {
  readonly severity?: string | undefined
  readonly code?: string | undefined
  readonly message?: string | undefined
}

interface Called {
  readonly fn: CallableFunction
  readonly source: string
  readonly values: Parameters
}

/** The rows of a function, as rows of its table if it has one. A function of one row gives that row or null. */
async function rowsOf(session: Session, deps: RestScope, call: Call, { fn, source, values }: Called): Promise<Rows> {
  const isLimited = call.preferences.maxAffected !== null
  const rows = await readRows(session, deps, call, {
    table: fn.table,
    from: 'source',
    query: call.query,
    accepted: call.accepted,
    parameters: values,
    prefix: () => `with source as materialized (select result.* from ${source} as result), `,
    ...(isLimited ? { total: 'select count(*) from source' } : {}),
  })
  if (fn.returnsSet || call.accepted.format !== 'json') return rows
  return { ...rows, body: rows.returned === 0 ? 'null' : single(rows) }
}

/** The value of a function, or its values as a list; in filters and orders they have the name of the function. */
async function valuesOf(session: Session, call: Call, { fn, source, values }: Called): Promise<Rows> {
  const { conditions, order, limit, offset } = call.query
  const where = fn.returnsSet ? whereClause(conditions, 'source', values) : ''
  const page = `${orderClause(order, 'source')}${limit === null ? '' : ` limit ${limit}`} offset ${offset}`
  const column = quoteIdentifier(fn.name)
  const list = listOf('page.value', { maxBytes: answerBytesOf(call.principal), maxRows: limit, place: 'answer' })
  const { rows } = await session.query<Rows>(
    fn.returnsSet
      ? `with source as materialized (select result as ${column} from ${source} as result), page as (select to_json(source.${column}) as value from source${where}${page})
        select coalesce(${list}, '[]')::text as body, count(*) as returned,
          (select count(*) from source${call.preferences.maxAffected === null ? where : ''}) as total from page`
      : `select to_json(result.*)::text as body, 1 as returned, 1 as total from ${source} as result`,
    values.values,
  )
  const row = rows[0] ?? { body: null, returned: 1, total: 1 }
  return { body: row.body ?? 'null', returned: row.returned, total: row.total }
}

/** @throws PARAMETER_REPEATED for a repeated argument; filters of the rows may repeat */
function requireArgumentsOnce(request: Named, parameters: URLSearchParams): void {
  const names = new Set([...parameters].filter(isArgument).map(([name]) => name))
  readParameters(request, (name) => !names.has(name))
}
