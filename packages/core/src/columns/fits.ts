import { daysOf, microsOf, microsOfDay } from './calendar.ts'
import { encodeNumeric } from './numeric.ts'

/** Range of PostgreSQL's dates in days since 2000, and the values of its infinite dates. */
const FIRST_DAY = -2_451_545
const LAST_DAY = 2_145_031_948
const INFINITE_DAYS: ReadonlySet<number> = new Set([-(2 ** 31), 2 ** 31 - 1])
/** The first whole number beyond the range of a type; the smallest number in the range is its negative. */
const INTEGERS: Readonly<Record<string, number>> = { int2: 2 ** 15, int4: 2 ** 31, int8: 2 ** 63 }
const FLOATS: Readonly<Record<string, true>> = { float4: true, float8: true }

/**
 * Whether a column of PostgreSQL holds a value.
 *
 * @param type its name, e.g. `int4`; a type without bounds holds everything
 * @param value numbers as numbers, bigints or decimal text, dates and times as ISO 8601 text
 */
export function fitsColumn(type: string, value: string | number | bigint | boolean): boolean {
  try {
    if (FLOATS[type]) return true
    const limit = INTEGERS[type]
    if (limit !== undefined) {
      // Whole numbers are compared as numbers, because converting each to a bigint would be slow.
      const whole = typeof value === 'number' && Number.isInteger(value) ? value : BigInt(value)
      return whole >= -limit && whole < limit
    }
    if (type === 'date') return isInCalendar(daysOf(String(value)))
    if (type === 'timestamp' || type === 'timestamptz')
      return /^-?infinity$/.test(String(value)) || isInCalendar(Number(microsOf(String(value)) / 86_400_000_000n))
    if (type === 'time') return microsOfDay(String(value)) <= 86_400_000_000n
    if (type === 'numeric') return encodeNumeric(String(value)).length > 0
    return true
  } catch {
    return false
  }
}

function isInCalendar(days: number): boolean {
  return (days > FIRST_DAY && days < LAST_DAY) || INFINITE_DAYS.has(days)
}
