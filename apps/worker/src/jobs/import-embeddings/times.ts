/** A time of a file as RFC 3339; null for what is no time. Times without a zone are taken as UTC. */
export function instantOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  const text = textOf(value).trim()
  const [, year, month, day, rest = ''] = /^([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T ](.*))?$/.exec(text) ?? []
  if (year === undefined) return /^[0-9]{4}$/.test(text) ? checked(`${text}-01-01T00:00:00Z`) : null
  const [, hours = '00', minutes = '00', seconds = '00', fraction = '', zone = 'Z'] =
    /^([0-9]{2}):?([0-9]{2})(?::?([0-9]{2}))?(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2})?$/.exec(rest) ?? []
  return checked(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}${fraction}${zone}`)
}

/** A value of a column as text. */
export function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

function checked(text: string): string | null {
  return Number.isNaN(new Date(text.slice(0, 19) + 'Z').getTime()) ? null : text
}
