import { DEPTH_HEADER, SIGNED_DEPTH } from '@terrane/contracts/events'
import { quoteIdentifier, quoteLiteral, type Database, type Session } from '@terrane/database'
import type { RestQuery } from '@terrane/database/rest-query'
import type { Principal } from '@terrane/auth'
import type { FastifyRequest } from 'fastify'
import { answerBytesOf } from './limits.ts'
import { RESPONSE_SETTINGS, type ResponseSettings } from './response-settings.ts'

/** Execution settings of a statement: caller, schema, access mode and timeout. */
export interface RunAs {
  readonly principal: Principal
  readonly schema: string
  readonly readOnly: boolean
  /** All statements read the same snapshot. */
  readonly isSnapshot?: boolean
  readonly rollback: boolean
  readonly timeoutMs: number
  /** Settings of the transaction beside those of every caller: name and value. */
  readonly settings?: readonly (readonly [name: string, value: string])[]
  /** Depth of the chain of functions that the statement belongs to, for the events of its changes; absent outside of one. */
  readonly depth?: string
}

/** The rows of an answer. */
export interface Rows extends ResponseSettings {
  /** The answer's body in the requested format. */
  readonly body: string
  readonly returned: number
  /** Number of rows that match the filters; null unless requested. */
  readonly total: number | null
}

/**
 * Runs work in one transaction under the caller's database role, with the claims where row-level security reads them.
 * `SET LOCAL` ends with the transaction, so the next caller starts clean. Answers are bounded in bytes by the caller's role;
 * COPY streams are not.
 *
 * @throws ANSWER_TOO_LARGE
 */
export function runAs<T>(database: Database, as: RunAs, work: (session: Session) => Promise<T>): Promise<T> {
  return database
    .withAnswerBytes(answerBytesOf(as.principal))
    .transaction(async (session) => {
      const value = await work(session)
      if (as.rollback) throw new Rollback(value)
      return value
    }, beginAs(as))
    .catch((error: unknown) => {
      if (error instanceof Rollback) return error.value as T
      throw error
    })
}

/** SQL that begins a transaction as the caller in one round trip; several statements, so without parameters. */
export function beginAs(as: Omit<RunAs, 'rollback'>): string {
  const { role, claims } = as.principal
  const settings = [
    // The planner overestimates lateral joins, and JIT compilation takes longer than the query.
    ['jit', 'off'],
    ['search_path', `${quoteIdentifier(as.schema)}, public, extensions`],
    ['request.jwt.claims', asciiJson(claims)],
    ...(as.depth === undefined ? [] : [['terrane.depth', as.depth] as const]),
    ['statement_timeout', String(as.timeoutMs)],
    ...(as.settings ?? []),
    ['role', role],
  ] as const
  const set = settings.map(([name, value]) => `set_config('${name}', ${quoteLiteral(value)}, true)`)
  return `begin${as.isSnapshot ? ' isolation level repeatable read' : ''}${as.readOnly ? ' read only' : ''}; select ${set.join(', ')}`
}

/** The {@link RunAs.depth} of a request; empty when the header does not have the form of a signed depth. */
export function depthOf({ headers }: FastifyRequest): { readonly depth?: string } {
  const depth = headers[DEPTH_HEADER]
  return typeof depth === 'string' && SIGNED_DEPTH.test(depth) ? { depth } : {}
}

/** Headers that SQL does not see: credentials, which logs of the server would keep, and those between Terrane's services. */
const SECRET_HEADER =
  /^(?:proxy-|x-terrane-)|authori[sz]|authenti|(?:^|-)auth(?:-|$)|cookie|api[-_]?key|token|jwt|assertion|secret|passw|credential/

/**
 * Settings of a request that SQL reads: `request.headers`, `request.method` and `request.path` as PostgREST names them, and
 * the time zone. Response settings of an earlier caller of the connection are emptied.
 */
export function settingsOf(request: FastifyRequest, timezone: string | null): NonNullable<RunAs['settings']> {
  const headers = Object.entries(request.headers).filter(([name]) => !SECRET_HEADER.test(name))
  const [path = ''] = (request.raw.url ?? '').split('?')
  return [
    ['request.method', request.method],
    ['request.path', path.replace('/rest/v1', '')],
    ['request.headers', asciiJson(Object.fromEntries(headers))],
    [RESPONSE_SETTINGS.headers, ''],
    [RESPONSE_SETTINGS.status, ''],
    ...(timezone === null ? [] : [['timezone', timezone] as const]),
  ]
}

/** JSON in ASCII only, so that the quotes are read correctly in any encoding of the session. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

class Rollback extends Error {
  readonly value: unknown
  constructor(value: unknown) {
    super('rolled back as asked')
    this.value = value
  }
}

/** `0-9/100` for Content-Range. */
export function contentRange(query: Pick<RestQuery, 'offset'>, rows: Rows): string {
  const total = rows.total === null ? '*' : String(rows.total)
  return rows.returned === 0 ? `*/${total}` : `${query.offset}-${query.offset + rows.returned - 1}/${total}`
}
