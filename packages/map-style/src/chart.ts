import { qualified, quoteIdentifier, quoteLiteral } from '@terrane/core/sql-text'
import type { Filter } from './document.ts'

/** How the rows of a column are counted: in ranges of numbers, in periods, or by value. */
export type ChartKind = 'number' | 'time' | 'category'

/** Rows of a table that are counted. */
export interface ChartRows {
  /** `schema.table`. */
  readonly table: string
  readonly filters: readonly Filter[]
  /** Column of geometries in degrees, and west, south, east, north of a view; null for all rows. */
  readonly view: { readonly geometry: string; readonly box: readonly [number, number, number, number] } | null
}

/** Number of ranges of a chart of numbers, and of the values of a chart of texts. */
export const CHART_PARTS = { number: 20, category: 12 } as const

/** The kind of chart for a column's SQL type; null for geometries, documents and lists. */
export function chartKind(type: string): ChartKind | null {
  if (/^(smallint|integer|bigint|real|double precision|numeric)\b[^[]*$/.test(type)) return 'number'
  if (/^(date|timestamp)\b[^[]*$/.test(type)) return 'time'
  return /^(text|character|boolean|uuid|"?char"?|citext)\b[^[]*$/.test(type) ? 'category' : null
}

/**
 * The statement that counts the rows of a column. Its rows are `starts` (text), `ends` (text, null but for numbers),
 * `part` (from 0), `rows`, `total` (of all rows with a value) and `unit` (null but for times). Times are UTC.
 *
 * @param type the column's SQL type
 */
export function chartSql(of: ChartRows, column: string, type: string): string {
  const kind = chartKind(type)
  if (kind === null) throw new TypeError(`a column of type ${type} has no chart`)
  const values = `select ${valueOf(column, type, kind)} as v from ${named(of.table)} where ${whereOf(of, column)}`
  if (kind === 'number') return numberSql(values)
  return kind === 'time' ? timeSql(values) : categorySql(values)
}

function numberSql(values: string): string {
  const parts = CHART_PARTS.number
  return `with v as (${values}),
r as (select min(v) as lo, max(v) as hi from v where abs(v) < 'infinity')
select part, (lo + (hi - lo) * part / ${parts})::text as starts, (lo + (hi - lo) * (part + 1) / ${parts})::text as ends,
  count(*) as rows, sum(count(*)) over ()::bigint as total, null as unit
from v cross join r
cross join lateral (select coalesce(least(${parts - 1}, floor((v - lo) / nullif(hi - lo, 0) * ${parts})), 0)::int as part) p
where v between lo and hi
group by part, lo, hi order by part`
}

const days = (count: number) => `hi - lo > interval '${count} days'`

function timeSql(values: string): string {
  return `with v as (${values}),
r as (select min(v) as lo, max(v) as hi from v where isfinite(v)),
u as (select lo, hi, case when ${days(36_500)} then 'century' when ${days(22_000)} then 'decade' when ${days(2200)} then 'year'
  when ${days(180)} then 'month' when ${days(6)} then 'day' else 'hour' end as unit from r),
c as (select date_trunc(unit, v) as at, count(*) as rows from v cross join u where isfinite(v) group by 1)
select (row_number() over (order by p.at))::int - 1 as part, to_char(p.at, 'YYYY-MM-DD HH24:MI') as starts, null as ends,
  coalesce(c.rows, 0) as rows, sum(c.rows) over ()::bigint as total, unit
from u cross join lateral generate_series(date_trunc(unit, lo), hi, ('1 ' || unit)::interval) p(at)
left join c on c.at = p.at order by p.at`
}

function categorySql(values: string): string {
  return `with v as (${values})
select (row_number() over (order by count(*) desc, v))::int - 1 as part, v as starts, null as ends, count(*) as rows,
  sum(count(*)) over ()::bigint as total, null as unit
from v group by v order by part limit ${CHART_PARTS.category}`
}

function valueOf(column: string, type: string, kind: ChartKind): string {
  const name = quoteIdentifier(column)
  if (kind === 'number') return `${name}::double precision`
  if (kind === 'category') return `${name}::text`
  return /with time zone/.test(type) ? `(${name} at time zone 'UTC')` : `${name}::timestamp`
}

function whereOf({ filters, view }: ChartRows, column: string): string {
  const inView = view && `${quoteIdentifier(view.geometry)} && st_makeenvelope(${view.box.join(', ')}, 4326)`
  return [`${quoteIdentifier(column)} is not null`, ...filters.map(conditionSql), ...(inView ? [inView] : [])].join(
    ' and ',
  )
}

/** A filter of a layer as SQL: the rows that the map draws. */
function conditionSql({ property, is, value }: Filter): string {
  const name = quoteIdentifier(property)
  const literal = typeof value === 'string' ? quoteLiteral(value) : String(value)
  switch (is) {
    case 'equal':
      return `${name} = ${literal}`
    case 'not':
      return `${name} is distinct from ${literal}`
    case 'less':
      return `${name} < ${literal}`
    case 'more':
      return `${name} > ${literal}`
    case 'contains':
      return `strpos(lower(${name}::text), lower(${quoteLiteral(String(value))})) > 0`
    case 'empty':
      return `coalesce(${name}::text, '') = ''`
    case 'filled':
      return `${name}::text <> ''`
  }
}

function named(table: string): string {
  const dot = table.indexOf('.')
  return qualified(table.slice(0, dot), table.slice(dot + 1))
}
