import { TerraneError } from '@terrane/core'
import { tellRetry } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { exceededBytes } from './embedding/embedded-bytes.ts'
import { setHeaders } from './permitted-headers.ts'
import { raisedError } from './raised-errors.ts'

/** An error in PostgREST's shape, with the status it is answered with. */
export class RestError extends Error {
  readonly status: number
  readonly code: string
  /** A sentence, or the choices of the client. */
  readonly details: string | readonly object[] | null
  readonly hint: string | null
  /** Seconds after which the same request may succeed. */
  readonly retrySeconds: number | null
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    extras: Partial<Pick<RestError, 'details' | 'hint' | 'retrySeconds' | 'headers'>> = {},
  ) {
    super(message)
    this.name = 'RestError'
    this.status = status
    this.code = code
    this.details = extras.details ?? null
    this.hint = extras.hint ?? null
    this.retrySeconds = extras.retrySeconds ?? null
    this.headers = extras.headers ?? {}
  }

  toBody(): Pick<RestError, 'code' | 'details' | 'hint' | 'message'> {
    return { code: this.code, details: this.details, hint: this.hint, message: this.message }
  }
}

/** Error for a table that does not exist. */
export function unknownTable(schema: string, name: string): RestError {
  return new RestError(404, 'PGRST205', `Could not find the table '${schema}.${name}' in the schema cache`)
}

/** Statuses by the first two characters of an SQLSTATE (PostgREST manual, errors). */
const CLASSES: Readonly<Record<string, number>> = {
  '08': 503,
  '09': 500,
  '0L': 403,
  '0P': 403,
  '21': 400,
  '22': 400,
  '23': 400,
  '25': 500,
  '28': 403,
  '2D': 500,
  '38': 500,
  '39': 500,
  '3B': 500,
  '40': 500,
  '42': 400,
  '53': 503,
  '54': 500,
  '55': 500,
  '57': 500,
  '58': 500,
  F0: 500,
  HV: 500,
  P0: 500,
  XX: 500,
}
const CODES: Readonly<Record<string, number>> = {
  '21000': 400,
  '22023': 400,
  '23503': 409,
  '23505': 409,
  '25006': 405,
  '42501': 403,
  '42883': 404,
  '42P01': 404,
  '42P17': 500,
  '53400': 500,
  // A value beyond a limit of its type, or an expression or document that is nested too deeply, is the caller's error.
  '54000': 400,
  '54001': 400,
  '54011': 400,
  '54023': 400,
  P0001: 400,
}

/** Errors of the driver and the HTTP server. */
interface Thrown {
  readonly code?: unknown
  readonly message?: string
  readonly detail?: string
  readonly hint?: string
  /** The server's source file. */
  readonly file?: string
  readonly statusCode?: number
}

/** Converts any error to PostgREST's form. `anonymous`: without a signed-in caller, "forbidden" becomes 401. */
export function toRestError(thrown: unknown, anonymous: boolean): RestError {
  if (thrown instanceof RestError) return thrown
  if (thrown instanceof TerraneError) {
    if (thrown.kind === 'unauthenticated') return new RestError(401, 'PGRST301', thrown.message, { hint: thrown.hint })
    if (thrown.code === 'DATABASE_UNAVAILABLE') {
      return new RestError(503, 'PGRST001', 'Database client error. Retrying the connection.', { details: thrown.hint })
    }
    if (thrown.kind === 'unavailable') return new RestError(503, thrown.code, thrown.message, { hint: thrown.hint })
    if (thrown.code === 'PARAMETER_REPEATED')
      return new RestError(400, thrown.code, thrown.message, { hint: thrown.hint })
    if (thrown.code === 'PGRST100' || thrown.code === 'PGRST108')
      return new RestError(400, thrown.code, thrown.message, { details: thrown.details ?? null, hint: thrown.hint })
    if (thrown.kind === 'not_found') return new RestError(404, '42P01', thrown.message, { hint: thrown.hint })
    if (thrown.code === 'PROPERTY_REPEATED') return new RestError(400, '42701', thrown.message, { hint: thrown.hint })
    if (thrown.code === 'PROPERTY_NOT_SHOWN') return new RestError(400, '42703', thrown.message, { hint: thrown.hint })
    if (thrown.kind === 'forbidden') return new RestError(403, 'PGRST301', thrown.message, { hint: thrown.hint })
    if (thrown.kind === 'rate_limited') return new RestError(429, thrown.code, thrown.message, thrown)
    if (thrown.kind === 'too_slow') return new RestError(408, thrown.code, thrown.message, { hint: thrown.hint })
    if (thrown.kind === 'malformed') return new RestError(400, 'PGRST102', thrown.message)
    if (thrown.code === 'ANSWER_TOO_LARGE')
      return new RestError(413, thrown.code, thrown.message, { hint: thrown.hint })
    if (thrown.kind === 'too_large') return new RestError(413, 'PGRST102', thrown.message, { hint: thrown.hint })
    return new RestError(500, 'PGRSTX00', 'Something went wrong on our side')
  }
  const error = thrown as Thrown
  if (typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code)) {
    if (error.code === 'PGRST') {
      const { status, code, message, extras } = raisedError(error)
      return new RestError(status, code, message, extras)
    }
    const limit = exceededBytes(error)
    if (limit !== null) {
      const hint = 'Ask for fewer rows or columns at once, or for only a part of large values.'
      return new RestError(413, 'ANSWER_TOO_LARGE', `The answer has more than ${limit} bytes`, { hint })
    }
    // The server may suggest a name that the caller may not read.
    const hint = error.file === 'parse_relation.c' ? null : (error.hint ?? null)
    const extras = { details: error.detail ?? null, hint }
    // PostGIS reports a geometry that it cannot read or transform as an internal error.
    const isGeometry = error.code === 'XX000' && error.file?.startsWith('lwgeom_')
    const status = isGeometry ? 400 : sqlStatus(error.code, anonymous)
    return new RestError(status, error.code, error.message ?? 'database error', extras)
  }
  if (error.statusCode === 413) return new RestError(413, 'PGRST102', 'The body is larger than this endpoint accepts')
  if (error.statusCode === 415)
    return new RestError(415, 'PGRST102', 'The content type of the body is not supported', {
      hint: 'Send the body as application/json.',
    })
  if (error.statusCode !== undefined && error.statusCode < 500)
    return new RestError(400, 'PGRST102', 'Error in $: the body is not valid JSON')
  return new RestError(500, 'PGRSTX00', 'Something went wrong on our side')
}

/** The error for a statement beyond its role's timeout, outside of `/rest/v1`; others are returned unchanged. */
export function lateAsHouse(thrown: unknown): unknown {
  if ((thrown as Thrown | null)?.code !== '57014') return thrown
  return new RestError(503, 'STATEMENT_TOO_SLOW', 'The statement exceeded the time limit of this role', {
    hint: 'Ask for fewer rows or a smaller area, or create an index on the columns of the filter.',
  })
}

/** Answers with an error in PostgREST's shape and logs it when the server is at fault. */
export function sendRestError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  error = toRestError(thrown, request.restCaller?.role === 'anon'),
): void {
  if (error.status >= 500) request.log.error({ err: thrown }, 'request failed')
  if (error.status === 401) reply.header('www-authenticate', 'Bearer')
  tellRetry(reply, error.status, error)
  setHeaders(reply, Object.entries(error.headers))
  void reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(error.toBody()))
}

function sqlStatus(code: string, anonymous: boolean): number {
  const custom = /^PT(\d{3})$/.exec(code)
  if (custom) return Number(custom[1])
  if (code === '42501' && anonymous) return 401
  return CODES[code] ?? CLASSES[code.slice(0, 2)] ?? 400
}
