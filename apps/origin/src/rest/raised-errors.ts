import { isPermittedHeader } from './permitted-headers.ts'

/** An error in PostgREST's form. */
interface Answer {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly extras: {
    readonly details: string | null
    readonly hint: string | null
    readonly headers: Readonly<Record<string, string>>
  }
}

/** The parts of an error that SQL raises. */
interface Raised {
  readonly message?: string
  readonly detail?: string
}

/**
 * The answer that `raise sqlstate 'PGRST'` describes: its message is JSON with `code`, `message`, `details` and `hint`, its
 * detail JSON with `status` and `headers`. Anything else is an error `PGRST121`.
 */
export function raisedError({ message, detail }: Raised): Answer {
  const body = objectOf(message)
  if (typeof body?.['code'] !== 'string' || typeof body['message'] !== 'string')
    return notReadable(
      'MESSAGE',
      message,
      'a JSON object with obligatory keys: "code", "message" and optional keys: "details", "hint".',
    )
  const answer = objectOf(detail)
  const { status, headers = {} } = answer ?? {}
  if (!Number.isInteger(status) || (status as number) < 200 || (status as number) > 599 || objectOf(headers) === null)
    return notReadable(
      'DETAIL',
      detail,
      'a JSON object with obligatory keys: "status", "headers" and optional key: "status_text".',
    )
  const permitted = Object.entries(headers as object).filter((entry) => isPermittedHeader(...entry))
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : null)
  const extras = { details: text('details'), hint: text('hint'), headers: Object.fromEntries(permitted) }
  return { status: status as number, code: body['code'], message: body['message'], extras }
}

function notReadable(part: string, text: string | undefined, expected: string): Answer {
  const details =
    text === undefined ? `${part} is missing in the RAISE statement` : `Invalid JSON value for ${part}: '${text}'`
  const message = `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`
  const extras = { details, hint: `${part} must be ${expected}`, headers: {} }
  return { status: 500, code: 'PGRST121', message, extras }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  try {
    const object: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return typeof object === 'object' && object !== null && !Array.isArray(object) ? { ...object } : null
  } catch {
    return null
  }
}
