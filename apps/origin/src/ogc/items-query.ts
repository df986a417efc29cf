import { quoteIdentifier } from '@terrane/database'
import type { Parameters } from '@terrane/database/rest-query'
import { readParameters } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { wholeOf } from '../vector/whole-of.ts'
import type { Collection } from './collection.ts'
import { conditionSql, queryables, type Scope } from './cql2-sql.ts'
import { parseCql2Text, type Node } from './cql2-text.ts'
import { timeSpan, utcText } from './cql2-time.ts'
import { CRS84, systemOf, type Crs } from './crs.ts'
import { badFilter, badParameter, unknownParameter } from './errors.ts'
import { parseExactJson } from './exact-json.ts'
import { envelopesOf, relationSql } from './space.ts'

/** A requested page of features. */
export interface ItemsQuery {
  readonly limit: number
  /** Id after which the page starts; null for the first page. */
  readonly after: string | null
  /** Number of features to skip, for collections without a primary key. */
  readonly offset: number
  readonly crs: Crs
  /** Conditions on rows of `source`, joined by AND. */
  readonly conditions: readonly string[]
}

const OWN = [
  'f',
  'limit',
  'bbox',
  'bbox-crs',
  'crs',
  'datetime',
  'filter',
  'filter-lang',
  'filter-crs',
  'after',
  'offset',
  'startindex',
]
const LIMIT = 100
/** Maximum number of skipped features. */
export const MOST_OFFSET = 10_000_000
/** `cql-text` is the draft's name of CQL2 text, which GDAL 3.10 sends. */
const LANGUAGES: ReadonlySet<string> = new Set(['cql2-text', 'cql2-json', 'cql-text'])
const NUMBER = /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?$/i

/** Reads the query of `items`. @throws BAD_PARAMETER, PARAMETER_UNKNOWN, CRS_UNKNOWN, BAD_FILTER */
export function readItemsQuery(
  request: FastifyRequest,
  collection: Collection,
  most: number,
  parameters: Parameters,
): ItemsQuery {
  const given = readParameters(request)
  const whole = (name: string, least: number, largest: number) =>
    wholeOf(given.get(name), name, least, largest, (detail) => badParameter(name, detail))
  const crs = systemOf('crs', given.get('crs'), collection.systems)
  const boxCrs = systemOf('bbox-crs', given.get('bbox-crs'), collection.systems)
  const filterCrs = systemOf('filter-crs', given.get('filter-crs'), collection.systems)
  const conditions = [
    ...bboxConditions(given.get('bbox'), boxCrs, collection),
    ...timeConditions(given.get('datetime'), collection, parameters),
    ...filterConditions(given, { collection, parameters, crs: filterCrs }),
    ...propertyConditions(given, { collection, parameters, crs: CRS84 }),
  ]
  const after = given.get('after')
  if (given.has('startindex') && given.has('offset'))
    throw badParameter('startindex', 'it means the same as offset: send one')
  if (after !== null && !collection.isUnique)
    throw badParameter('after', 'this collection has no primary key: use offset')
  if (after !== null)
    conditions.push(`source.${quoteIdentifier(collection.key!.name)} > ${keyValue(collection, after, parameters)}`)
  return {
    // Many clients ask for more than the maximum; they get the maximum.
    limit: Math.min(whole('limit', 1, 999_999_999) ?? LIMIT, most),
    after,
    // The name from WFS, which OWSLib sends.
    offset: whole(given.has('startindex') ? 'startindex' : 'offset', 0, MOST_OFFSET) ?? 0,
    crs,
    conditions,
  }
}

/** SQL of an id from the path or the query. */
export function keyValue({ key }: Collection, id: string, parameters: Parameters): string {
  return `${parameters.add(id)}::text::${key!.type}`
}

function bboxConditions(text: string | null, crs: Crs, collection: Collection): string[] {
  if (text === null) return []
  const numbers = text.split(',').map((part) => (NUMBER.test(part.trim()) ? Number(part) : Number.NaN))
  if ((numbers.length !== 4 && numbers.length !== 6) || !numbers.every(Number.isFinite))
    throw badParameter('bbox', 'four or six numbers are wanted: west,south,east,north')
  const boxes = envelopesOf(numbers, crs, (detail) => badParameter('bbox', detail))
  return [`(${boxes.map((box) => relationSql('st_intersects', box, crs, collection)).join(' or ')})`]
}

const isOpen = (end: string) => end === '..' || end === ''

/** RFC 3339: a moment, a day, or an interval with `..` for an open end. Collections without times ignore it. */
function timeConditions(text: string | null, { time }: Collection, parameters: Parameters): string[] {
  if (text === null) return []
  const ends = text.split('/')
  if (
    ends.length > 2 ||
    text === '' ||
    ends.every(isOpen) ||
    !ends.every((end) => MOMENT.test(end) || (ends.length === 2 && isOpen(end)))
  )
    throw badParameter(
      'datetime',
      'a moment, a day or an interval by RFC 3339 is wanted, 2024-05-01T00:00:00Z/.. for one',
    )
  if (time === null) return []
  const column = `source.${quoteIdentifier(time.name)}`
  const start = time.kind === 'instant' ? column : `(${column}::timestamp at time zone 'UTC')`
  const own = timeSpan(start, time.kind === 'date')
  const moment = (end: string) =>
    timeSpan(`${parameters.add(utcText(end))}::timestamptz`, !end.toUpperCase().includes('T'))
  const [from = '', to = from] = ends
  return [
    ...(isOpen(to) ? [] : [`${own.from} <= ${moment(to).to}`]),
    ...(isOpen(from) ? [] : [`${own.to} >= ${moment(from).from}`]),
  ]
}

function filterConditions(given: URLSearchParams, scope: Scope): string[] {
  const language = given.get('filter-lang') ?? 'cql2-text'
  if (!LANGUAGES.has(language)) throw badParameter('filter-lang', 'cql2-text or cql2-json is wanted')
  const text = given.get('filter')
  if (text === null) return []
  return [conditionSql(language === 'cql2-json' ? jsonOf(text) : parseCql2Text(text), scope)]
}

function jsonOf(text: string): Node {
  try {
    return parseExactJson(text) as Node
  } catch {
    throw badFilter('it is no JSON, or nested too deeply')
  }
}

/** `name=value` of properties. */
function propertyConditions(given: URLSearchParams, scope: Scope): string[] {
  const columns = queryables(scope.collection).filter(({ kind }) => kind !== 'geometry')
  return [...given].flatMap(([name, value]) => {
    if (OWN.includes(name)) return []
    const column = columns.find((one) => one.name === name)
    if (!column) throw unknownParameter(name.slice(0, 100), [...OWN, ...columns.map((one) => one.name)])
    return [`source.${quoteIdentifier(name)} = ${scope.parameters.add(value)}::text::${column.type}`]
  })
}
