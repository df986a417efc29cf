/** Numbers for infinite times and days, e.g. in DuckDB. */
const INFINITE_COUNT = 2n ** 63n - 1n
const INFINITE_DAYS = 2 ** 31 - 1
/** Seconds from 1970 to the ends of the calendar of JavaScript. */
const MOST_SECONDS = 8_640_000_000_000n

/**
 * ISO text, with microseconds or nanoseconds where there are any, of a count of `perSecond` parts since 1970. The
 * largest count and its negative are infinite. A count beyond the calendar is returned as digits, which no column of
 * times accepts.
 */
export function isoOfCount(count: bigint, perSecond: bigint): string {
  if (count === INFINITE_COUNT || count === -INFINITE_COUNT) return count > 0n ? 'infinity' : '-infinity'
  const seconds = floorDivided(count, perSecond)
  const nanos = ((count - seconds * perSecond) * 1_000_000_000n) / perSecond
  if (seconds > MOST_SECONDS || seconds < -MOST_SECONDS) return String(count)
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, -5)
  const fraction = String(nanos).padStart(9, '0').replace(/000$/, '')
  return nanos === 0n ? `${whole}Z` : `${whole}.${fraction}Z`
}

/** ISO date of a count of days since 1970; infinite and impossible counts as in {@link isoOfCount}. */
export function isoOfDays(days: number): string {
  if (Math.abs(days) === INFINITE_DAYS) return days > 0 ? 'infinity' : '-infinity'
  if (Math.abs(days) > Number(MOST_SECONDS) / 86_400) return String(days)
  return new Date(days * 86_400_000).toISOString().replace(/T.*/, '')
}

/** ISO time of day of a count of `perSecond` parts since midnight. */
export function isoTimeOfCount(count: bigint, perSecond: bigint): string {
  return isoOfCount(count, perSecond).slice(11, -1)
}

/** ISO duration of an interval as Parquet stores it: months, days and milliseconds, each in four bytes. */
export function isoOfInterval(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [months, days, millis] = [0, 4, 8].map((at) => view.getUint32(at, true)) as [number, number, number]
  const parts = `${months > 0 ? `${months}M` : ''}${days > 0 ? `${days}D` : ''}`
  return `P${parts}${millis > 0 || parts === '' ? `T${millis / 1000}S` : ''}`
}

/** The decimal text of a whole number with its last `scale` digits after the point. */
export function decimalText(digits: bigint, scale: number): string {
  if (scale <= 0) return String(digits * 10n ** BigInt(-scale))
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  return `${digits < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

function floorDivided(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}
