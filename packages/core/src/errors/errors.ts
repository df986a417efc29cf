/** Kind of an error for any transport; each maps it once: HTTP to a status, the queue to "try again" or "final". */
export type ErrorKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'too_slow'
  | 'unsupported_media'
  | 'invalid'
  | 'rate_limited'
  | 'cancelled'
  | 'not_implemented'
  | 'upstream'
  | 'unavailable'
  | 'timeout'
  | 'internal'

/** One invalid field: `path` is a JSON pointer into the input (`/bands/2`), `message` is the requirement. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** Optional parts of an error, given by the code that throws it. */
export interface ErrorExtras {
  /** The remedy, in one sentence. */
  readonly hint?: string
  /** Further facts for a person to act on; never secrets. */
  readonly details?: string
  readonly errors?: readonly FieldError[]
  /** Seconds after which the same call may succeed. */
  readonly retrySeconds?: number
  readonly cause?: unknown
}

/** An error of a package's catalogue: `code` is stable and greppable, `message` is safe to show to the caller. */
export class TerraneError extends Error {
  readonly code: string
  readonly kind: ErrorKind
  readonly hint: string | null
  readonly details: string | null
  readonly errors: readonly FieldError[]
  readonly retrySeconds: number | null

  constructor(code: string, kind: ErrorKind, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'TerraneError'
    this.code = code
    this.kind = kind
    this.hint = extras.hint ?? null
    this.details = extras.details ?? null
    this.errors = extras.errors ?? []
    this.retrySeconds = extras.retrySeconds ?? null
  }

  /** True when the same call may succeed later without any change by the caller. */
  get retryable(): boolean {
    return RETRYABLE.has(this.kind)
  }
}

const RETRYABLE: ReadonlySet<ErrorKind> = new Set(['rate_limited', 'upstream', 'unavailable', 'timeout', 'internal'])

/** Adds an entry to a catalogue; returns the function that makes the error. @param extras hint and the like */
export function defineError<Fields = void>(
  code: string,
  kind: ErrorKind,
  message: (fields: Fields) => string,
  extras?: (fields: Fields) => ErrorExtras,
): (fields: Fields, more?: ErrorExtras) => TerraneError {
  return (fields, more) => new TerraneError(code, kind, message(fields), { ...extras?.(fields), ...more })
}
