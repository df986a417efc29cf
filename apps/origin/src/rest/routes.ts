import { qualified } from '@terrane/database'
import { Parameters, badQuery } from '@terrane/database/rest-query'
import { boundBody, type Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { compressAnswers } from '../compression.ts'
import { answer, partial, readCall, run, schemaOf, type Named, type RestDeps, type RestScope } from './call.ts'
import { insert, remove, update } from './changes.ts'
import { describeSchema } from './describe.ts'
import { SchemaPictures } from './embedding/schema-picture.ts'
import { sendRestError, toRestError, unknownTable, type RestError } from './errors.ts'
import { readRows } from './read-rows.ts'
import { withinRows } from './limits.ts'
import { rpc } from './rpc.ts'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'

/** `/rest/v1`: tables and functions of the project's database over HTTP, as PostgREST serves them. */
export async function restRoutes(app: Http, settings: RestDeps): Promise<void> {
  const deps = { ...settings, pictures: new SchemaPictures(settings.schemas) }
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => {
        const anonymous = request.restCaller?.role === 'anon'
        const error = tableNotFound(deps, request, thrown) ?? toRestError(thrown, anonymous)
        sendRestError(thrown, request, reply, error)
      })
      scope.decorateRequest('restCaller', null)
      compressAnswers(scope)
      // The caller and the size limit are determined before the body is read.
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
      // Bodies are passed to the database as text, so that numbers keep all digits.
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

/** The table of the path when it does not exist; server errors about other relations are passed on. */
function tableNotFound(deps: RestDeps, request: FastifyRequest, thrown: unknown): RestError | null {
  const { code, message } = thrown as { code?: unknown; message?: string }
  const { name } = (request.params ?? {}) as { name?: string }
  if (code !== '42P01' || name === undefined) return null
  const schema = schemaOf(deps, request)
  return message === `relation "${schema}.${name}" does not exist` ? unknownTable(schema, name) : null
}

type Handler = (deps: RestScope, request: Named, reply: FastifyReply) => Promise<FastifyReply>

/** Aborts the statement when the client disconnects. */
function whileCallerIsThere(deps: RestScope, handler: Handler) {
  return abortOnDisconnect((request, reply, signal) =>
    handler({ ...deps, database: deps.database.withSignal(signal) }, request as Named, reply),
  )
}

async function readTable(deps: RestScope, request: Named, reply: FastifyReply): Promise<FastifyReply> {
  const read = await readCall(deps, request)
  const call = { ...read, query: withinRows(read.query, deps.limits) }
  const { query, accepted } = call
  const table = request.params.name
  const from = qualified(call.schema, table)
  const rows = await run(deps, call, true, (session) =>
    readRows(session, deps, call, { table, from, query, accepted, parameters: new Parameters(), prefix: () => '' }),
  )
  return answer(reply, call, rows, partial(call, rows) ? 206 : 200)
}
