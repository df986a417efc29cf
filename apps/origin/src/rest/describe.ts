import { readParameters } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf, schemaOf, type RestDeps } from './call.ts'
import { readCatalog } from './catalog.ts'
import { runAs } from './execute.ts'
import { timeoutOf } from './limits.ts'
import { openApi, swagger } from './openapi.ts'

const OPENAPI_31 = 'application/vnd.oai.openapi+json'

/**
 * `GET /rest/v1/`: description of the tables and functions that the caller may use in a schema. Swagger 2.0 in
 * PostgREST's form by default. OpenAPI 3.1, for type generators, if Accept names `application/vnd.oai.openapi+json` or
 * the query has `openapi=3.1`.
 */
export async function describeSchema(
  deps: RestDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const principal = callerOf(request)
  const schema = schemaOf(deps, request)
  const as = { principal, schema, readOnly: true, rollback: false, timeoutMs: timeoutOf(deps.limits, principal) }
  const catalog = await runAs(deps.database, as, (session) =>
    readCatalog(session, schema, deps.limits.extensionFunctions),
  )
  const modern =
    readParameters(request).get('openapi') === '3.1' || request.headers.accept?.includes(OPENAPI_31) === true
  reply.header('vary', 'accept, accept-profile, authorization, apikey')
  return modern
    ? reply.type(`${OPENAPI_31}; version=3.1; charset=utf-8`).send(JSON.stringify(openApi(catalog)))
    : reply
        .type('application/openapi+json; charset=utf-8')
        .send(JSON.stringify(swagger(catalog, request.headers.host ?? 'localhost')))
}
