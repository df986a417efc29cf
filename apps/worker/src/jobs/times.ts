const DATE = /^([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[Tt ](.*))?$/
const TIME =
  /^([0-9]{2}):?([0-9]{2})(?::?([0-9]{2})(\.[0-9]{1,9})?)?(?: ?(?:[Zz]|UTC|GMT|([+-][0-9]{2})(?::?([0-9]{2}))?))?$/
/** Minutes of the farthest zone. */
const FARTHEST = 14 * 60

/** A time of a file as RFC 3339; null for other values. Times without a zone count as UTC. */
export function instantOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  if (value instanceof Date) {
    const year = value.getUTCFullYear()
    return year >= 1 && year <= 9999 ? value.toISOString() : null
  }
  const text = textOf(value).trim()
  const [, year, month, day, rest] = DATE.exec(/^[0-9]{4}$/.test(text) ? `${text}-01-01` : text) ?? []
  const time = TIME.exec(rest ?? '00:00')
  if (year === undefined || time === null) return null
  const [, hours, minutes, seconds = '00', fraction = '', zoneHours, zoneMinutes = '00'] = time
  const clock = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}`
  const zone = zoneHours === undefined ? 'Z' : `${zoneHours}:${zoneMinutes}`
  const offset = Math.abs(Number(zoneHours ?? 0)) * 60 + Number(zoneMinutes)
  const isZone = Number(zoneMinutes) < 60 && offset <= FARTHEST
  return isZone && isMoment(clock) ? `${clock}${fraction}${zone}` : null
}

/** A value of a column as text. */
export function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** True for an existing day and time of day. */
function isMoment(clock: string): boolean {
  const moment = new Date(`${clock}Z`)
  return !clock.startsWith('0000') && !Number.isNaN(moment.getTime()) && moment.toISOString().slice(0, 19) === clock
}
