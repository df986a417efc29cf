import { daysOf, microsOf, microsOfDay } from './calendar.ts'
import type { ColumnType } from './columns.ts'
import { encodeNumeric } from './numeric.ts'

/** The years that the server's calendar has. */
const FIRST_DAY = -2_451_545
const LAST_DAY = 2_145_031_948
const INTEGERS: Readonly<Record<string, bigint>> = { int2: 2n ** 15n, int4: 2n ** 31n, int8: 2n ** 63n }

/** Whether a column of a type can hold a value of the kind that its loading takes; without this check a load fails as one. */
export function fitsColumn(type: ColumnType, value: string | number | bigint | boolean): boolean {
  try {
    const limit = INTEGERS[type]
    if (limit !== undefined) return BigInt(value) >= -limit && BigInt(value) < limit
    if (type === 'date') return isInCalendar(daysOf(String(value)))
    if (type === 'timestamp' || type === 'timestamptz')
      return isInCalendar(Number(microsOf(String(value)) / 86_400_000_000n))
    if (type === 'time') return microsOfDay(String(value)) <= 86_400_000_000n
    if (type === 'numeric') return encodeNumeric(String(value)).length > 0
    return true
  } catch {
    return false
  }
}

function isInCalendar(days: number): boolean {
  return days > FIRST_DAY && days < LAST_DAY
}
