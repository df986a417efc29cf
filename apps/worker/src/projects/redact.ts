const HIDDEN = '[redacted]'

/** Field names whose values are never shown. */
const SECRET_FIELD =
  /(^|_)(key|token|secret|password|credential|signature)s?$|databaseUrl|serviceRoleKey|authorization|apikey/i

/** An input to show, without secrets; URLs lose user, password and query values, because signed URLs grant by them. */
export function redactInput(value: unknown): Record<string, unknown> {
  return redact(value, 0) as Record<string, unknown>
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactUrl(value)
  if (depth > 32 || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((entry) => redact(entry, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, SECRET_FIELD.test(name) ? HIDDEN : redact(entry, depth + 1)]),
  )
}

/** A text whose URLs have no possible credentials. */
export function redactText(text: string): string {
  let redacted = ''
  let end = 0
  for (const { index, 0: rest } of text.matchAll(/:\/\/[^\s"'<>]+/g)) {
    const scheme = schemeBefore(text, index, end)
    redacted += text.slice(end, index - scheme.length) + redactUrl(scheme + rest)
    end = index + rest.length
  }
  return redacted + text.slice(end)
}

/** The scheme of a URL (RFC 3986, section 3.1) that ends where `://` begins; empty where none does. */
function schemeBefore(text: string, end: number, from: number): string {
  let start = end
  while (start > from && /[a-z0-9+.-]/i.test(text.charAt(start - 1))) start--
  while (start < end && !/[a-z]/i.test(text.charAt(start))) start++
  return text.slice(start, end)
}

/** A URL without possible credentials; other texts are returned unchanged. */
export function redactUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  const url = URL.parse(text)
  if (!url) return HIDDEN
  if (url.username !== '' || url.password !== '') {
    url.username = ''
    url.password = ''
  }
  if (url.search === '') return url.href
  const names = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${HIDDEN}`)
  url.search = ''
  url.hash = ''
  return `${url.href}?${names.join('&')}`
}
