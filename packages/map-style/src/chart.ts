import { quoteIdentifier, quoteLiteral } from '@terrane/core/sql-text'
import type { Filter } from './document.ts'
import { named } from './question.ts'

/** Counting of the rows of a column: in ranges of numbers, in periods, or by value. */
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
  return /^(text|character|boolean|uuid|citext)\b[^[]*$/.test(type) ? 'category' : null
}

/**
 * The statement that counts the rows of a column. Its rows are `starts` (text; a period only to its precision, such as
 * `2024-05`), `ends` (text for numbers, else null), `part` (from 0), `rows` and `total` (of all rows with a value that
 * is finite). Times are UTC.
 *
 * @param type the column's SQL type
 */
export function chartSql(of: ChartRows, column: string, type: string): string {
  const kind = chartKind(type)
  if (kind === null) throw new TypeError(`a column of type ${type} has no chart`)
  const values = `select ${valueOf(column, type, kind)} as v from ${named(of)} where ${whereOf(of, column)}`
  if (kind === 'number') return numberSql(values)
  return kind === 'time' ? timeSql(values) : categorySql(values)
}

function numberSql(values: string): string {
  const parts = CHART_PARTS.number
  const at = (part: string) => `lo * (1 - (${part}) / ${parts}.0::float8) + hi * ((${part}) / ${parts}.0::float8)`
  // Halves, because the difference of the greatest and the least double exceeds the range of a double.
  return `with v as (${values}),
r as (select min(v) as lo, max(v) as hi, max(v) / 2 - min(v) / 2 as half from v where abs(v) < 'infinity')
select part, (${at('part')})::text as starts, (case when half = 0 then hi else ${at('part + 1')} end)::text as ends,
  count(*) as rows, sum(count(*)) over ()::bigint as total
from v cross join r
cross join lateral (select least(${parts - 1}, coalesce(floor((v / 2 - lo / 2) / nullif(half, 0) * ${parts}), 0))::int as part) p
where v between lo and hi
group by part, lo, hi, half order by part`
}

const days = (count: number) => `hi - lo > interval '${count} days'`

function timeSql(values: string): string {
  return `with v as (${values}),
r as (select min(v) as lo, max(v) as hi from v where isfinite(v)),
u as (select lo, hi, case when ${days(36_500)} then 'century' when ${days(22_000)} then 'decade' when ${days(2200)} then 'year'
  when ${days(180)} then 'month' when ${days(6)} then 'day' else 'hour' end as unit from r),
c as (select date_trunc(unit, v) as at, count(*) as rows from v cross join u where isfinite(v) group by 1)
select (row_number() over (order by p.at))::int - 1 as part, to_char(p.at, case unit when 'hour' then 'YYYY-MM-DD HH24:MI'
  when 'day' then 'YYYY-MM-DD' when 'month' then 'YYYY-MM' else 'YYYY' end || case when p.at < '0001-01-01' then ' BC' else '' end) as starts,
  null as ends, coalesce(c.rows, 0) as rows, sum(c.rows) over ()::bigint as total
from u cross join lateral generate_series(date_trunc(unit, lo), hi, ('1 ' || unit)::interval) p(at)
left join c on c.at = p.at order by p.at`
}

function categorySql(values: string): string {
  return `with v as (${values})
select (row_number() over (order by count(*) desc, v))::int - 1 as part, v as starts, null as ends, count(*) as rows,
  sum(count(*)) over ()::bigint as total
from v group by v order by part limit ${CHART_PARTS.category}`
}

function valueOf(column: string, type: string, kind: ChartKind): string {
  const name = quoteIdentifier(column)
  if (kind === 'number') return `${name}::double precision`
  if (kind === 'category') return `${name}::text`
  return /with time zone/.test(type) ? `(${name} at time zone 'UTC')` : `${name}::timestamp`
}

function whereOf({ filters, view }: ChartRows, column: string): string {
  const conditions = [`${quoteIdentifier(column)} is not null`, ...filters.map(conditionSql)]
  if (view) {
    const [west, south, east, north] = view.box
    // The view may lie in another copy of the world, or cross the antimeridian.
    const turn = Math.floor((west + 180) / 360) * 360
    const boxes = [turn, turn + 360].map(
      (by) =>
        `${quoteIdentifier(view.geometry)} && st_makeenvelope(${west - by}, ${south}, ${east - by}, ${north}, 4326)`,
    )
    conditions.push(`(${boxes.join(' or ')})`)
  }
  return conditions.join(' and ')
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
