import { qualified, quoteIdentifier } from '@terrane/core/sql-text'

/** A table or view that a question is about. */
export interface QuestionTable {
  /** `schema.table`. */
  readonly table: string
  /** All of its columns, in order. */
  readonly columns: readonly string[]
  /** The geometry column, in degrees; null without one. */
  readonly geometry: string | null
}

/** Common questions about two tables. */
export type Question =
  /** Rows of `table` that lie within a distance of a row of `other`. */
  | { readonly verb: 'within'; readonly table: QuestionTable; readonly other: QuestionTable }
  /** Rows of `table` with the columns of the row of `other` that has the same key. */
  | {
      readonly verb: 'key'
      readonly table: QuestionTable
      readonly other: QuestionTable
      readonly keys: readonly [string, string]
    }
  /** Areas of `table` with the number of rows of `other` that touch them, and the sum of a column of them. */
  | {
      readonly verb: 'place'
      readonly table: QuestionTable
      readonly other: QuestionTable
      readonly sum: string | null
    }
  /** Rows of `table` with the nearest row of `other` and the distance to it. */
  | { readonly verb: 'nearest'; readonly table: QuestionTable; readonly other: QuestionTable }

/** Names of keys that imports number themselves; such a key is the first column. */
export const NUMBERED_KEYS = ['id', 'fid', 'ogc_fid'] as const

/** The first column that two tables have in common, without keys that imports number; null for none. */
export function sharedColumn(table: QuestionTable, other: QuestionTable): string | null {
  const [left, right] = [table, other].map(({ columns, geometry }) =>
    columns.filter((column, i) => column !== geometry && !(i === 0 && NUMBERED_KEYS.includes(column as never))),
  )
  return left!.find((column) => right!.includes(column)) ?? null
}

const q = quoteIdentifier
/** Meters of a degree of latitude, at least. */
const DEGREE = 110_500

/**
 * One statement of PostGIS that answers a question; distances are in meters on the spheroid. `within` names its
 * distance `:distance`. `within` and `nearest` test boxes in degrees first, which use indexes; the boxes end at the
 * 180th meridian.
 */
export function sqlOf(question: Question): string {
  const { table, other } = question
  const from = `from ${named(table)} a`
  const [here, there] = [`a.${q(table.geometry ?? 'geom')}`, `b.${q(other.geometry ?? 'geom')}`]
  switch (question.verb) {
    case 'within':
      return `select a.*
${from}
where exists (
  select from ${named(other)} b
  where ${there} && ${boxAround(here, ':distance')}
    and st_dwithin(${there}::geography, ${here}::geography, :distance)
)`
    case 'key': {
      const [key, otherKey] = question.keys
      const added = other.columns.filter(
        (column) => column !== otherKey && !(table.geometry && column === other.geometry),
      )
      return `select a.*${renamed(added, table.columns, '')}
${from}
left join ${named(other)} b on a.${q(key)}::text = b.${q(otherKey)}::text`
    }
    case 'place': {
      const count = freeName(`${shortOf(other)}_count`, table.columns)
      const sum = question.sum && freeName(`${question.sum}_sum`, [...table.columns, count])
      return `select a.*, s.${q(count)}${sum ? `, s.${q(sum)}` : ''}
${from}
cross join lateral (
  select count(*) as ${q(count)}${sum ? `, sum(b.${q(question.sum)}) as ${q(sum)}` : ''}
  from ${named(other)} b
  where st_intersects(${here}, ${there})
) s`
    }
    case 'nearest': {
      const added = other.columns.filter((column) => column !== other.geometry)
      const meters = freeName('distance_m', [...table.columns, ...added.map((column) => `nearest_${column}`)])
      return `select a.*${renamed(added, table.columns, 'nearest_')}, b.${q(meters)}
${from}
left join lateral (
  select st_distance(${there}::geography, ${here}::geography) as most
  from ${named(other)} b
  order by ${there} <-> ${here} limit 1
) near on true
left join lateral (
  select b.*, st_distance(${there}::geography, ${here}::geography) as ${q(meters)}
  from ${named(other)} b
  where ${there} && ${boxAround(here, 'near.most')}
  order by ${q(meters)} limit 1
) b on true`
    }
  }
}

/** The box that holds all within a distance; degrees of longitude are short far from the equator. */
function boxAround(geometry: string, meters: string): string {
  const up = `${meters} / ${DEGREE}`
  const latitude = `greatest(abs(st_ymin(${geometry})), abs(st_ymax(${geometry}))) + ${up}`
  return `st_expand(${geometry}, ${up} / cos(radians(least(89.9, ${latitude}))), ${up})`
}

/** A table's quoted name. */
export function named({ table }: { readonly table: string }): string {
  const dot = table.indexOf('.')
  return qualified(table.slice(0, dot), table.slice(dot + 1))
}

function shortOf({ table }: QuestionTable): string {
  return table.slice(table.indexOf('.') + 1)
}

/** Columns of `b` under names that `a` does not have. */
function renamed(columns: readonly string[], taken: readonly string[], prefix: string): string {
  const all = [...taken]
  return columns
    .map((column) => {
      const name = freeName(prefix + column, all)
      all.push(name)
      return name === column ? `, b.${q(column)}` : `, b.${q(column)} as ${q(name)}`
    })
    .join('')
}

const bytes = (text: string) => new TextEncoder().encode(text).length

/** A name that is not taken, within the 63 bytes that the server keeps. */
function freeName(wanted: string, taken: readonly string[]): string {
  let base = wanted
  while (bytes(base) > 59) base = base.slice(0, -1)
  for (let i = 1; ; i++) {
    const name = i === 1 && bytes(wanted) <= 63 ? wanted : `${base}_${i}`
    if (!taken.includes(name)) return name
  }
}
