import { hasNumericPositions } from '@terrane/core/positions'
import { quoteIdentifier } from '@terrane/database'
import type { Parameters } from '@terrane/database/rest-query'
import type { Collection, Column, Kind } from './collection.ts'
import { FOLDS } from './cql2-fold.ts'
import type { Node } from './cql2-text.ts'
import { fromSystem, type Crs } from './crs.ts'
import { badFilter } from './errors.ts'
import { Numeral, isFiniteNumber } from './exact-json.ts'
import { envelopesOf, positionsOf, positionsOfWkt, relationSql, requireLatitudes } from './space.ts'
import { hasEnds, temporalSql, utcText, type Value } from './cql2-time.ts'

/** Context in which an expression is compiled. */
export interface Scope {
  readonly collection: Collection
  readonly parameters: Parameters
  /** Reference system of the geometries in the filter. */
  readonly crs: Crs
}

const MAX_NODES = 4000
const MAX_DEPTH = 100
/** Maximum comparisons, because each is evaluated for every row. */
const MAX_TERMS = 100
const TERM = /^(?:[=<>]+|like|between|in|isnull|[st]_\w+)$/
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
/** Relations that change when their sides are exchanged; others are symmetric. */
const CONVERSE: Readonly<Record<string, string>> = { s_within: 's_contains', s_contains: 's_within' }
const WKT = /^[\p{L}\d\s.,()+-]+$/u

/** Compiles CQL2 to a condition on rows of `source`; every value is a parameter. @throws BAD_FILTER */
export function conditionSql(node: Node, scope: Scope): string {
  let [nodes, terms] = [0, 0]
  const count = (part: Node, depth: number): void => {
    if (++nodes > MAX_NODES) throw badFilter(`it has more than ${MAX_NODES} parts`)
    if (depth > MAX_DEPTH) throw badFilter(`it is nested deeper than ${MAX_DEPTH} levels`)
    if (TERM.test(callOf(part)?.op ?? '') && ++terms > MAX_TERMS)
      throw badFilter(`it has more than ${MAX_TERMS} comparisons: IN compares with many values at once`)
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
    return spatialSql(op, only(op, args, 2), scope)
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
  if (typeof node === 'object' && node !== null && 'interval' in node)
    return `(not ${hasEnds(node, (arg) => valueOf(arg, scope), scope.parameters)})`
  if (isShapeLiteral(node)) return `(${shapeSql(node, scope)} is null)`
  return `(${valueSql(valueOf(node, scope), null, scope)} is null)`
}

function comparisonSql(operator: string, a: Value, b: Value, scope: Scope): string {
  const right = sameKind(a, b, scope)
  return `${valueSql(a, b, scope)} ${operator} ${right}`
}

/** SQL of a value that is compared with another one. */
function sameKind(a: Value, b: Value, scope: Scope): string {
  if (!isComparable(a, b)) throw badFilter(`a ${kindOf(a)} is compared with a ${kindOf(b)}`)
  return valueSql(b, a, scope)
}

function likeSql([left, right]: readonly Node[], scope: Scope): string {
  const [text, pattern] = [valueOf(left!, scope), valueOf(patternOf(right!), scope)]
  if (kindOf(text) !== 'text' || kindOf(pattern) !== 'text') throw badFilter('like compares texts')
  return `(${valueSql(text, pattern, scope)} like ${valueSql(pattern, text, scope)})`
}

/** A pattern in which a backslash that escapes nothing is itself: SQL leaves it out. */
function patternOf(node: Node): Node {
  if (typeof node === 'string') return node.replaceAll(/\\[%_\\]|\\/g, (found) => (found.length > 1 ? found : '\\\\'))
  const call = callOf(node)
  return call && Object.hasOwn(FOLDS, call.op) ? { ...call, args: call.args.map(patternOf) } : node
}

/** @throws BAD_FILTER for a property that is not a queryable */
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
  if (isLiteral(node)) return { literal: node }
  const column = columnOf(node, scope)
  if (column?.kind === 'geometry')
    throw badFilter(`${column.name} is a geometry: ask about it with s_intersects and the like`)
  if (column) return columnValue(column)
  const call = callOf(node)
  if (call && Object.hasOwn(FOLDS, call.op)) {
    const value = valueOf(only(call.op, call.args, 1)[0]!, scope)
    if (kindOf(value) !== 'text') throw badFilter(`${call.op} takes a text`)
    return { sql: FOLDS[call.op]!(valueSql(value, null, scope)), kind: 'text' }
  }
  if (call && Object.hasOwn(ARITHMETIC, call.op)) return arithmetic(call.op, only(call.op, call.args, 2), scope)
  if (call) return { sql: predicate(node, scope), kind: 'boolean' }
  const { date, timestamp } = (node ?? {}) as { date?: unknown; timestamp?: unknown }
  if (typeof date === 'string') return { sql: `${scope.parameters.add(date)}::date`, kind: 'date' }
  if (typeof timestamp === 'string')
    return { sql: `${scope.parameters.add(utcText(timestamp))}::timestamptz`, kind: 'instant' }
  throw badFilter(`${JSON.stringify(node).slice(0, 100)} is not a value`)
}

function isLiteral(node: Node): node is string | number | Numeral | boolean {
  return ['string', 'number', 'boolean'].includes(typeof node) || node instanceof Numeral
}

/** Local times are read in UTC. */
function columnValue({ name, kind, typeName }: Column): Value {
  const sql = `source.${quoteIdentifier(name)}`
  if (kind === 'timestamp') return { sql: `(${sql} at time zone 'UTC')`, kind: 'instant' }
  return kind === 'other' ? { sql: `${sql}::text`, kind: 'text', typeName } : { sql, kind, typeName }
}

function arithmetic(op: string, args: readonly Node[], scope: Scope): Value {
  const [a, b] = args.map((arg) => valueOf(arg, scope)) as [Value, Value]
  if (![a, b].every((value) => isNumber(kindOf(value)))) throw badFilter(`${op} takes numbers`)
  const [left, right] = [a, b].map((value) => `${valueSql(value, null, scope)}::numeric`)
  if (op === 'div') return { sql: `div(${left}, ${right})`, kind: 'number' }
  // Powers are computed as doubles, because numeric powers can take minutes and cannot be interrupted.
  if (op === '^') return { sql: `power(${left}::float8, ${right}::float8)::numeric`, kind: 'number' }
  return { sql: `(${left} ${ARITHMETIC[op]} ${right})`, kind: 'number' }
}

function kindOf(value: Value): Kind {
  if ('sql' in value) return value.kind
  const { literal } = value
  return typeof literal === 'string' ? 'text' : typeof literal === 'boolean' ? 'boolean' : 'number'
}

function isNumber(kind: string): boolean {
  return kind === 'integer' || kind === 'number'
}

function isTime(kind: string): boolean {
  return kind === 'date' || kind === 'instant'
}

/** A text literal may be used as a time. */
function isComparable(a: Value, b: Value): boolean {
  const [one, other] = [kindOf(a), kindOf(b)]
  if (one === other || (isNumber(one) && isNumber(other)) || (isTime(one) && isTime(other))) return true
  return (isTime(one) && 'literal' in b && other === 'text') || (isTime(other) && 'literal' in a && one === 'text')
}

/** A literal gets the type of the column that it is compared with, so that indexes of the column are used. */
function valueSql(value: Value, beside: Value | null, { parameters }: Scope): string {
  const kind = kindOf(beside ?? value)
  if ('sql' in value)
    return value.kind === 'date' && kind === 'instant' ? `(${value.sql}::timestamp at time zone 'UTC')` : value.sql
  const { literal } = value
  if (kind === 'instant' && typeof literal === 'string') return `${parameters.add(utcText(literal))}::timestamptz`
  const text = parameters.add(String(literal))
  const typeName = beside && 'sql' in beside ? beside.typeName : undefined
  if (typeof literal === 'number' || literal instanceof Numeral)
    return `${text}::${numberType(literal, kind, typeName)}`
  if (typeof literal === 'boolean') return `${text}::boolean`
  if (kind === 'date') return `${text}::date`
  return typeName === 'uuid' ? `lower(${text}::text)` : `${text}::text`
}

/** The type of a number that is compared with a column: the column's type if it can hold the number. */
function numberType(literal: number | Numeral, kind: Kind, typeName: string | undefined): string {
  if (kind === 'integer' && /^-?\d{1,18}$/.test(String(literal))) return 'int8'
  const size = Math.abs(Number(literal))
  return typeName === 'float4' && (size === 0 || (size > 1e-37 && size < 3e38)) ? 'float4' : 'numeric'
}

function isShape(node: Node): boolean {
  return (
    typeof node === 'object' && node !== null && !Array.isArray(node) && ('coordinates' in node || 'geometries' in node)
  )
}

function isShapeLiteral(node: Node): boolean {
  return isShape(node) || (typeof node === 'object' && node !== null && ('wkt' in node || 'bbox' in node))
}

/** SQL of a relation between two operands, each the column or a shape, in the reference system of the filter. */
function spatialSql(op: string, [left, right]: readonly Node[], scope: Scope): string {
  const [a, b] = [shapeSql(left!, scope), shapeSql(right!, scope)]
  if (a === null && b !== null) return relationSql(SPATIAL[op]!, b, scope.crs, scope.collection)
  if (a !== null && b === null) return relationSql(SPATIAL[CONVERSE[op] ?? op]!, a, scope.crs, scope.collection)
  const own = scope.collection.geometry
  return `${SPATIAL[op]}(${a ?? own}, ${b ?? own})`
}

/** A geometry of the filter, in the filter's system; null for the column. */
function shapeSql(node: Node, scope: Scope): string | null {
  const { collection, parameters, crs } = scope
  const column = columnOf(node, scope)
  if (column && column.name !== collection.geometryColumn.name) throw badFilter(`${column.name} is not a geometry`)
  if (column) return null
  const { wkt, bbox } = (node ?? {}) as { wkt?: unknown; bbox?: unknown }
  if (typeof wkt === 'string' && WKT.test(wkt)) {
    requireLatitudes(positionsOfWkt(wkt), crs)
    return fromSystem(`st_geomfromtext(${parameters.add(wkt)}::text)`, crs, crs.srid)
  }
  if (isShape(node)) {
    if (!hasNumericPositions(node, isFiniteNumber)) throw badFilter('coordinates of a geometry are not numbers')
    requireLatitudes(positionsOf(node), crs)
    return fromSystem(`st_geomfromgeojson(${parameters.add(JSON.stringify(node))}::text)`, crs, crs.srid)
  }
  if (Array.isArray(bbox) && (bbox.length === 4 || bbox.length === 6)) {
    const numbers = bbox.map((one) => (one instanceof Numeral ? Number(one.text) : (one as unknown)))
    if (numbers.every((one): one is number => Number.isFinite(one))) {
      const [first, second] = envelopesOf(numbers, crs, (detail) => badFilter(`of a box ${detail}`))
      return second === undefined ? first! : `st_collect(${first}, ${second})`
    }
  }
  throw badFilter(`${JSON.stringify(node).slice(0, 100)} is not a geometry`)
}
