import { badQuery } from './errors.ts'

/** A column, or a path into a JSON one: `tags->address->>city`. */
export interface FieldPath {
  readonly column: string
  readonly path: readonly { readonly key: string; readonly text: boolean }[]
}

export interface SelectItem {
  readonly field: FieldPath
  readonly alias: string | null
  readonly cast: string | null
}

export interface OrderItem {
  readonly field: FieldPath
  readonly descending: boolean
  readonly nulls: 'first' | 'last' | null
}

export interface Filter {
  readonly kind: 'filter'
  readonly negated: boolean
  readonly field: FieldPath
  readonly operator: string
  readonly quantifier: 'any' | 'all' | null
  /** Text search configuration of an fts operator. */
  readonly config: string | null
  readonly value: string | readonly string[]
}

export interface Logic {
  readonly kind: 'and' | 'or'
  readonly negated: boolean
  readonly terms: readonly Condition[]
}

export type Condition = Filter | Logic

export interface RestQuery {
  /** Null for every column. */
  readonly select: readonly SelectItem[] | null
  readonly conditions: readonly Condition[]
  readonly order: readonly OrderItem[]
  readonly limit: number | null
  readonly offset: number
  readonly columns: readonly string[] | null
  readonly onConflict: readonly string[] | null
}

const RESERVED: ReadonlySet<string> = new Set([
  'select',
  'order',
  'limit',
  'offset',
  'columns',
  'on_conflict',
  'and',
  'or',
  'not.and',
  'not.or',
])
const OPERATORS: ReadonlySet<string> = new Set(
  'eq neq gt gte lt lte like ilike match imatch is isdistinct in cs cd ov sl sr nxr nxl adj fts plfts phfts wfts'.split(
    ' ',
  ),
)
const QUANTIFIED: ReadonlySet<string> = new Set('eq gte gt lte lt like ilike match imatch'.split(' '))
/** Deepest nesting of and/or. */
const MAX_DEPTH = 20

/**
 * Parses the query string of a table or function as PostgREST does (manual: tables and views, horizontal and vertical
 * filtering, operators, ordering, limits). Resource embedding is not supported.
 *
 * @throws PGRST100 with the parameter that does not parse
 */
export function parseQuery(parameters: URLSearchParams): RestQuery {
  const conditions: Condition[] = []
  for (const [name, value] of parameters) {
    if (name === 'and' || name === 'or') conditions.push(logic(name, false, value, 0))
    else if (name === 'not.and' || name === 'not.or')
      conditions.push(logic(name.slice(4) as 'and' | 'or', true, value, 0))
    else if (!RESERVED.has(name)) conditions.push(filter(name, value))
  }
  const select = parameters.get('select')
  return {
    select:
      select === null || select.trim() === '' || select === '*' ? null : splitTop(select, 'select').map(selectItem),
    conditions,
    order: parameters.getAll('order').flatMap((text) => splitTop(text, 'order').map(orderItem)),
    limit: count(parameters.get('limit'), 'limit'),
    offset: count(parameters.get('offset'), 'offset') ?? 0,
    columns: names(parameters.get('columns')),
    onConflict: names(parameters.get('on_conflict')),
  }
}

/** True for a parameter of a call by GET that is an argument: neither an instruction nor a filter of the rows, `gt.5`. */
export function isArgument([name, value]: readonly [string, string]): boolean {
  return !RESERVED.has(name) && !OPERATORS.has(/^(?:not\.)?([a-z]+)(?:\([^)]*\))?\./.exec(value)?.[1] ?? '')
}

function selectItem(text: string): SelectItem {
  if (text.includes('('))
    throw badQuery(`select parameter (${text})`, 'embedding of related tables and aggregates are not supported here')
  const cast = /^(.*?)::([\w ]+)$/.exec(text)
  const body = cast ? (cast[1] as string) : text
  const alias = /^("(?:[^"]|"")*"|[^:"]+):(?!:)(.+)$/.exec(body)
  return {
    alias: alias ? unquote(alias[1] as string) : null,
    field: fieldPath(alias ? (alias[2] as string) : body, 'select'),
    cast: cast ? (cast[2] as string).trim() : null,
  }
}

function orderItem(text: string): OrderItem {
  const found = /^(.+?)(\.asc|\.desc)?(\.nullsfirst|\.nullslast)?$/.exec(text)
  if (!found) throw badQuery(`order (${text})`, 'expected column.asc or column.desc')
  return {
    field: fieldPath(found[1] as string, 'order'),
    descending: found[2] === '.desc',
    nulls: found[3] === '.nullsfirst' ? 'first' : found[3] === '.nullslast' ? 'last' : null,
  }
}

function filter(name: string, text: string): Filter {
  const parameter = `filter (${text})`
  const field = fieldPath(name, 'filter')
  const negated = text.startsWith('not.')
  const body = negated ? text.slice(4) : text
  const found = /^([a-z]+)(?:\(([^)]*)\))?\.([^]*)$/.exec(body)
  const operator = found?.[1] ?? ''
  if (!found || !OPERATORS.has(operator)) {
    throw badQuery(parameter, `expected an operator like eq.value, one of ${[...OPERATORS].join(', ')}`)
  }
  const argument = found[2] ?? null
  const value = found[3] as string
  const isSearch = operator.endsWith('fts')
  if (argument !== null && !isSearch && !(QUANTIFIED.has(operator) && (argument === 'any' || argument === 'all'))) {
    throw badQuery(parameter, `${operator} takes no (${argument})`)
  }
  const quantifier = isSearch ? null : (argument as 'any' | 'all' | null)
  const list = operator === 'in' ? enclosed(value, '(', ')') : quantifier ? enclosed(value, '{', '}') : null
  if ((operator === 'in' || quantifier) && list === null) throw badQuery(parameter, 'expected a list')
  return {
    kind: 'filter',
    negated,
    field,
    operator,
    quantifier,
    config: isSearch ? argument : null,
    value: list === null ? value : splitTop(list, parameter).map(unquote),
  }
}

function logic(kind: 'and' | 'or', negated: boolean, text: string, depth: number): Logic {
  const inner = enclosed(text.trim(), '(', ')')
  if (inner === null || depth > MAX_DEPTH)
    throw badQuery(`logic tree (${text.slice(0, 200)})`, 'expected (a.eq.1,b.eq.2)')
  return {
    kind,
    negated,
    terms: splitTop(inner, 'logic tree').map((term) => {
      const nested = /^(not\.)?(and|or)(\([^]*\))$/.exec(term)
      if (nested) return logic(nested[2] as 'and' | 'or', nested[1] !== undefined, nested[3] as string, depth + 1)
      const found = /^((?:"(?:[^"]|"")*"|[^."])+)\.([^]+)$/.exec(term)
      if (!found) throw badQuery(`logic tree (${term.slice(0, 200)})`, 'expected column.operator.value')
      return filter(found[1] as string, quotedValue(found[2] as string))
    }),
  }
}

/** Inside and/or a value with special characters is quoted: `name.eq."a,b"`. */
function quotedValue(text: string): string {
  const found = /^((?:not\.)?[a-z]+(?:\([^)]*\))?\.)(".*")$/s.exec(text)
  return found ? `${found[1]}${unquote(found[2] as string)}` : text
}

function fieldPath(text: string, parameter: string): FieldPath {
  const parts = text.split(/(->>|->)/)
  const column = unquote((parts[0] ?? '').trim())
  if (column === '') throw badQuery(`${parameter} (${text})`, 'a column name is missing')
  const path: { key: string; text: boolean }[] = []
  for (let i = 1; i < parts.length; i += 2) path.push({ key: unquote(parts[i + 1] ?? ''), text: parts[i] === '->>' })
  return { column, path }
}

/** Splits at commas that are not inside quotes, parentheses, braces or brackets. */
function splitTop(text: string, parameter: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quoted = false
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === '\\' && quoted) i++
    else if (c === '"') quoted = !quoted
    else if (quoted) continue
    else if (c === '(' || c === '{' || c === '[') depth++
    else if (c === ')' || c === '}' || c === ']') depth--
    else if (c === ',' && depth === 0) {
      parts.push(text.slice(start, i))
      start = i + 1
    }
  }
  if (quoted || depth !== 0) throw badQuery(parameter, 'quotes or brackets are not closed')
  parts.push(text.slice(start))
  return parts.length === 1 && parts[0] === '' ? [] : parts.map((part) => part.trim())
}

function enclosed(text: string, open: string, close: string): string | null {
  return text.startsWith(open) && text.endsWith(close) ? text.slice(1, -1) : null
}

function unquote(text: string): string {
  const found = /^"([^]*)"$/.exec(text)
  return found ? (found[1] as string).replaceAll(/\\(.)/g, '$1').replaceAll('""', '"') : text
}

function names(text: string | null): string[] | null {
  return text === null || text === '' ? null : splitTop(text, 'columns').map(unquote)
}

function count(text: string | null, parameter: string): number | null {
  if (text === null) return null
  if (!/^\d{1,15}$/.test(text)) throw badQuery(`${parameter} (${text})`, 'expected a whole number')
  return Number(text)
}
