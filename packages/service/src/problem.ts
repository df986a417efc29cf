import { STATUS_CODES } from 'node:http'

import { TerraneError, type ErrorKind, type FieldError } from '@terrane/core'
import type { Problem } from '@terrane/contracts'
import { IDENTIFIER_PATTERN } from '@terrane/contracts/names'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

const STATUS: Readonly<Record<ErrorKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_slow: 408,
  too_large: 413,
  unsupported_media: 415,
  invalid: 422,
  rate_limited: 429,
  cancelled: 409,
  not_implemented: 501,
  upstream: 502,
  unavailable: 503,
  timeout: 504,
  internal: 500,
}

/** Titles by status, as RFC 9110 names them; Node has older names of two. */
const TITLES: Readonly<Record<number, string | undefined>> = {
  ...STATUS_CODES,
  413: 'Content Too Large',
  422: 'Unprocessable Content',
}

/** Wait before another try where the error names none. */
const RETRY_SECONDS = 5

/** Most field errors that one answer lists. */
const MAX_FIELD_ERRORS = 50

/** The HTTP status of an error kind. */
export function statusOf(kind: ErrorKind): number {
  return STATUS[kind]
}

/** Turns anything thrown into a problem body; outside of a catalogue a 500 without internals, for callers to log. */
export function toProblem(thrown: unknown, instance: string): Problem {
  const error = normalise(thrown)
  const status = STATUS[error.kind]
  return {
    type: `urn:terrane:problem:${error.code}`,
    title: TITLES[status] ?? 'Error',
    status,
    detail: error.message,
    instance,
    code: error.code,
    message: error.message,
    hint: error.hint,
    details: error.details,
    errors: error.errors.slice(0, MAX_FIELD_ERRORS).map((e) => ({ path: e.path, message: e.message })),
  }
}

/** The Fastify error handler of every app whose errors are problems. */
export function problemHandler(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  let problem = toProblem(thrown, request.id)
  if (problem.code === 'VALIDATION_FAILED' && request.server.hasDecorator('swagger'))
    problem = { ...problem, hint: 'GET /doc describes every field.' }
  if (problem.status >= 500 && problem.status !== 501) request.log.error({ err: thrown }, 'request failed')
  else request.log.debug({ code: problem.code, status: problem.status }, 'request refused')
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  tellRetry(reply, problem.status, thrown)
  void reply.code(problem.status).type('application/problem+json').serializer(JSON.stringify).send(problem)
}

/** Sets a missing `Retry-After`: the `retrySeconds` of the error, else 5 for 429 and 503. @param thrown anything */
export function tellRetry(reply: FastifyReply, status: number, thrown: unknown): void {
  const told = (thrown as { readonly retrySeconds?: number | null } | null)?.retrySeconds
  const seconds = told ?? (status === 429 || status === 503 ? RETRY_SECONDS : null)
  if (seconds !== null && !reply.hasHeader('retry-after')) reply.header('retry-after', String(seconds))
}

/** The pattern of names, in words. */
const IDENTIFIER = 'must be 1 to 63 lower-case letters, digits and _, beginning with a letter'

interface AjvError {
  readonly instancePath?: string
  readonly schemaPath?: string
  readonly keyword?: string
  readonly message?: string
  readonly params?: Readonly<Record<string, unknown>>
  /** The schema that has the keyword, for a message with all errors. */
  readonly parentSchema?: { readonly required?: readonly string[] }
}

/** Anything thrown as an error of a catalogue. */
function normalise(thrown: unknown): TerraneError {
  if (thrown instanceof TerraneError) return thrown
  const error = thrown as Partial<FastifyError> & { validation?: AjvError[]; validationContext?: string }
  if (Array.isArray(error.validation)) return validationError(error.validation, error.validationContext ?? 'body')
  const text = typeof error.message === 'string' ? error.message : ''
  switch (error.code) {
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new TerraneError('MALFORMED_BODY', 'malformed', 'The body is not valid JSON', { details: text })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new TerraneError('BODY_TOO_LARGE', 'too_large', 'The body is larger than this endpoint accepts')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new TerraneError('UNSUPPORTED_MEDIA_TYPE', 'unsupported_media', 'The content type is not supported here', {
        hint: 'Send `Content-Type: application/json`.',
      })
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new TerraneError('MALFORMED_URL', 'malformed', 'The path is not valid', {
        hint: 'Percent-encode it as UTF-8, at most 4096 characters between two slashes.',
      })
    default:
  }
  if (error.statusCode === 400)
    return new TerraneError('MALFORMED_BODY', 'malformed', 'The request is malformed', { details: text })
  return new TerraneError('INTERNAL', 'internal', 'Something went wrong on our side', { cause: thrown })
}

/** One entry per field, as JSON pointers; the context distinguishes body, query and path. */
function validationError(validation: readonly AjvError[], context: string): TerraneError {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const v of withoutBranches(validation)) {
    const field = fieldError(v)
    const prefix = context === 'body' ? '' : `/${context}`
    const path = `${prefix}${field.path}` || '/'
    if (seen.has(path)) continue
    seen.add(path)
    errors.push({ path, message: field.message })
  }
  const first = errors[0]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const text = first
    ? `${first.path.slice(1) || 'the body'} ${first.message}${more}`
    : 'The request does not fit the schema'
  return new TerraneError('VALIDATION_FAILED', 'invalid', text, { errors })
}

/** Keeps the errors of a union's matching branch by type and constants; without one, one error lists the values. */
function withoutBranches(validation: readonly AjvError[]): AjvError[] {
  const errors: AjvError[] = []
  // The error of a union comes after those of its branches.
  for (const error of validation) {
    if (error.keyword !== 'anyOf') {
      errors.push(error)
      continue
    }
    const prefix = `${error.schemaPath}/`
    const first = errors.findIndex(({ schemaPath, instancePath }) => {
      return schemaPath?.startsWith(prefix) && instancePath?.startsWith(error.instancePath ?? '')
    })
    const branches = Object.groupBy(first < 0 ? [] : errors.splice(first), ({ schemaPath = '' }) => {
      return schemaPath.slice(prefix.length).split('/', 1)[0]!
    })
    errors.push(...unionErrors(error, Object.values(branches) as AjvError[][]))
  }
  return errors
}

function unionErrors(union: AjvError, branches: readonly AjvError[][]): AjvError[] {
  const { instancePath = '' } = union
  const misfits = (branch: readonly AjvError[]) =>
    branch.find((e) => e.keyword === 'const') ??
    branch.find((e) => e.keyword === 'type' && e.instancePath === instancePath)
  const [meant] = branches.filter((branch) => !misfits(branch)).toSorted((a, b) => a.length - b.length)
  if (meant) return meant
  const wanted = branches.map((branch) => misfits(branch)!)
  const at = new Set(wanted.map((e) => e.instancePath))
  const choices = wanted.map(({ params = {} }) => {
    return 'allowedValue' in params ? JSON.stringify(params['allowedValue']) : String(params['type'])
  })
  const message = `must be ${[...new Set(choices)].join(' or ')}`
  return [{ instancePath: at.size === 1 ? wanted[0]!.instancePath! : instancePath, message }]
}

function fieldError(v: AjvError): FieldError {
  const base = v.instancePath ?? ''
  const params = v.params ?? {}
  switch (v.keyword) {
    case 'required':
      return { path: `${base}/${pointer(params['missingProperty'])}`, message: 'is required' }
    case 'additionalProperties':
      return { path: `${base}/${pointer(params['additionalProperty'])}`, message: 'is not a known field' }
    case 'const':
      return { path: base, message: `must be ${JSON.stringify(params['allowedValue'])}` }
    case 'type':
      return { path: base, message: `${v.message}${params['type'] === 'object' ? membersOf(v) : ''}` }
    case 'enum':
      return { path: base, message: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` }
    case 'minLength':
    case 'minItems':
      return { path: base, message: `must have at least ${count(v)}` }
    case 'maxLength':
    case 'maxItems':
      return { path: base, message: `must have at most ${count(v)}` }
    case 'pattern':
      return {
        path: base,
        message: params['pattern'] === IDENTIFIER_PATTERN ? IDENTIFIER : `must match ${String(params['pattern'])}`,
      }
    default:
      return { path: base, message: v.message ?? 'is not acceptable' }
  }
}

/** Names of the required properties, for a message. */
function membersOf({ parentSchema }: AjvError): string {
  const { required = [] } = parentSchema ?? {}
  return required.length > 0 ? `: {${required.join(', ')}}` : ''
}

/** `1 character`, `2 entries`: the bound of a length. */
function count({ keyword, params = {} }: AjvError): string {
  const limit = Number(params['limit'])
  const [one, many] = keyword?.endsWith('Items') ? ['entry', 'entries'] : ['character', 'characters']
  return `${limit} ${limit === 1 ? one : many}`
}

function pointer(name: unknown): string {
  return String(name).slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
}
