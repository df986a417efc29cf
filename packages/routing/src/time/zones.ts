import tzlookup from '@photostructure/tz-lookup'

import type { Moment } from './hours.ts'

/** Name of the time zone at a position, such as `Europe/Berlin`. */
export function zoneAt(lon: number, lat: number): string {
  return tzlookup(lat, lon)
}

const MINUTE_MS = 60_000
/** Offsets change only at full quarters of an hour. */
const STEP_MS = 15 * MINUTE_MS
const CAPACITY = 10_000
const offsets = new Map<string, number>()
const formats = new Map<string, Intl.DateTimeFormat>()

/** Offset of a zone from UTC at a moment, in minutes. */
function offsetMinutes(zone: string, utcMs: number): number {
  const step = Math.floor(utcMs / STEP_MS)
  const key = `${zone} ${step}`
  let offset = offsets.get(key)
  if (offset === undefined) {
    offset = readOffset(zone, step * STEP_MS)
    if (offsets.size >= CAPACITY) offsets.clear()
    offsets.set(key, offset)
  }
  return offset
}

function readOffset(zone: string, utcMs: number): number {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    formats.set(zone, format)
  }
  const name = format.formatToParts(utcMs).find(({ type }) => type === 'timeZoneName')!.value
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name) ?? []
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Milliseconds since 1970 of a local time `YYYY-MM-DDTHH:MM`; a time in the skipped hour counts as an hour later. */
export function utcOf(local: string, zone: string): number {
  const asUtc = Date.parse(`${local}:00Z`)
  const guess = asUtc - offsetMinutes(zone, asUtc) * MINUTE_MS
  return asUtc - offsetMinutes(zone, guess) * MINUTE_MS
}

/** A moment as local time `YYYY-MM-DDTHH:MM` of a zone. */
export function localText(utcMs: number, zone: string): string {
  return new Date(utcMs + offsetMinutes(zone, utcMs) * MINUTE_MS).toISOString().slice(0, 16)
}

/** Offset of a zone from UTC at a moment as text: `+01:00`. */
export function offsetText(utcMs: number, zone: string): string {
  const minutes = offsetMinutes(zone, utcMs)
  return `${minutes < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

/** Local date and time of a zone at a moment. */
export function momentAt(utcMs: number, zone: string): Moment {
  const local = new Date(utcMs + offsetMinutes(zone, utcMs) * MINUTE_MS)
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    weekday: (local.getUTCDay() + 6) % 7,
    minute: local.getUTCHours() * 60 + local.getUTCMinutes(),
  }
}
