import { FUNCTION_NAME } from '../policy.ts'

export const PREFIX = '/functions/v1/'

/** Function name and remaining path from a request's URL. */
export interface Target {
  readonly name: string
  /** Sub-path and query as received, from the character after the name: '', '/sub?x=1', '?x=1'. */
  readonly rest: string
}

/** The path and query of a request's target, which may be a whole address (RFC 9112 section 3.2.2). */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url
  const begin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0].length
  return begin === undefined ? url : url.slice(begin)
}

/** Splits `/functions/v1/{name}[/sub/path][?query]`; null when there is no function name in the right form. */
export function readTarget(given: string): Target | null {
  const url = originForm(given)
  if (!url.startsWith(PREFIX)) return null
  let end = PREFIX.length
  while (end < url.length) {
    const char = url.charCodeAt(end)
    if (char === 47 || char === 63) break
    end++
  }
  const name = url.slice(PREFIX.length, end)
  return FUNCTION_NAME.test(name) ? { name, rest: url.slice(end) } : null
}
