import { badQuery } from './errors.ts'
import { indexOutsideQuotes, splitOutside, unquote } from './query-text.ts'
import type { FieldPath } from './query.ts'

/** A column, or a path into it: `->key`, `->>key`; quoted parts are literal. @throws PGRST100 */
export function fieldPath(text: string, parameter: string): FieldPath {
  const path: { key: string; text: boolean }[] = []
  let end = indexOutsideQuotes(text, '->')
  const column = unquote((end < 0 ? text : text.slice(0, end)).trim())
  if (column === '')
    throw badQuery({ parameter: `${parameter} (${text.slice(0, 200)})`, detail: 'a column name is missing' })
  while (end >= 0) {
    const isText = text[end + 2] === '>'
    const start = end + (isText ? 3 : 2)
    end = indexOutsideQuotes(text, '->', start)
    path.push({ key: unquote(text.slice(start, end < 0 ? undefined : end)), text: isText })
  }
  return { column, path }
}

/** Splits `districts.name` into embedded resources and the rest. @throws PGRST100 */
export function resourcePath(name: string): { path: string[]; rest: string } {
  const arrow = indexOutsideQuotes(name, '->')
  const head = arrow < 0 ? name : name.slice(0, arrow)
  const parts = list(head, `the name ${name.slice(0, 200)}`, '.')
  const last = parts.pop() ?? ''
  return { path: parts.map(unquote), rest: arrow < 0 ? last : last + name.slice(arrow) }
}

/** Parts of a list in a parameter. @throws PGRST100 when quotes or brackets are not closed */
export function list(text: string, parameter: string, separator = ','): string[] {
  return closed(splitOutside(text, separator), parameter)
}

/** The parts, unchanged. @throws PGRST100 when they are null, because quotes or brackets are not closed */
export function closed(parts: string[] | null, parameter: string): string[] {
  if (parts === null) throw badQuery({ parameter, detail: 'quotes or brackets are not closed' })
  return parts
}

/** `limit` or `offset`; null when it is absent. @throws PGRST100 */
export function count(text: string | null | undefined, parameter: string): number | null {
  if (text === null || text === undefined) return null
  if (!/^\d{1,15}$/.test(text))
    throw badQuery({ parameter: `${parameter} (${text.slice(0, 200)})`, detail: 'expected a whole number' })
  return Number(text)
}
