import { quoteIdentifier } from '@terrane/database'
import {
  conditionList,
  orderClause,
  selectExpression,
  withAggregate,
  type Embed,
  type OrderItem,
  type Resource,
  type SelectItem,
} from '@terrane/database/rest-query'
import { RestError } from '../errors.ts'
import { guarded, listOf, valueOf } from './embedded-bytes.ts'
import { isStar, ownColumnsOf } from './own-columns.ts'
import { aliasOf, embedded, type ReadContext, type Source } from './sources.ts'

/** Whether a query needs the relationships and columns of the schema: it embeds resources, or groups by all columns. */
export function needsPicture(query: Resource): boolean {
  return query.embeds.length > 0 || (isAggregated(query) && (query.select ?? []).some(isStar))
}

/** A column of a resource. */
interface Column {
  readonly sql: string
  /** Null for all columns. */
  readonly name: string | null
  readonly isAggregate: boolean
  /** The aggregate that the outer resource applies. */
  readonly lifted: SelectItem | null
}

/** Columns `plain` as in the answer, `numbered` (`c1`, …) for an outer resource, `lifted` where that aggregates. */
type Naming = 'plain' | 'numbered' | 'lifted'

/** The statement that reads a resource: embedded resources are lateral joins, so that there is one statement for all. */
export function readSql(resource: Resource, source: Source, context: ReadContext): string {
  return selectSql(resource, source, context, { naming: 'plain', isGrouped: false, ordered: [] }).sql
}

interface Form {
  readonly naming: Naming
  /** Outer rows are grouped by the columns, so their types must have an equality operator. */
  readonly isGrouped: boolean
  /** Orders of the outer rows by columns of this resource. */
  readonly ordered: readonly OrderItem[]
}

function selectSql(
  resource: Resource,
  source: Source,
  context: ReadContext,
  form: Form,
): { sql: string; columns: Column[] } {
  const alias = quoteIdentifier(source.alias)
  const isGrouped = form.isGrouped || (form.naming !== 'lifted' && isAggregated(resource))
  const joined = resource.embeds.map((embed) => join(embed, { resource, source, isGrouped }, context))
  const columns = [
    ...(resource.select ?? [STAR]).flatMap((item) => ownColumns(item, source, context, { ...form, isGrouped })),
    ...joined.flatMap((embed) => embed.columns.map((column) => (form.naming === 'lifted' ? column : settled(column)))),
  ]
  const list = columns.map(({ sql, name }, i) => {
    if (form.naming !== 'plain') return `${sql} as c${i + 1}`
    return name === null ? sql : `${sql} as ${quoteIdentifier(name)}`
  })
  form.ordered.forEach((item, i) => list.push(`${alias}.${quoteIdentifier(item.field.column)} as o${i + 1}`))
  const mentioned = new Set<string>()
  const hasRows = (name: string) => {
    const embed = named(joined, name)
    if (embed) mentioned.add(name)
    return embed?.found ?? null
  }
  const conditions = [...source.joins, ...conditionList(resource.conditions, alias, context.parameters, hasRows)]
  const order = orderClause(resource.order, alias, (item) =>
    orderPlace(item, { alias, source, joined, resource, isGrouped }),
  )
  const rows = `from ${source.from} as ${alias}${source.junction}`
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const limit = `${resource.limit === null ? '' : ` limit ${resource.limit}`}${resource.offset === 0 ? '' : ` offset ${resource.offset}`}`
  const joins = joined.map((embed) => embed.sql)
  const paged =
    limit === '' || isGrouped || mentioned.size > 0 ? null : pagedColumns(resource, source, context, form.ordered)
  const sql =
    paged === null
      ? [`select ${list.join(', ')} ${rows}`, ...joins, where, groupClause(columns), order, limit]
      : [
          `select ${list.join(', ')} from (select ${paged} ${rows} ${where}${order}${limit}) as ${alias}`,
          ...joins,
          order,
        ]
  return { sql: sql.filter((part) => part !== '').join(' '), columns }
}

/** Columns of a page that is cut before embedding, to save work; null if embeds filter it or a column is computed. */
function pagedColumns(
  resource: Resource,
  source: Source,
  context: ReadContext,
  ordered: readonly OrderItem[],
): string | null {
  const { embeds, order } = resource
  if (embeds.length === 0 || embeds.some((embed) => embed.isInner) || order.some((item) => item.relation !== null))
    return null
  const alias = quoteIdentifier(source.alias)
  const known = context.picture?.columns(context.schema, source.table) ?? []
  const { names, isAll } = ownColumnsOf(resource, source, context, ordered)
  if (!names.every((name) => known.includes(name))) return null
  return isAll ? `${alias}.*` : names.map((name) => `${alias}.${quoteIdentifier(name)}`).join(', ')
}

const STAR: SelectItem = {
  field: { column: '*', path: [] },
  alias: null,
  cast: null,
  aggregate: null,
  aggregateCast: null,
}

/** Whether rows are grouped: the columns, or those of a spread resource, contain an aggregate. */
function isAggregated({ select, embeds }: Resource): boolean {
  return (select ?? []).some((item) => item.aggregate !== null) || embeds.some((e) => e.isSpread && isAggregated(e))
}

function ownColumns(item: SelectItem, source: Source, { picture, schema }: ReadContext, form: Form): Column[] {
  const alias = quoteIdentifier(source.alias)
  const plain = { isAggregate: false, lifted: null }
  if (isStar(item) && (form.isGrouped || form.naming !== 'plain')) {
    const names = picture?.columns(schema, source.table) ?? []
    return names.map((name) => ({ sql: `${alias}.${quoteIdentifier(name)}`, name, ...plain }))
  }
  if (isStar(item)) return [{ sql: `${alias}.*`, name: null, ...plain }]
  const { sql, name } = selectExpression(item, alias)
  if (item.aggregate === null) return [{ sql, name, ...plain }]
  const isCount = item.field.column === '*'
  const label = item.alias ?? item.aggregate
  if (form.naming === 'lifted') return [{ sql: isCount ? '1' : sql, name: label, isAggregate: false, lifted: item }]
  return [{ sql: withAggregate(isCount ? '*' : sql, item), name: label, isAggregate: true, lifted: null }]
}

/** A column of a spread with the aggregate that was left to this resource. */
function settled(column: Column): Column {
  return column.lifted
    ? { ...column, sql: withAggregate(column.sql, column.lifted), isAggregate: true, lifted: null }
    : column
}

/** Columns are referenced by number, because a name could also be one of the source. */
function groupClause(columns: readonly Column[]): string {
  if (!columns.some((column) => column.isAggregate)) return ''
  const numbers = columns.flatMap((column, i) => (column.isAggregate ? [] : [i + 1]))
  return numbers.length === 0 ? '' : `group by ${numbers.join(', ')}`
}

/** An embedded resource as a part of the statement around it. */
interface Joined {
  readonly name: string
  readonly alias: string
  readonly isToOne: boolean
  readonly sql: string
  /** SQL condition: there are embedded rows. */
  readonly found: string
  /** Columns that it adds to the query of the resource around it. */
  readonly columns: readonly Column[]
}

interface Around {
  readonly resource: Resource
  readonly source: Source
  readonly isGrouped: boolean
}

function join(embed: Embed, { resource, source, isGrouped }: Around, context: ReadContext): Joined {
  const { relationship, child } = embedded(embed, source, context)
  const name = embed.alias ?? embed.target
  const short = `embedded_${child.depth}_${resource.embeds.indexOf(embed)}`
  const taken = new Set([...source.taken, source.alias, child.alias])
  const alias = aliasOf(`${source.table}_${name}_${child.depth}`, short, taken)
  const own = { name, alias: quoteIdentifier(alias), isToOne: relationship.isToOne }
  const ordered = resource.order.filter((item) => item.relation === name && !(isGrouped && isShownBy(embed, item)))
  const form = { child, isGrouped, ordered }
  // A function that promises one row may give several, which would repeat the outer row.
  const single = relationship.functionSchema === null ? embed : { ...embed, limit: 1 }
  const part = relationship.isToOne ? one(single, own.alias, context, form) : many(embed, own.alias, context, form)
  const on = embed.isInner && !relationship.isToOne ? part.found : 'true'
  const kind = embed.isInner ? 'inner' : 'left'
  return { ...own, ...part, sql: `${kind} join lateral (${part.rows}) as ${own.alias} on ${on}` }
}

/** Whether a spread selects the column of an order item, by name or alias; grouped rows can only be ordered by such. */
function isShownBy({ isSpread, select }: Embed, { field }: OrderItem): boolean {
  const shows = (item: SelectItem) => {
    const name = item.alias ?? (item.field.path.length === 0 ? item.field.column : null)
    return item.aggregate === null && name === field.column
  }
  return isSpread && field.path.length === 0 && (select ?? []).some(shows)
}

interface Part {
  readonly rows: string
  readonly found: string
  readonly columns: readonly Column[]
}
type PartForm = { readonly child: Source; readonly isGrouped: boolean; readonly ordered: readonly OrderItem[] }

/** The row of a to-one relationship, as an object or as columns of the outer row. */
function one(embed: Embed, alias: string, context: ReadContext, { child, isGrouped, ordered }: PartForm): Part {
  const found = `${alias}.* is distinct from null`
  const isPlain = !embed.isSpread && ordered.length === 0
  const naming = embed.isSpread ? 'lifted' : isPlain ? 'plain' : 'numbered'
  const { sql, columns } = selectSql(embed, child, context, { naming, isGrouped: embed.isSpread && isGrouped, ordered })
  const outer = columns.map((column, i) => ({ ...column, sql: `${alias}.c${i + 1}`, isAggregate: false }))
  if (embed.isSpread) return { rows: sql, found, columns: outer }
  const members = outer.map((column) => `${column.sql} as ${quoteIdentifier(column.name ?? '')}`)
  const value = isPlain
    ? `row_to_json(${alias}.*)`
    : `case when ${found} then (select row_to_json(r.*) from (select ${members.join(', ')}) as r) end`
  return {
    rows: sql,
    found,
    columns: isEmpty(embed) ? [] : [valueColumn(embed, guarded(value, context.maxBytes), isGrouped)],
  }
}

/** The rows of a to-many relationship, as a list of objects or a list for each column. */
function many(embed: Embed, alias: string, context: ReadContext, { child, isGrouped }: PartForm): Part {
  const limit = context.maxRows === 0 ? embed.limit : Math.min(embed.limit ?? context.maxRows, context.maxRows)
  const naming = embed.isSpread ? 'numbered' : 'plain'
  const { sql, columns } = selectSql({ ...embed, limit }, child, context, { naming, isGrouped: false, ordered: [] })
  if (embed.isSpread && columns.some((column) => column.isAggregate)) {
    throw new RestError(400, 'PGRST127', 'Feature not implemented', {
      details: 'Aggregates are not implemented for one-to-many or many-to-many spreads.',
    })
  }
  const listed = (value: string) => `coalesce(${guarded(value, context.maxBytes)}, '[]')`
  const found = `${alias}.found is not null`
  const values: readonly (readonly [name: string, value: string])[] = embed.isSpread
    ? columns.map((_, i) => [`c${i + 1}`, `to_json(r.c${i + 1})`])
    : isEmpty(embed)
      ? []
      : [['rows', 'row_to_json(r.*)']]
  const bounds = { maxBytes: context.maxBytes, maxRows: limit, place: 'embedded' } as const
  const lists = values.map(([name]) => `${listOf(`l.${name}`, bounds)} as ${name}`)
  const rowValues = values.map(([name, value]) => `${valueOf(embed, value, context.maxBytes)} as ${name}`)
  const rows = `select ${[...lists, 'nullif(count(*), 0) as found'].join(', ')} from (select ${rowValues.join(', ')} from (${sql}) as r offset 0) as l`
  if (isEmpty(embed)) return { rows, found, columns: [] }
  if (!embed.isSpread) return { rows, found, columns: [valueColumn(embed, listed(`${alias}.rows`), isGrouped)] }
  return {
    rows,
    found,
    columns: columns.map((column, i) => ({
      ...column,
      sql: `${listed(`${alias}.c${i + 1}`)}${isGrouped ? '::jsonb' : ''}`,
    })),
  }
}

function valueColumn(embed: Embed, value: string, isGrouped: boolean): Column {
  return {
    sql: isGrouped ? `(${value})::jsonb` : value,
    name: embed.alias ?? embed.target,
    isAggregate: false,
    lifted: null,
  }
}

/** `districts()`: the resource filters, but is not shown. */
function isEmpty({ select, embeds }: Resource): boolean {
  return select?.length === 0 && embeds.every(isEmpty)
}

function named(joined: readonly Joined[], name: string): Joined | null {
  return joined.find((embed) => embed.name === name) ?? null
}

/** @throws PGRST108 when the resource is not embedded, PGRST118 when it has several rows */
function orderPlace(
  item: OrderItem,
  of: Around & { readonly alias: string; readonly joined: readonly Joined[] },
): { source: string; column: string } {
  if (item.relation === null) return { source: of.alias, column: item.field.column }
  const embed = named(of.joined, item.relation)
  if (!embed) {
    throw new RestError(400, 'PGRST108', `'${item.relation}' is not an embedded resource in this request`, {
      hint: `Verify that '${item.relation}' is included in the 'select' query parameter.`,
    })
  }
  if (!embed.isToOne) {
    throw new RestError(400, 'PGRST118', `A related order on '${item.relation}' is not possible`, {
      details: `'${of.source.table}' and '${item.relation}' do not form a many-to-one or one-to-one relationship`,
    })
  }
  const isGrouped = (by: OrderItem) => of.isGrouped && isShownBy(of.resource.embeds[of.joined.indexOf(embed)]!, by)
  if (isGrouped(item)) {
    const shown = embed.columns.findIndex(({ name, lifted }) => name === item.field.column && lifted === null)
    return { source: embed.alias, column: `c${shown + 1}` }
  }
  const number = of.resource.order.filter((o) => o.relation === item.relation && !isGrouped(o)).indexOf(item) + 1
  return { source: embed.alias, column: `o${number}` }
}
