import type { FieldError } from '@terrane/core'

/** Whether a JSON value is a `T`; adds its errors to `errors`. */
export type Check<T> = (value: unknown, path: string, errors: FieldError[]) => value is T

/** A string that matches `pattern`; `wanted` is the error message. */
export function text(pattern = /\S/, wanted = 'must be a text'): Check<string> {
  return (value, path, errors): value is string =>
    (typeof value === 'string' && pattern.test(value)) || reject(path, errors, wanted)
}

/** A number, whole when `whole`, from `min` to `max`. */
export function number(min: number, max: number, whole = false): Check<number> {
  const wanted = `must be a ${whole ? 'whole ' : ''}number from ${min} to ${max}`
  return (value, path, errors): value is number => {
    const fits = typeof value === 'number' && value >= min && value <= max && (!whole || Number.isSafeInteger(value))
    return fits || reject(path, errors, wanted)
  }
}

export function boolean(): Check<boolean> {
  return (value, path, errors): value is boolean =>
    typeof value === 'boolean' || reject(path, errors, 'must be true or false')
}

export function oneOf<const T extends string>(...values: readonly T[]): Check<T> {
  return (value, path, errors): value is T =>
    values.some((candidate) => candidate === value) || reject(path, errors, `must be one of ${values.join(', ')}`)
}

/** `null` is allowed, and means absent. */
export function nullable<T>(check: Check<T>): Check<T | null> {
  return (value, path, errors): value is T | null => value === null || check(value, path, errors)
}

/** A list of `min` to `max` items. */
export function list<T>(check: Check<T>, min: number, max: number): Check<readonly T[]> {
  return (value, path, errors): value is readonly T[] => {
    if (!Array.isArray(value) || value.length < min || value.length > max) {
      return reject(path, errors, `must be a list of ${min} to ${max} entries`)
    }
    return value.map((item, i) => check(item, `${path}/${i}`, errors)).every(Boolean)
  }
}

const OPTIONAL = new WeakSet<object>()

/** The field may be missing. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  const lenient: Check<T | undefined> = (value, path, errors): value is T | undefined => check(value, path, errors)
  OPTIONAL.add(lenient)
  return lenient
}

/** An object with exactly these fields. */
export function record<T extends object>(fields: { readonly [K in keyof T]-?: Check<T[K]> }): Check<T> {
  return (value, path, errors): value is T => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return reject(path, errors, 'must be an object')
    }
    const source: Readonly<Record<string, unknown>> = { ...value }
    const unknown = Object.keys(source).filter((key) => !Object.hasOwn(fields, key))
    for (const key of unknown) reject(`${path}/${key}`, errors, 'is not a field of this object')
    const checks = Object.entries<Check<unknown>>(fields).map(([key, check]) => {
      const place = `${path}/${key}`
      if (Object.hasOwn(source, key)) return check(source[key], place, errors)
      return OPTIONAL.has(check) || reject(place, errors, 'is missing')
    })
    return unknown.length === 0 && checks.every(Boolean)
  }
}

function reject(path: string, errors: FieldError[], message: string): false {
  errors.push({ path, message })
  return false
}
