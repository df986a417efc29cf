import { quoteIdentifier, quoteLiteral } from '../database.ts'
import { badQuery } from './errors.ts'
import type { Condition, FieldPath, Filter, OrderItem, SelectItem } from './query.ts'

/** Takes the values of a statement; returns the text that represents each. */
export interface ValueTexts {
  add(value: string | readonly string[]): string
}

/** Writes values as literals into a statement without parameters, such as COPY. */
export const literals: ValueTexts = {
  add: (value) => quoteLiteral(typeof value === 'string' ? value : arrayText(value)),
}

/** Values that a statement refers to as $1, $2, … */
export class Parameters implements ValueTexts {
  readonly values: unknown[] = []

  /** Adds a value and returns its placeholder. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

const COMPARE: Readonly<Record<string, string>> = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'like',
  ilike: 'ilike',
  match: '~',
  imatch: '~*',
  isdistinct: 'is distinct from',
  cs: '@>',
  cd: '<@',
  ov: '&&',
  sl: '<<',
  sr: '>>',
  nxr: '&<',
  nxl: '&>',
  adj: '-|-',
}
const SEARCH: Readonly<Record<string, string>> = {
  fts: 'to_tsquery',
  plfts: 'plainto_tsquery',
  phfts: 'phraseto_tsquery',
  wfts: 'websearch_to_tsquery',
}
const IS: ReadonlyMap<string, string> = new Map([
  ['null', 'is null'],
  ['not_null', 'is not null'],
  ['true', 'is true'],
  ['false', 'is false'],
  ['unknown', 'is unknown'],
])

/** ` where …`, or nothing. */
export function whereClause(conditions: readonly Condition[], source: string, parameters: ValueTexts): string {
  const list = conditionList(conditions, source, parameters)
  return list.length === 0 ? '' : ` where ${list.join(' and ')}`
}

/**
 * The conditions of a resource, each as SQL.
 *
 * @param hasRows SQL condition that the embedded resource of a name has rows, for `districts=is.null`; null for another
 * name
 */
export function conditionList(
  conditions: readonly Condition[],
  source: string,
  parameters: ValueTexts,
  hasRows: (name: string) => string | null = () => null,
): string[] {
  return conditions.map((condition) => conditionSql(condition, { source, parameters, hasRows }))
}

/** ` order by …`, or an empty text; `placeOf` gives the column of an embedded resource. */
export function orderClause(
  order: readonly OrderItem[],
  source: string,
  placeOf: (item: OrderItem) => { source: string; column: string } = ({ field }) => ({ source, column: field.column }),
): string {
  if (order.length === 0) return ''
  const items = order.map((o) => {
    const place = placeOf(o)
    const field = fieldSql({ ...o.field, column: place.column }, place.source)
    return `${field}${o.descending ? ' desc' : ' asc'}${o.nulls ? ` nulls ${o.nulls}` : ''}`
  })
  return ` order by ${items.join(', ')}`
}

/** An item of `select` without its aggregate, and its name in the answer. */
export function selectExpression({ field, alias, cast }: SelectItem, source: string): { sql: string; name: string } {
  // An index into an array gives no name: `list->0` is named `list`.
  const key = field.path.findLast((step) => !/^-?\d+$/.test(step.key))?.key
  const sql = field.column === '*' && field.path.length === 0 ? `${source}.*` : fieldSql(field, source)
  return { sql: cast === null ? sql : `cast(${sql} as ${castType(cast)})`, name: alias ?? key ?? field.column }
}

/** SQL of an aggregate over a value. */
export function withAggregate(value: string, item: Pick<SelectItem, 'aggregate' | 'aggregateCast'>): string {
  const { aggregate, aggregateCast } = item
  const sql = aggregate === null ? value : `${aggregate}(${value})`
  return aggregateCast === null ? sql : `cast(${sql} as ${castType(aggregateCast)})`
}

function castType(name: string): string {
  if (!/^[a-z_][a-z0-9_ ]*$/i.test(name)) throw badQuery({ parameter: `cast (${name})`, detail: 'not a type name' })
  return name.split(' ').map(quoteTypeWord).join(' ')
}

/** Types of several words (`double precision`) are keywords and stay bare; a single name is quoted. */
function quoteTypeWord(word: string, _index: number, words: readonly string[]): string {
  return words.length > 1 ? word : quoteIdentifier(TYPE_ALIASES.get(word) ?? word)
}
const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['int', 'int4'],
  ['integer', 'int4'],
  ['bigint', 'int8'],
  ['smallint', 'int2'],
  ['float', 'float8'],
  ['real', 'float4'],
  ['boolean', 'bool'],
  ['decimal', 'numeric'],
])

function fieldSql(field: FieldPath, source: string): string {
  const column = `${source}.${quoteIdentifier(field.column)}`
  if (field.path.length === 0) return column
  const steps = field.path.map(
    ({ key, text }) => `${text ? '->>' : '->'}${/^-?\d+$/.test(key) ? key : quoteLiteral(key)}`,
  )
  return `to_jsonb(${column})${steps.join('')}`
}

interface Place {
  readonly source: string
  readonly parameters: ValueTexts
  readonly hasRows: (name: string) => string | null
}

function conditionSql(condition: Condition, place: Place): string {
  if (condition.kind === 'filter') {
    const sql = filterSql(condition, place)
    return condition.negated ? `not (${sql})` : sql
  }
  const terms = condition.terms.map((term) => conditionSql(term, place))
  if (terms.length === 0) throw badQuery({ parameter: 'logic tree', detail: 'it has no terms' })
  return `${condition.negated ? 'not ' : ''}(${terms.join(` ${condition.kind} `)})`
}

function filterSql(filter: Filter, { source, parameters, hasRows }: Place): string {
  const left = fieldSql(filter.field, source)
  const { operator, value } = filter
  if (operator === 'is') {
    const sql = typeof value === 'string' ? IS.get(value.toLowerCase()) : undefined
    if (sql === undefined)
      throw badQuery({
        parameter: `filter (is.${String(value)})`,
        detail: `expected one of ${[...IS.keys()].join(', ')}`,
      })
    const rows = filter.field.path.length === 0 && sql.endsWith('null') ? hasRows(filter.field.column) : null
    return rows === null ? `${left} ${sql}` : `${sql === 'is null' ? 'not ' : ''}(${rows})`
  }
  if (operator in SEARCH) {
    const config = filter.config === null ? '' : `${quoteLiteral(filter.config)}, `
    // Migration 0551: by the type of the column.
    return `terrane_text.to_tsvector(${config}${left}) @@ ${SEARCH[operator]}(${config}${parameters.add(value)})`
  }
  if (operator === 'in') return `${left} = any(${parameters.add(value)})`
  const wild = operator === 'like' || operator === 'ilike'
  const sqlOperator = COMPARE[operator] as string
  if (filter.quantifier) {
    const list = (value as readonly string[]).map((v) => (wild ? v.replaceAll('*', '%') : v))
    return `${left} ${sqlOperator} ${filter.quantifier}(${parameters.add(list)})`
  }
  const text = value as string
  // A JSON value compared as JSON: `tags->n=eq.5` means the number.
  const json = filter.field.path.length > 0 && filter.field.path.at(-1)?.text === false
  return `${left} ${sqlOperator} ${parameters.add(wild ? text.replaceAll('*', '%') : text)}${json ? '::jsonb' : ''}`
}

/** An array as the server reads it. */
function arrayText(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}
