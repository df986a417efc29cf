import { quoteIdentifier, type Session } from '@terrane/database'
import { Parameters, badQuery, isArgument, orderClause, whereClause } from '@terrane/database/rest-query'
import { readParameters } from '@terrane/service'
import type { FastifyReply } from 'fastify'
import { argumentsOfBody, argumentsOfQuery, withLists } from './bodies.ts'
import { answer, partial, readCall, run, searchParameters, type Call, type Named, type RestScope } from './call.ts'
import { refuseTooMany } from './changes.ts'
import { listOf } from './embedding/embedded-bytes.ts'
import { RestError } from './errors.ts'
import type { Rows } from './execute.ts'
import { requirePositions } from './positions.ts'
import { readRows, single } from './read-rows.ts'
import { callSql, geometriesOf, resolveFunction, type CallableFunction } from './functions.ts'
import { answerBytesOf, withinRows } from './limits.ts'
import { applySettings, readSettings, RESPONSE_COLUMNS, type ResponseSettings } from './response-settings.ts'

/** `/rest/v1/rpc/{name}`: calls the overload whose parameters the request names. */
export async function rpc(deps: RestScope, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const isPost = request.method === 'POST'
  const parameters = searchParameters(request)
  const given = isPost ? argumentsOfBody(request.body) : argumentsOfQuery([...parameters].filter(isArgument))
  const rowParameters = isPost ? parameters : new URLSearchParams([...parameters].filter((entry) => !isArgument(entry)))
  const read = await readCall(deps, request, rowParameters)
  const call = { ...read, query: withinRows(read.query, deps.limits) }
  const { preferences } = call
  // The answer is sent after the commit, so that deferred errors reach the caller.
  const warnings: string[] = []
  const respond = await run(deps, call, !isPost, async (session) => {
    using _listening = collectWarnings(session, warnings)
    const fn = await resolveFunction(
      session,
      call.schema,
      request.params.name,
      { names: given.names, isBody: isPost },
      deps.limits.extensionFunctions,
    )
    requirePositions(given.values, geometriesOf(fn))
    if (!isPost) requireArgumentsOnce(request, fn.args)
    const json = isPost ? given.json : withLists(given, fn.args)
    const values = new Parameters()
    const source = callSql(fn, given.names, () => values.add(json))
    if (preferences.maxAffected !== null && !fn.returnsSet) {
      throw new RestError(
        400,
        'PGRST128',
        'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
      )
    }
    if (fn.returnsVoid) {
      const { rows } = await session.query<ResponseSettings>(`select ${RESPONSE_COLUMNS} from ${source}`, values.values)
      readSettings(rows[0] ?? {})
      return () => reply.code(applySettings(reply, rows[0] ?? {}, 204)).send()
    }
    const rows = fn.returnsRow
      ? await rowsOf(session, deps, call, { fn, source, values })
      : await valuesOf(session, call, { fn, source, values })
    readSettings(rows)
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
  if (fn.returnsRecord && (call.parameters.get('select') ?? '*') !== '*')
    throw badQuery({ parameter: 'select', detail: `the columns of ${fn.name}, which returns record, are not known` })
  const where = fn.returnsSet ? whereClause(conditions, 'source', values) : ''
  const page = `${orderClause(order, 'source')}${limit === null ? '' : ` limit ${limit}`} offset ${offset}`
  const column = quoteIdentifier(fn.name)
  const result = fn.returnsRecord ? 'result.result' : 'result'
  const list = listOf('page.value', { maxBytes: answerBytesOf(call.principal), maxRows: limit, place: 'answer' })
  const { rows } = await session.query<Rows>(
    fn.returnsSet
      ? `with source as materialized (select ${result} as ${column} from ${source} as result), page as (select to_json(source.${column}) as value from source${where}${page})
        select coalesce(${list}, '[]')::text as body, count(*) as returned,
          (select count(*) from source${call.preferences.maxAffected === null ? where : ''}) as total, ${RESPONSE_COLUMNS} from page`
      : `select to_json(${fn.returnsRecord ? result : 'result.*'})::text as body, 1 as returned, 1 as total, ${RESPONSE_COLUMNS} from ${source} as result`,
    values.values,
  )
  const row = rows[0] ?? { body: null, returned: 1, total: 1 }
  return { ...row, body: row.body ?? 'null' }
}

/** @throws PARAMETER_REPEATED for a repeated argument; filters of the rows and variadic arguments may repeat */
function requireArgumentsOnce(request: Named, args: CallableFunction['args']): void {
  const variadic = args.find((arg) => arg.isVariadic)?.name
  readParameters(request, (name, value) => name === variadic || !isArgument([name, value]))
}
