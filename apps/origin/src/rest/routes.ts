import { qualified } from '@terrane/database'
import { Parameters, badQuery } from '@terrane/database/rest-query'
import { boundBody, type Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { compressAnswers } from '../compression.ts'
import { answer, partial, readCall, run, schemaOf, type Named, type RestDeps, type RestScope } from './call.ts'
import { insert, put, remove, update } from './changes.ts'
import { describeSchema } from './describe.ts'
import { SchemaPictures } from './embedding/schema-picture.ts'
import { RestError, sendRestError, toRestError, unknownTable } from './errors.ts'
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
        const error = nameNotFound(deps, request, thrown) ?? toRestError(thrown, anonymous)
        sendRestError(thrown, request, reply, error)
      })
      scope.decorateRequest('restCaller', null)
      compressAnswers(scope)
      // The caller and the size limit are determined before the body is read.
      scope.addHook('onRequest', async (request, reply) => {
        if (request.method === 'OPTIONS') return
        request.restCaller = await deps.authenticate(request)
        // A header takes bytes, given as characters.
        if (deps.schemas.length > 1)
          reply.header('content-profile', Buffer.from(schemaOf(deps, request)).toString('latin1'))
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
      optionsRoutes(scope)
      scope.route({ method: reads, url: '/', handler: whileCallerIsThere(deps, describeSchema) })
      scope.route({ method: [...reads, 'POST'], url: '/rpc/:name', handler: whileCallerIsThere(deps, rpc) })
      scope.route({ method: reads, url: '/:name', handler: whileCallerIsThere(deps, readTable) })
      scope.post('/:name', whileCallerIsThere(deps, insert))
      scope.put('/:name', whileCallerIsThere(deps, put))
      scope.patch('/:name', whileCallerIsThere(deps, update))
      scope.delete('/:name', whileCallerIsThere(deps, remove))
      scope.setNotFoundHandler((request, reply) => {
        sendRestError(null, request, reply, unknownPath(request))
      })
    },
    { prefix: '/rest/v1' },
  )
}

function unknownPath({ url, method }: FastifyRequest): RestError {
  return /^\/rest\/v1\/rpc\/[^/]+$/.test(url.split('?')[0] ?? '')
    ? new RestError(405, 'PGRST101', `Cannot use the ${method} method on RPC`)
    : new RestError(404, 'PGRST125', 'Invalid path specified in request URL')
}

/** The table of the path or a column of the body that does not exist; server errors about others are passed on. */
function nameNotFound(deps: RestDeps, request: FastifyRequest, thrown: unknown): RestError | null {
  const { code, message } = thrown as { code?: unknown; message?: string }
  const { name } = (request.params ?? {}) as { name?: string }
  if (name === undefined) return null
  const column = code === '42703' ? columnOfBody(message ?? '', name) : null
  if (column !== null)
    return new RestError(400, 'PGRST204', `Could not find the '${column}' column of '${name}' in the schema cache`)
  if (code !== '42P01') return null
  const schema = schemaOf(deps, request)
  return message === `relation "${schema}.${name}" does not exist` ? unknownTable(schema, name) : null
}

/** The column that a statement of a change does not find in its table. */
function columnOfBody(message: string, table: string): string | null {
  return (
    between(message, 'column "', `" of relation "${table}" does not exist`) ??
    between(message, 'column body.', ' does not exist')
  )
}

function between(text: string, before: string, after: string): string | null {
  const isBetween = text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after)
  return isBetween ? text.slice(before.length, -after.length) : null
}

const METHODS: Readonly<Record<string, string>> = {
  '/': 'OPTIONS, GET, HEAD',
  '/rpc/:name': 'OPTIONS, GET, HEAD, POST',
  '/:name': 'OPTIONS, GET, HEAD, POST, PUT, PATCH, DELETE',
}
/** The plugin adds the headers of CORS to the answer of a preflight. */
const UNCHECKED = { config: { cors: { strictPreflight: false, preflightContinue: true } } }

function optionsRoutes(scope: Http): void {
  for (const [url, methods] of Object.entries(METHODS)) {
    scope.options(url, UNCHECKED, (request, reply) => {
      const isPreflight = request.headers['access-control-request-method'] !== undefined
      return reply
        .header('allow', methods)
        .code(isPreflight ? 204 : 200)
        .send()
    })
  }
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
