import { Parameters, isArgument, parseQuery } from '@terrane/database/rest-query'
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
  type RestDeps,
} from './call.ts'
import { readRows, runAs } from './execute.ts'
import { callSql, resolveFunction } from './functions.ts'
import { timeoutOf, withinRows } from './limits.ts'
import { parseAccept, parsePreferences } from './preferences.ts'

/** `/rest/v1/rpc/{name}`: calls the overload whose parameters the request names. */
export async function rpc(deps: RestDeps, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const isPost = request.method === 'POST'
  const parameters = searchParameters(request)
  if (!isPost) requireArgumentsOnce(request, parameters)
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

/** @throws PARAMETER_REPEATED for an argument that stands several times; filters of the rows may */
function requireArgumentsOnce(request: Named, parameters: URLSearchParams): void {
  const names = new Set([...parameters].filter(isArgument).map(([name]) => name))
  readParameters(request, (name) => !names.has(name))
}
