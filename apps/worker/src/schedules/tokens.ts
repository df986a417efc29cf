/** `{date}` and `{time}` in a text of a schedule's request stand for the time at which it runs: `20261122`, `1400`. */
const TOKEN = /\{(date|time)\}/g

/** A request of a schedule as submitted for one of its times: with values for the tokens in its texts. */
export function fillTokens<T>(input: T, at: Date, timeZone: string): T {
  const tokens = tokensOf(at, timeZone)
  return mapTexts(input, (text) => text.replace(TOKEN, (_, name: 'date' | 'time') => tokens[name])) as T
}

/** A checked request with its defaults, in which the tokens of the original are restored. */
export function restoreTokens(filled: unknown, original: unknown): unknown {
  if (typeof original === 'string') return original.search(TOKEN) >= 0 ? original : filled
  if (Array.isArray(original) && Array.isArray(filled)) {
    return filled.map((value, i) => restoreTokens(value, original[i]))
  }
  if (isRecord(original) && isRecord(filled)) {
    return Object.fromEntries(
      Object.entries(filled).map(([name, value]) => [name, restoreTokens(value, original[name])]),
    )
  }
  return filled
}

function tokensOf(at: Date, timeZone: string): { readonly date: string; readonly time: string } {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const [date = '', time = ''] = format.format(at).split(' ')
  return { date: date.replaceAll('-', ''), time: time.replace(':', '') }
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((entry) => mapTexts(entry, map))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, mapTexts(entry, map)]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object'
}
