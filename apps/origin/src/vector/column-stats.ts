import { quoteIdentifier, type Session } from '@terrane/database'
import { whereClause, type Condition, Parameters } from '@terrane/database/rest-query'
import type { Layer, Property } from './layer.ts'

/** Values of a property as tiles contain them, over all rows that the caller may see and that match the filters. */
export interface ColumnStats {
  readonly property: string
  readonly type: 'Number' | 'Boolean' | 'String'
  readonly rows: number
  /** Rows without a value; infinite numbers and NaN count as missing. */
  readonly missing: number
  /** Number of different values. */
  readonly distinct: number
  /** The most frequent values, at most {@link MOST_VALUES}. */
  readonly values: readonly { readonly value: string | number | boolean; readonly rows: number }[]
  /** For numbers: classes of about equal count, each up to the `from` of the next, the last with its maximum. */
  readonly classes: readonly NumberClass[]
}

export interface NumberClass {
  readonly from: number
  readonly to: number
  readonly rows: number
}

export interface StatsQuery {
  /** Requested number of classes. Equal values stay in one class, so there may be fewer. */
  readonly classes: number
  readonly conditions: readonly Condition[]
}

const MOST_VALUES = 20

const TYPES = { int8: 'Number', float8: 'Number', bool: 'Boolean', text: 'String' } as const

/** Reads the statistics of a layer's first property; to be run under the caller's role, in a snapshot. */
export async function readColumnStats(
  session: Session,
  layer: Layer,
  { classes: wanted, conditions }: StatsQuery,
): Promise<ColumnStats> {
  const property = layer.properties[0]!
  const ask = <Row extends object>(select: (values: string) => string, ...more: readonly unknown[]) => {
    const parameters = new Parameters()
    for (const value of more) parameters.add(value)
    const values = `select ${valueSql(property)} as v from ${layer.source} as source${whereClause(conditions, 'source', parameters)}`
    return session.query<Row>(select(`(${values}) s`), parameters.values).then(({ rows }) => rows)
  }
  const [counts] = await ask<{ rows: number; filled: number; low: number; high: number }>(
    (s) => `select count(*)::float8 as rows, count(v)::float8 as filled${extremes(property)} from ${s}`,
  )
  const { rows = 0, filled = 0, low = 0, high = 0 } = counts ?? {}
  const frequent = await ask<{ value: string | number | boolean; rows: number; kinds: number }>(
    (s) =>
      `select v as value, count(*)::float8 as rows, count(*) over ()::float8 as kinds from ${s} where v is not null
       group by v order by count(*) desc, v limit ${MOST_VALUES}`,
  )
  const type = TYPES[property.type]
  return {
    property: property.name,
    type,
    rows,
    missing: rows - filled,
    distinct: frequent[0]?.kinds ?? 0,
    values: frequent.map(({ value, rows: of }) => ({ value, rows: of })),
    classes: type === 'Number' && filled > 0 ? await classesOf(ask, wanted, { low, high }) : [],
  }
}

type Asking = <Row extends object>(select: (values: string) => string, ...more: readonly unknown[]) => Promise<Row[]>

async function classesOf(ask: Asking, wanted: number, { low, high }: { low: number; high: number }) {
  const shares = Array.from({ length: wanted - 1 }, (_, i) => (i + 1) / wanted)
  const [found] = await ask<{ breaks: number[] }>(
    (s) => `select percentile_disc($1::float8[]) within group (order by v) as breaks from ${s}`,
    shares,
  )
  const starts = [low, ...new Set((found?.breaks ?? []).filter((value) => value > low))]
  const counted = await ask<{ class: number; rows: number }>(
    (s) =>
      `select width_bucket(v, $1::float8[]) as class, count(*)::float8 as rows from ${s} where v is not null group by 1`,
    starts,
  )
  const rowsIn = new Map(counted.map(({ class: index, rows }) => [index, rows]))
  return starts.map((from, i) => ({ from, to: starts[i + 1] ?? high, rows: rowsIn.get(i + 1) ?? 0 }))
}

/** SQL of the value as tiles contain it; JSON has no NaN and no infinity. */
function valueSql({ name, type }: Property): string {
  const column = `source.${quoteIdentifier(name)}::${type}`
  if (type === 'int8') return `${column}::float8`
  return type === 'float8' ? `case when abs(${column}) <= 1.7976931348623157e308 then ${column} end` : column
}

function extremes({ type }: Property): string {
  return TYPES[type] === 'Number' ? ', min(v) as low, max(v) as high' : ''
}
