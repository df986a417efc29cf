/** A JSON object from outside. */
export type Json = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text, or null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** A number; numeric texts and booleans are converted. Null for anything else. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : null
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/** A whole number; fractions are truncated. */
export function integerOf(value: unknown): number | null {
  if (typeof value === 'string') return /^[+-]?\d+$/.test(value) ? Number(value) : null
  const number = numberOf(value)
  return number === null || !Number.isFinite(number) ? null : Math.trunc(number)
}

/** A whole number, wrapped to 32 bits unsigned as in Valhalla: negative numbers become very large. */
export function countOf(value: unknown): number | null {
  const number = integerOf(value)
  return number === null ? null : wrapped(number)
}

/** A number wrapped to 32 bits as by a processor: values beyond 64 bits become zero. */
export function wrapped(number: number): number {
  return Math.abs(number) < 2 ** 63 ? number >>> 0 : 0
}

/** A boolean; texts and numbers are converted. */
export function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  return value === '1' ? true : value === '0' ? false : null
}
