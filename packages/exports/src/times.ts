import type { Losses } from './losses.ts'
import type { ExportColumn } from './source.ts'

/** A calendar day, proleptic Gregorian; year 0 is 1 BC. */
interface Day {
  readonly year: number
  readonly month: number
  readonly day: number
}

const DATE = /^(\d{4,})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)\.(\d{6})Z?)?( BC)?$/
const LAST_YEAR = 9999
const MICROS = 1_000_000n
const DAY_SECONDS = 86_400n
/** Offsets of the fraction of a second in the text of a time stamp. */
const FRACTION = { start: 20, millisEnd: 23, end: 26 } as const

/** Days from 1970-01-01 to a date of an export; null for an infinite one. */
export function daysOf(text: string): number | null {
  const day = dayOf(text)
  return day && daysTo(day)
}

/** Microseconds from 1970-01-01T00:00:00 to a time stamp, without regard to zones; null for an infinite one. */
export function microsOf(text: string): bigint | null {
  const found = DATE.exec(text)
  const day = dayOf(text)
  if (!found || !day) return null
  const [hours, minutes, seconds, micros] = found.slice(4, 8).map(BigInt) as [bigint, bigint, bigint, bigint]
  return (BigInt(daysTo(day)) * DAY_SECONDS + (hours * 60n + minutes) * 60n + seconds) * MICROS + micros
}

/** A date or time stamp in ISO 8601 with four digits of a year; others become null and are counted. */
export function isoOrNull(text: string, { name }: ExportColumn, losses: Losses): string | null {
  const day = dayOf(text)
  if (day && day.year >= 1 && day.year <= LAST_YEAR) return text
  leftOut(name, losses)
  return null
}

/** Counts a time that the format has no place for. */
export function leftOut(name: string, losses: Losses): void {
  const message = 'Times that the format has no place for (infinite, before Christ, after the year 9999) became null.'
  losses.count('TIMES_LEFT_OUT', message, name)
}

/** A time stamp to the millisecond, as GeoPackage has it; counted where microseconds are cut. */
export function toMillis(text: string, { name }: ExportColumn, losses: Losses): string {
  if (text.slice(FRACTION.millisEnd, FRACTION.end) !== '000')
    losses.count('TIMES_CUT', 'The format has times to the millisecond: microseconds were cut.', name)
  return text.slice(0, FRACTION.millisEnd) + text.slice(FRACTION.end)
}

function dayOf(text: string): Day | null {
  const found = DATE.exec(text)
  if (!found) return null
  const year = Number(found[1])
  return { year: found[8] === undefined ? year : 1 - year, month: Number(found[2]), day: Number(found[3]) }
}

/** Days of the civil calendar, in eras of 400 years that begin in March. */
function daysTo({ year, month, day }: Day): number {
  const from = month <= 2 ? year - 1 : year
  const era = Math.floor(from / 400)
  const ofEra = from - era * 400
  const ofYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468
}
