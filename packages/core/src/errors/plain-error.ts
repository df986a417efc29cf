import { TerraneError, type ErrorKind, type FieldError } from './errors.ts'

/** An error in the form that is sent between threads. */
export interface PlainError {
  readonly code: string | null
  readonly kind: ErrorKind
  readonly message: string
  readonly hint: string | null
  readonly details: string | null
  readonly errors: readonly FieldError[]
}

/** The part of an error that can be posted to another thread. */
export function toPlainError(error: unknown): PlainError {
  if (error instanceof TerraneError) {
    const { code, kind, message, hint, details, errors } = error
    return { code, kind, message, hint, details, errors }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { code: null, kind: 'internal', message, hint: null, details: null, errors: [] }
}

/** The error that {@link toPlainError} took apart. @param other creates one that is in no catalogue */
export function reviveError<Other extends Error>(
  plain: PlainError,
  other: (why: string) => Other,
): TerraneError | Other {
  const { code, kind, message, hint, details, errors } = plain
  if (code === null) return other(message)
  return new TerraneError(code, kind, message, {
    ...(hint !== null && { hint }),
    ...(details !== null && { details }),
    errors,
  })
}
