import type { Principal } from '@terrane/auth'
import type { Database, Session } from '@terrane/database'
import { parseQuery, type RestQuery } from '@terrane/database/rest-query'
import { readParameters } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RestError } from './errors.ts'
import { contentRange, depthOf, runAs, settingsOf, type Rows, type RunAs } from './execute.ts'
import { timeoutOf, type RestLimits } from './limits.ts'
import { applySettings } from './response-settings.ts'
import type { SchemaPictures } from './embedding/schema-picture.ts'
import {
  parseAccept,
  parsePreferences,
  parseRange,
  type Accepted,
  type Format,
  type Preferences,
} from './preferences.ts'

export interface RestDeps {
  readonly database: Database
  /** Exposed schemas; the first is the default. */
  readonly schemas: readonly string[]
  readonly limits: RestLimits
  /** The caller of a request, after its keys were verified; 401 otherwise. */
  readonly authenticate: (request: FastifyRequest) => Promise<Principal>
}

/** Dependencies of the handlers of `/rest/v1`. */
export interface RestScope extends RestDeps {
  readonly pictures: SchemaPictures
}

declare module 'fastify' {
  interface FastifyRequest {
    restCaller: Principal | null
  }
}

/** A request for a table or function by its name. */
export type Named = FastifyRequest<{ Params: { name: string } }>

/** The parsed parts of one request. */
export interface Call {
  readonly principal: Principal
  readonly schema: string
  readonly query: RestQuery
  readonly parameters: URLSearchParams
  readonly preferences: Preferences
  readonly accepted: Accepted
  readonly headOnly: boolean
  readonly depth?: string
  /** {@link RunAs.settings} of the request. */
  readonly settings: NonNullable<RunAs['settings']>
}

const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  object: 'application/vnd.pgrst.object+json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  geojson: 'application/geo+json; charset=utf-8',
  plan: 'application/vnd.pgrst.plan+json; charset=utf-8',
  planText: 'application/vnd.pgrst.plan+text; charset=utf-8',
}

const STRIPPED_TYPES: Readonly<Record<string, string>> = {
  json: 'application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8',
  object: 'application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8',
}

/** Runs work as the caller, with the caller's timeout. */
export function run<T>(
  deps: RestDeps,
  call: Call,
  readOnly: boolean,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const as = {
    principal: call.principal,
    schema: call.schema,
    readOnly,
    rollback: call.preferences.rollback,
    timeoutMs: timeoutOf(deps.limits, call.principal),
    settings: call.settings,
    ...(call.depth !== undefined && { depth: call.depth }),
  }
  return runAs(deps.database, as, work)
}

/** Sends rows with the headers that the request's preferences ask for. */
export function answer(reply: FastifyReply, call: Call, rows: Rows, status: number): FastifyReply {
  const { preferences, accepted, headOnly } = call
  const { method, routeOptions } = reply.request
  const isCall = routeOptions.url?.endsWith('/rpc/:name') === true
  const isChange = !isCall && !['GET', 'HEAD'].includes(method)
  // Inserted and deleted rows are not a part of a list.
  const isListed = !isChange || method === 'PATCH'
  reply.header('content-range', contentRange(call.query, isListed ? rows : { ...rows, returned: 0 }))
  if (preferences.applied.length > 0) reply.header('preference-applied', preferences.applied.join(', '))
  const isShown = !isChange || preferences.representation === 'full'
  const isEmptied = !isShown && status === 200 && method !== 'POST'
  reply.code(applySettings(reply, rows, isEmptied ? 204 : status))
  if (!isShown) return reply.send()
  reply.type((accepted.isStripped && STRIPPED_TYPES[accepted.format]) || CONTENT_TYPES[accepted.format])
  return headOnly ? reply.send() : reply.send(rows.body)
}

/** Whether a counted answer holds only a part of the rows. */
export function partial(call: Call, rows: Rows): boolean {
  return rows.total !== null && rows.returned > 0 && rows.returned < rows.total && call.preferences.count
}

/** Parses all parts of a request for the rows of a table or function. @param parameters of the rows */
export async function readCall(deps: RestDeps, request: Named, parameters = searchParameters(request)): Promise<Call> {
  const principal = callerOf(request)
  const preferences = parsePreferences(request.headers.prefer)
  return {
    principal,
    schema: schemaOf(deps, request),
    query: withRange(parseQuery(parameters, true), request),
    parameters,
    preferences,
    accepted: parseAccept(request.headers.accept, deps.limits.plans),
    headOnly: request.method === 'HEAD',
    settings: settingsOf(request, preferences.timezone),
    ...depthOf(request),
  }
}

/** The schema by Accept-Profile for reads and Content-Profile for other methods; by default the first exposed one. */
export function schemaOf(deps: RestDeps, request: FastifyRequest): string {
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

/** Parameters that may occur once, also with the name of an embedded resource: `districts.limit`. */
const ONCE = /^(?:select|columns|on_conflict|(?:.*\.)?(?:limit|offset))$/s

/** The query of a request. Filters, logic trees and orders may occur several times. @throws PARAMETER_REPEATED */
export function searchParameters(request: FastifyRequest): URLSearchParams {
  return readParameters(request, (name) => !ONCE.test(name))
}

/** The part of a query's page that is in the Range header. */
function withRange(query: RestQuery, request: FastifyRequest): RestQuery {
  // RFC 9110 defines the header only for GET.
  const range = request.method === 'GET' ? parseRange(request.headers.range) : null
  if (!range) return query
  const offset = Math.max(query.offset, range.offset)
  const ends = [query, range].map((part) => (part.limit === null ? Infinity : part.offset + part.limit))
  const end = Math.max(Math.min(...ends), offset)
  return { ...query, offset, limit: end === Infinity ? null : end - offset }
}

/** The caller that the hook has authenticated. */
export function callerOf(request: FastifyRequest): Principal {
  if (!request.restCaller) throw new Error('the request has not passed the door')
  return request.restCaller
}
