import { badQuery } from './errors.ts'
import { enclosed, indexOutsideQuotes, readOperator, splitOutside, unquote } from './operators.ts'
import { expandedSize } from './pattern-size.ts'

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
const PATTERNS: ReadonlySet<string> = new Set(['match', 'imatch'])
/** Most characters of a regular expression whose bounds are written out, beyond those of its text: memory of the server. */
const MAX_EXPANDED = 1000
const QUANTIFIED: ReadonlySet<string> = new Set('eq gte gt lte lt like ilike match imatch'.split(' '))
/** Deepest nesting of and/or. */
const MAX_DEPTH = 20
/** Longest query string, in characters after decoding. */
const MAX_QUERY_LENGTH = 16_384

/**
 * Parses the query string of a table or function as PostgREST does (manual: tables and views, horizontal and vertical
 * filtering, operators, ordering, limits), in time linear in its length. Resource embedding is not supported.
 *
 * @throws PGRST100 with the parameter that does not parse
 */
export function parseQuery(parameters: URLSearchParams): RestQuery {
  refuseUnreadable(parameters)
  const conditions: Condition[] = []
  for (const [name, value] of parameters) {
    if (name === 'and' || name === 'or') conditions.push(logic(name, false, value, 0))
    else if (name === 'not.and' || name === 'not.or')
      conditions.push(logic(name.slice(4) as 'and' | 'or', true, value, 0))
    else if (!RESERVED.has(name)) conditions.push(filter(name, value))
  }
  const select = parameters.get('select')
  return {
    select: select === null || select.trim() === '' || select === '*' ? null : list(select, 'select').map(selectItem),
    conditions,
    order: parameters.getAll('order').flatMap((text) => list(text, 'order').map(orderItem)),
    limit: count(parameters.get('limit'), 'limit'),
    offset: count(parameters.get('offset'), 'offset') ?? 0,
    columns: names(parameters.get('columns')),
    onConflict: names(parameters.get('on_conflict')),
  }
}

/** True for a parameter of a call by GET that is an argument: neither an instruction nor a filter of the rows, `gt.5`. */
export function isArgument([name, value]: readonly [string, string]): boolean {
  return !RESERVED.has(name) && !OPERATORS.has(readOperator(value)?.name ?? '')
}

function refuseUnreadable(parameters: URLSearchParams): void {
  let length = 0
  for (const [name, value] of parameters) {
    length += name.length + value.length + 2
    if (length > MAX_QUERY_LENGTH)
      throw badQuery({ parameter: 'the query string', detail: `it is longer than ${MAX_QUERY_LENGTH} characters` })
    if (name.includes('\0') || value.includes('\0'))
      throw badQuery({
        parameter: `parameter ${name.replaceAll('\0', '\\0')}`,
        detail: 'a zero byte is part of no name and no value',
      })
  }
}

/** `[alias:]column[->path][::type]` */
function selectItem(text: string): SelectItem {
  if (indexOutsideQuotes(text, '(') >= 0)
    throw badQuery({
      parameter: `select parameter (${text})`,
      detail: 'embedding of related tables and aggregates are not supported here',
    })
  const at = text.lastIndexOf('::')
  const type = at < 0 ? '' : text.slice(at + 2)
  const cast = type !== '' && isTypeName(type) ? type.trim() : null
  const body = cast === null ? text : text.slice(0, at)
  const colon = indexOutsideQuotes(body, ':')
  const hasAlias = colon > 0 && body[colon + 1] !== ':' && colon + 1 < body.length
  return {
    alias: hasAlias ? unquote(body.slice(0, colon)) : null,
    field: fieldPath(hasAlias ? body.slice(colon + 1) : body, 'select'),
    cast,
  }
}

/** `column[.asc|.desc][.nullsfirst|.nullslast]` */
function orderItem(text: string): OrderItem {
  const [body, nulls] = withoutSuffix(text, ['.nullsfirst', '.nullslast'])
  const [column, direction] = withoutSuffix(body, ['.asc', '.desc'])
  return {
    field: fieldPath(column, 'order'),
    descending: direction === '.desc',
    nulls: nulls === '.nullsfirst' ? 'first' : nulls === '.nullslast' ? 'last' : null,
  }
}

function withoutSuffix(text: string, suffixes: readonly string[]): [rest: string, suffix: string | null] {
  const suffix = suffixes.find((s) => text.endsWith(s)) ?? null
  return suffix === null ? [text, null] : [text.slice(0, -suffix.length), suffix]
}

function filter(name: string, text: string): Filter {
  const parameter = `filter (${text.slice(0, 200)})`
  const field = fieldPath(name, 'filter')
  const found = readOperator(text)
  if (!found || !OPERATORS.has(found.name)) {
    throw badQuery({
      parameter: parameter,
      detail: `expected an operator like eq.value, one of ${[...OPERATORS].join(', ')}`,
    })
  }
  const { negated, name: operator, argument, value } = found
  const isSearch = operator.endsWith('fts')
  if (argument !== null && !isSearch && !(QUANTIFIED.has(operator) && (argument === 'any' || argument === 'all'))) {
    throw badQuery({ parameter: parameter, detail: `${operator} takes no (${argument.slice(0, 200)})` })
  }
  const quantifier = isSearch ? null : (argument as 'any' | 'all' | null)
  const inner = operator === 'in' ? enclosed(value, '(', ')') : quantifier ? enclosed(value, '{', '}') : null
  if ((operator === 'in' || quantifier) && inner === null)
    throw badQuery({ parameter: parameter, detail: 'expected a list' })
  const filtered = inner === null ? value : list(inner, parameter).map(unquote)
  if (PATTERNS.has(operator)) refuseCostlyPatterns([filtered].flat(), parameter)
  return {
    kind: 'filter',
    negated,
    field,
    operator,
    quantifier,
    config: isSearch ? argument : null,
    value: filtered,
  }
}

function refuseCostlyPatterns(patterns: readonly string[], parameter: string): void {
  const grown = patterns.reduce((sum, pattern) => sum + Math.max(0, expandedSize(pattern) - pattern.length), 0)
  if (grown > MAX_EXPANDED)
    throw badQuery({
      parameter,
      detail: `the bounds of its regular expression, as in (x{1,9}){1,9}, repeat more than ${MAX_EXPANDED} characters; use smaller ones`,
    })
}

function logic(kind: 'and' | 'or', negated: boolean, text: string, depth: number): Logic {
  const inner = enclosed(text.trim(), '(', ')')
  if (inner === null || depth > MAX_DEPTH)
    throw badQuery({ parameter: `logic tree (${text.slice(0, 200)})`, detail: 'expected (a.eq.1,b.eq.2)' })
  return { kind, negated, terms: list(inner, 'logic tree').map((term) => logicTerm(term, depth)) }
}

/** `[not.]and(…)`, `[not.]or(…)` or `column.operator.value`; a value with special characters is quoted there. */
function logicTerm(term: string, depth: number): Condition {
  const negated = term.startsWith('not.')
  const rest = negated ? term.slice(4) : term
  const kind = rest.startsWith('and(') ? 'and' : rest.startsWith('or(') ? 'or' : null
  if (kind && rest.endsWith(')')) return logic(kind, negated, rest.slice(kind.length), depth + 1)
  const dot = indexOutsideQuotes(term, '.')
  if (dot < 1 || dot === term.length - 1)
    throw badQuery({ parameter: `logic tree (${term.slice(0, 200)})`, detail: 'expected column.operator.value' })
  const condition = term.slice(dot + 1)
  const value = readOperator(condition)?.value ?? ''
  return filter(term.slice(0, dot), condition.slice(0, condition.length - value.length) + unquote(value))
}

/** A column, or a path into it: steps are `->key` and `->>key`; quoted parts are taken as they are. */
function fieldPath(text: string, parameter: string): FieldPath {
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

function list(text: string, parameter: string): string[] {
  const parts = splitOutside(text, ',')
  if (parts === null) throw badQuery({ parameter: parameter, detail: 'quotes or brackets are not closed' })
  return parts
}

function names(text: string | null): string[] | null {
  return text === null || text === '' ? null : list(text, 'columns').map(unquote)
}

/** A name of a type as it may be written after `::`: words of letters, digits and `_`. */
function isTypeName(text: string): boolean {
  return /^[\w ]+$/.test(text)
}

function count(text: string | null, parameter: string): number | null {
  if (text === null) return null
  if (!/^\d{1,15}$/.test(text))
    throw badQuery({ parameter: `${parameter} (${text.slice(0, 200)})`, detail: 'expected a whole number' })
  return Number(text)
}
