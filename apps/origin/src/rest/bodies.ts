import type { RestQuery } from '@terrane/database/rest-query'
import { TerraneError } from '@terrane/core'
import { refuseCostlyJson } from '@terrane/service'
import { RestError } from './errors.ts'
import type { Argument } from './functions.ts'

/** Arguments of a call. */
export interface Arguments {
  readonly json: string
  readonly names: string[]
  readonly values: Readonly<Record<string, unknown>>
}

/** The named arguments of a call, and its unparsed body, which the database parses, so that numbers keep all digits. */
export function argumentsOfBody(body: unknown): Arguments {
  if (body === undefined || body === null || body === '') return { json: '{}', names: [], values: {} }
  const parsed = parseJson(body)
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
    throw new RestError(400, 'PGRST102', 'The body must be a JSON object of named arguments')
  }
  const names = Object.keys(parsed)
  // PostgreSQL's own limit on arguments of a function.
  if (names.length > 100) throw new RestError(400, 'PGRST102', 'A function has at most 100 arguments')
  return { json: body as string, names, values: parsed as Readonly<Record<string, unknown>> }
}

/** The arguments of a call by GET or of a form; a value that is given several times is a list. */
export function argumentsOfQuery(parameters: Iterable<[string, string]>): Arguments {
  const given = Map.groupBy(parameters, ([name]) => name)
  const values = Object.fromEntries(
    [...given].map(([name, entries]) => [
      name,
      entries.length === 1 ? entries[0]?.[1] : entries.map(([, value]) => value),
    ]),
  )
  return { json: JSON.stringify(values), names: [...given.keys()], values }
}

/** Arguments as JSON in which those of a variadic function are a list. */
export function withLists({ json, values }: Arguments, args: readonly Argument[]): string {
  const isVariadic = (name: string) => args.some((arg) => arg.name === name && arg.isVariadic)
  if (!Object.keys(values).some(isVariadic)) return json
  const lists = Object.entries(values).map(([name, value]) => [name, isVariadic(name) ? [value].flat() : value])
  return JSON.stringify(Object.fromEntries(lists))
}

/** The rows of a body and their columns: those in `columns=`, or else those of the first row. */
export function readRowsBody(body: unknown, query: RestQuery): { columns: string[]; rows: unknown; json: string } {
  const rows = parseJson(body)
  const first: unknown = Array.isArray(rows) ? rows[0] : rows
  if (Array.isArray(rows) && rows.length === 0) return { columns: [], rows, json: '[]' }
  if (first === null || typeof first !== 'object')
    throw new RestError(400, 'PGRST102', 'The body must be a JSON object or an array of objects')
  const columns = query.columns ? [...query.columns] : Object.keys(first)
  if (Array.isArray(rows) && !query.columns && !rows.every((row) => hasKeys(row, columns)))
    throw new RestError(400, 'PGRST102', 'All object keys must match; name the columns by columns=, where they do not')
  if (columns.length > 1600) throw new RestError(400, 'PGRST102', 'A table has at most 1600 columns')
  return { columns, rows, json: body as string }
}

function hasKeys(row: unknown, keys: readonly string[]): boolean {
  if (row === null || typeof row !== 'object') return false
  return Object.keys(row).length === keys.length && keys.every((key) => Object.hasOwn(row, key))
}

function parseJson(body: unknown): unknown {
  try {
    const text = typeof body === 'string' ? body : 'x'
    refuseCostlyJson(text)
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof TerraneError) throw new RestError(400, 'PGRST102', error.message)
    throw new RestError(400, 'PGRST102', 'Error in $: the body is not valid JSON')
  }
}
