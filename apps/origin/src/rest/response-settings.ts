import type { FastifyReply } from 'fastify'
import { RestError } from './errors.ts'
import { isPermittedHeader, setHeaders } from './permitted-headers.ts'

/** Settings by which SQL functions and triggers change an answer (PostgREST manual, transaction-scoped settings). */
export const RESPONSE_SETTINGS = { headers: 'response.headers', status: 'response.status' } as const

/** SQL columns with the response settings, for the statement that reads the rows. */
export const RESPONSE_COLUMNS = `nullif(current_setting('${RESPONSE_SETTINGS.headers}', true), '') as "setHeaders", nullif(current_setting('${RESPONSE_SETTINGS.status}', true), '') as "setStatus"`

/** Response settings of a statement; null or absent for unchanged. */
export interface ResponseSettings {
  readonly setHeaders?: string | null
  readonly setStatus?: string | null
}

/** Maximum length of `response.headers`; clients and proxies refuse longer headers. */
const MAX_CHARACTERS = 8192

/** Applies the response settings of a statement to its answer and returns the status. @param status without settings */
export function applySettings(reply: FastifyReply, settings: ResponseSettings, status: number): number {
  const read = readSettings(settings)
  setHeaders(reply, read.headers)
  return read.status ?? status
}

/**
 * Reads the response settings of a statement. Called within its transaction, so that a refused setting undoes the change.
 *
 * @throws PGRST111 for headers that are not permitted, PGRST112 for a status outside of 200 to 599
 */
export function readSettings({ setHeaders: headers, setStatus }: ResponseSettings): {
  readonly headers: [name: string, value: string][]
  readonly status: number | null
} {
  const status = setStatus ?? null
  if (status !== null && !/^[2-5]\d\d$/.test(status))
    throw new RestError(500, 'PGRST112', 'response.status guc must be a valid status code')
  return { headers: headersOf(headers ?? '[]'), status: status === null ? null : Number(status) }
}

function headersOf(text: string): [name: string, value: string][] {
  if (text.length > MAX_CHARACTERS)
    throw badHeaders(null, `response.headers guc must have at most ${MAX_CHARACTERS} characters`)
  const entries = parsed(text)?.flatMap((item) => Object.entries(item))
  if (!entries)
    throw badHeaders(
      null,
      'response.headers guc must be a JSON array composed of objects with a single key and a string value',
    )
  return entries.map(([name, value]) => {
    if (isPermittedHeader(name, value)) return [name, value]
    throw badHeaders(
      `The header ${name.slice(0, 100)} cannot be set, or its value is not printable ASCII of at most 4096 characters`,
      'response.headers guc has a header that SQL may not set',
    )
  })
}

function parsed(text: string): object[] | null {
  try {
    const list = JSON.parse(text) as unknown
    const isList = Array.isArray(list) && list.every((item) => isMember(item))
    return isList ? (list as object[]) : null
  } catch {
    return null
  }
}

function isMember(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return false
  const values = Object.values(item)
  return values.length === 1 && typeof values[0] === 'string'
}

function badHeaders(details: string | null, message: string): RestError {
  return new RestError(500, 'PGRST111', message, { details })
}
