const MS_TO_2000 = 946_684_800_000
const DAY_MS = 86_400_000
/** PostgreSQL's infinite days and times, whose numbers are the limits of their types. */
const INFINITE = /^-?infinity$/
const INFINITE_DAYS = 2 ** 31
const INFINITE_MICROS = 2n ** 63n
const DATE = /^([+-]?\d{4,6})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?$/
const ZONE = /(Z|[+-]\d\d(?::?\d\d)?)$/i

/** Days from 2000-01-01 to an ISO date, or to `infinity` or `-infinity`; years are astronomical, so that `-0044` is 45 BC. @throws RangeError */
export function daysOf(text: string): number {
  if (INFINITE.test(text)) return text.startsWith('-') ? -INFINITE_DAYS : INFINITE_DAYS - 1
  const [, year, month, day] = DATE.exec(text) ?? []
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (year === undefined || date.getUTCDate() !== Number(day) || date.getUTCMonth() + 1 !== Number(month)) {
    throw new RangeError(`${text.slice(0, 40)} is not a date`)
  }
  return (date.getTime() - MS_TO_2000) / DAY_MS
}

/** Microseconds from midnight to an ISO time. @throws RangeError */
export function microsOfDay(text: string): bigint {
  const [, hours, minutes, seconds = '0', fraction = ''] = TIME.exec(text) ?? []
  if (hours === undefined || Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) > 60) {
    throw new RangeError(`${text.slice(0, 40)} is not a time`)
  }
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6))
}

/** Microseconds from 2000-01-01T00:00Z to an ISO time, or to an infinite one; by default in UTC. @throws RangeError */
export function microsOf(text: string): bigint {
  if (INFINITE.test(text)) return text.startsWith('-') ? -INFINITE_MICROS : INFINITE_MICROS - 1n
  const [date = '', rest = ''] = text.split(/[T ](.*)/, 2)
  const zone = ZONE.exec(rest)?.[1] ?? 'Z'
  const time = rest.replace(ZONE, '')
  const days = BigInt(daysOf(date)) * BigInt(DAY_MS) * 1000n
  return days + (time === '' ? 0n : microsOfDay(time)) - BigInt(minutesOf(zone)) * 60_000_000n
}

function minutesOf(zone: string): number {
  if (/^z$/i.test(zone)) return 0
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone)!
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
