import { quoteIdentifier } from '@terrane/database'
import type { Parameters } from '@terrane/database/rest-query'
import type { Collection, Column, Kind } from './collection.ts'
import type { Node } from './cql2-text.ts'
import { fromSystem, type Crs } from './crs.ts'
import { badFilter } from './errors.ts'
import { temporalSql, utcText, type Value } from './cql2-time.ts'

/** What an expression is compiled with. */
export interface Scope {
  readonly collection: Collection
  readonly parameters: Parameters
  /** The system of the filter's geometries. */
  readonly crs: Crs
}

const MAX_NODES = 4000
const MAX_DEPTH = 100
const COMPARE: ReadonlySet<string> = new Set(['=', '<>', '<', '>', '<=', '>='])
const ARITHMETIC: Readonly<Record<string, string>> = {
  '+': '+',
  '-': '-',
  '*': '*',
  '/': '/',
  '%': '%',
  '^': '^',
  div: 'div',
}
const SPATIAL: Readonly<Record<string, string>> = {
  s_intersects: 'st_intersects',
  s_equals: 'st_equals',
  s_disjoint: 'st_disjoint',
  s_touches: 'st_touches',
  s_within: 'st_within',
  s_overlaps: 'st_overlaps',
  s_crosses: 'st_crosses',
  s_contains: 'st_contains',
}
const WKT = /^[\p{L}\d\s.,()+-]+$/u

/** Compiles CQL2 to a condition on rows of `source`; every value is a parameter. @throws BAD_FILTER */
export function conditionSql(node: Node, scope: Scope): string {
  let nodes = 0
  const count = (part: Node, depth: number): void => {
    if (++nodes > MAX_NODES) throw badFilter(`it has more than ${MAX_NODES} parts`)
    if (depth > MAX_DEPTH) throw badFilter(`it is nested deeper than ${MAX_DEPTH} levels`)
    if (isShape(part) || typeof part !== 'object' || part === null) return
    for (const inner of Object.values(part)) count(inner, depth + 1)
  }
  count(node, 0)
  return predicate(node, scope)
}

/** Operator and arguments of a call, its name in lower case. */
function callOf(node: Node): { op: string; args: readonly Node[] } | null {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return null
  const { op, args } = node as { op?: unknown; args?: unknown }
  return typeof op === 'string' && Array.isArray(args) ? { op: op.toLowerCase(), args: args as Node[] } : null
}

function predicate(node: Node, scope: Scope): string {
  if (typeof node === 'boolean') return String(node)
  const call = callOf(node)
  if (!call) {
    const value = valueOf(node, scope)
    if ('sql' in value && value.kind === 'boolean') return value.sql
    throw badFilter('a condition is wanted where a value stands')
  }
  const { op, args } = call
  if (op === 'and' || op === 'or') {
    if (args.length < 2) throw badFilter(`${op} takes two conditions or more`)
    return `(${args.map((arg) => predicate(arg, scope)).join(` ${op} `)})`
  }
  if (op === 'not') return `(not ${predicate(only(op, args, 1)[0]!, scope)})`
  if (op === 'isnull') return isNullSql(only(op, args, 1)[0]!, scope)
  if (COMPARE.has(op)) {
    const [a, b] = only(op, args, 2).map((arg) => valueOf(arg, scope)) as [Value, Value]
    return `(${comparisonSql(op, a, b, scope)})`
  }
  if (op === 'like') return likeSql(only(op, args, 2), scope)
  if (op === 'between') {
    const [value, from, to] = only(op, args, 3).map((arg) => valueOf(arg, scope)) as [Value, Value, Value]
    return `(${comparisonSql('between', value, from, scope)} and ${sameKind(value, to, scope)})`
  }
  if (op === 'in') {
    const [one, list] = only(op, args, 2) as [Node, Node]
    if (!Array.isArray(list) || list.length === 0) throw badFilter('in takes a list of values')
    const value = valueOf(one, scope)
    const [first, ...others] = (list as Node[]).map((item) => valueOf(item, scope)) as [Value, ...Value[]]
    const items = [first, ...others].map((item) => sameKind(value, item, scope))
    return `(${valueSql(value, first, scope)} in (${items.join(', ')}))`
  }
  if (Object.hasOwn(SPATIAL, op)) {
    const [a, b] = only(op, args, 2).map((arg) => shapeSql(arg, scope))
    return `${SPATIAL[op]}(${a}, ${b})`
  }
  const temporal = op.startsWith('t_')
    ? temporalSql(op, only(op, args, 2), (arg) => valueOf(arg, scope), scope.parameters)
    : null
  if (temporal !== null) return temporal
  throw badFilter(`there is no operator ${op.slice(0, 100)}`)
}

function only(op: string, args: readonly Node[], count: number): readonly Node[] {
  if (args.length === count) return args
  throw badFilter(`${op} takes ${count} arguments`)
}

function isNullSql(node: Node, scope: Scope): string {
  const column = columnOf(node, scope)
  if (column) return `(source.${quoteIdentifier(column.name)} is null)`
  return `(${valueSql(valueOf(node, scope), null, scope)} is null)`
}

function comparisonSql(operator: string, a: Value, b: Value, scope: Scope): string {
  const right = sameKind(a, b, scope)
  return `${valueSql(a, b, scope)} ${operator} ${right}`
}

/** SQL of a value that stands beside another. */
function sameKind(a: Value, b: Value, scope: Scope): string {
  if (!isComparable(a, b)) throw badFilter(`a ${kindOf(a)} is compared with a ${kindOf(b)}`)
  return valueSql(b, a, scope)
}

function likeSql([left, right]: readonly Node[], scope: Scope): string {
  const [text, pattern] = [valueOf(left!, scope), valueOf(right!, scope)]
  if (kindOf(text) !== 'text' || kindOf(pattern) !== 'text') throw badFilter('like compares texts')
  return `(${valueSql(text, pattern, scope)} like ${valueSql(pattern, text, scope)})`
}

/** @throws BAD_FILTER for a property that is no queryable */
function columnOf(node: Node, { collection }: Scope): Column | null {
  if (typeof node !== 'object' || node === null || Array.isArray(node) || !('property' in node)) return null
  const name = (node as { property: Node }).property
  const columns = queryables(collection)
  const column = columns.find((one) => one.name === name)
  if (column) return column
  throw badFilter(
    `there is no property ${JSON.stringify(name).slice(0, 100)}: use ${columns.map((one) => one.name).join(', ')}`,
  )
}

/** Columns that filters may name. */
export function queryables({ key, properties, geometryColumn }: Collection): readonly Column[] {
  return [...(key ? [key] : []), ...properties, geometryColumn]
}

function valueOf(node: Node, scope: Scope): Value {
  if (typeof node === 'string' || typeof node === 'number' || typeof node === 'boolean') return { literal: node }
  const column = columnOf(node, scope)
  if (column?.kind === 'geometry')
    throw badFilter(`${column.name} is a geometry: ask about it with s_intersects and the like`)
  if (column) return columnValue(column)
  const call = callOf(node)
  if (call?.op === 'casei') {
    const value = valueOf(only('casei', call.args, 1)[0]!, scope)
    if (kindOf(value) !== 'text') throw badFilter('casei takes a text')
    return 'literal' in value ? { ...value, isFolded: true } : { sql: `lower(${value.sql})`, kind: 'text' }
  }
  if (call && Object.hasOwn(ARITHMETIC, call.op)) return arithmetic(call.op, only(call.op, call.args, 2), scope)
  if (call) return { sql: predicate(node, scope), kind: 'boolean' }
  const { date, timestamp } = (node ?? {}) as { date?: unknown; timestamp?: unknown }
  if (typeof date === 'string') return { sql: `${scope.parameters.add(date)}::date`, kind: 'date' }
  if (typeof timestamp === 'string')
    return { sql: `${scope.parameters.add(utcText(timestamp))}::timestamptz`, kind: 'instant' }
  throw badFilter(`${JSON.stringify(node).slice(0, 100)} is no value`)
}

/** Local times are read in UTC. */
function columnValue({ name, kind }: Column): Value {
  const sql = `source.${quoteIdentifier(name)}`
  if (kind === 'timestamp') return { sql: `(${sql} at time zone 'UTC')`, kind: 'instant' }
  return kind === 'other' ? { sql: `${sql}::text`, kind: 'text' } : { sql, kind }
}

function arithmetic(op: string, args: readonly Node[], scope: Scope): Value {
  const [a, b] = args.map((arg) => valueOf(arg, scope)) as [Value, Value]
  if (![a, b].every((value) => isNumber(kindOf(value)))) throw badFilter(`${op} takes numbers`)
  const [left, right] = [a, b].map((value) => `${valueSql(value, null, scope)}::numeric`)
  return { sql: op === 'div' ? `div(${left}, ${right})` : `(${left} ${ARITHMETIC[op]} ${right})`, kind: 'number' }
}

function kindOf(value: Value): Kind {
  if ('sql' in value) return value.kind
  return ({ string: 'text', number: 'number', boolean: 'boolean' } as const)[typeof value.literal as 'string']
}

function isNumber(kind: string): boolean {
  return kind === 'integer' || kind === 'number'
}

function isTime(kind: string): boolean {
  return kind === 'date' || kind === 'instant'
}

/** A text literal may be a time. */
function isComparable(a: Value, b: Value): boolean {
  const [one, other] = [kindOf(a), kindOf(b)]
  if (one === other || (isNumber(one) && isNumber(other)) || (isTime(one) && isTime(other))) return true
  return (isTime(one) && 'literal' in b && other === 'text') || (isTime(other) && 'literal' in a && one === 'text')
}

/** A literal takes the type of the column that it stands beside, so that indexes of the column are used. */
function valueSql(value: Value, beside: Value | null, { parameters }: Scope): string {
  if ('sql' in value) return value.sql
  const kind = beside === null ? kindOf(value) : kindOf(beside)
  if (kind === 'instant' && typeof value.literal === 'string')
    return `${parameters.add(utcText(value.literal))}::timestamptz`
  const text = parameters.add(String(value.literal))
  if (typeof value.literal === 'number') {
    const isWhole = kind === 'integer' && Number.isSafeInteger(value.literal)
    return `${text}::${isWhole ? 'int8' : 'numeric'}`
  }
  if (typeof value.literal === 'boolean') return `${text}::boolean`
  if (kind === 'date') return `${text}::date`
  return value.isFolded ? `lower(${text}::text)` : `${text}::text`
}

function isShape(node: Node): boolean {
  return (
    typeof node === 'object' && node !== null && !Array.isArray(node) && ('coordinates' in node || 'geometries' in node)
  )
}

/** A geometry, in the system of the collection. */
function shapeSql(node: Node, scope: Scope): string {
  const { collection, parameters, crs } = scope
  const column = columnOf(node, scope)
  if (column && column.name !== collection.geometryColumn.name) throw badFilter(`${column.name} is no geometry`)
  if (column) return collection.geometry
  const { wkt, bbox } = (node ?? {}) as { wkt?: unknown; bbox?: unknown }
  if (typeof wkt === 'string' && WKT.test(wkt))
    return fromSystem(`st_geomfromtext(${parameters.add(wkt)}::text)`, crs, collection.srid)
  if (isShape(node))
    return fromSystem(`st_geomfromgeojson(${parameters.add(JSON.stringify(node))}::text)`, crs, collection.srid)
  if (Array.isArray(bbox) && (bbox.length === 4 || bbox.length === 6) && bbox.every(Number.isFinite)) {
    const [w, s, e, n] = (bbox.length === 4 ? bbox : [bbox[0], bbox[1], bbox[3], bbox[4]]).map(
      (one) => `${parameters.add(String(one))}::float8`,
    )
    return fromSystem(`st_makeenvelope(${w}, ${s}, ${e}, ${n})`, crs, collection.srid)
  }
  throw badFilter(`${JSON.stringify(node).slice(0, 100)} is no geometry`)
}
