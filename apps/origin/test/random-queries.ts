/** Random queries with embedded resources, and their results by brute force over the rows. */

import type { Random, Row } from './random-tables.ts'

type Value = unknown

/** Relationships of a table: their text in `select`, and the related table. */
const WAYS: Readonly<
  Record<string, readonly { text: string; to: string; one?: string; many?: string; visits?: string }[]>
> = {
  districts: [{ text: 'places', to: 'places', many: 'district' }],
  places: [
    { text: 'districts', to: 'districts', one: 'district' },
    { text: 'people!home', to: 'people', many: 'home' },
    { text: 'people!visits', to: 'people', visits: 'place' },
    { text: 'visits', to: 'visits', many: 'place' },
  ],
  people: [
    { text: 'places!people_home_fkey', to: 'places', one: 'home' },
    { text: 'places!visits', to: 'places', visits: 'person' },
    { text: 'boss', to: 'people', one: 'boss' },
    { text: 'people', to: 'people', many: 'boss' },
    { text: 'visits', to: 'visits', many: 'person' },
  ],
  visits: [
    { text: 'people', to: 'people', one: 'person' },
    { text: 'places', to: 'places', one: 'place' },
  ],
}
type Way = (typeof WAYS)[string][number]

interface Node {
  readonly table: string
  readonly columns: readonly { name: string; alias: string }[]
  /** Aggregates, grouped by the columns. */
  readonly aggregates: readonly { name: string; of: string | null; alias: string }[]
  readonly children: readonly {
    way: Way
    node: Node
    name: string
    alias: string | null
    isInner: boolean
    isSpread: boolean
  }[]
  readonly tests: readonly Test[]
  readonly orders: readonly { by: string; from: string | null; isDescending: boolean }[]
  readonly limit: number | null
  readonly offset: number
}
interface Test {
  /** Parameter of the resource: a column, or `or`. */
  readonly name: string
  readonly text: string
  /** True, false or unknown. */
  holds(row: Row, found: (child: string) => boolean): boolean | null
}

export interface RandomQuery {
  readonly table: string
  readonly parameters: URLSearchParams
  /** The answer, and the number of rows without a page. */
  evaluate(tables: Readonly<Record<string, readonly Row[]>>): { rows: Value[]; total: number }
}

export function randomQuery(random: Random): RandomQuery {
  const make = { random, names: 0 }
  const table = pick(Object.keys(WAYS), random)
  const node = randomNode(make, table, 0)
  const parameters = new URLSearchParams([['select', selectOf(node)]])
  write(node, '', parameters)
  return {
    table,
    parameters,
    evaluate: (tables) => {
      const { rows, total } = evaluate(node, tables[table]!, tables)
      return { rows: rows.map(({ value }) => value), total }
    },
  }
}

interface Make {
  readonly random: Random
  names: number
}

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  districts: ['id', 'name', 'kind'],
  places: ['id', 'name', 'kind', 'size'],
  people: ['id', 'name', 'kind', 'size'],
  visits: ['id', 'kind', 'size'],
}

function randomNode(make: Make, table: string, depth: number, isLeaf = false): Node {
  const { random } = make
  const chance = (p: number) => random() < p
  const alias = () => `n${make.names++}`
  const isGrouped = chance(0.15)
  const column = () => ({ name: pick(isGrouped ? ['kind'] : COLUMNS[table]!, random), alias: alias() })
  const ways = depth > 2 || isLeaf || isGrouped ? [] : WAYS[table]!.filter(() => chance(0.5 - depth * 0.1))
  const children = ways.map((way) => {
    const isSpread = chance(0.25)
    const name = alias()
    const written = isSpread ? way.text.split('!')[0]! : name
    const node = randomNode(make, way.to, depth + 1, isSpread)
    // A spread to-many relationship has no aggregates; a spread to-one relationship lifts them.
    const plain = isSpread
      ? { ...node, aggregates: [], orders: ordered(node), columns: [{ name: 'id', alias: alias() }, ...node.columns] }
      : node
    const page = way.one === undefined ? plain : { ...plain, aggregates: [], limit: null, offset: 0, orders: [] }
    const visible = page.columns.length === 0 ? { ...page, columns: [{ name: 'id', alias: alias() }] } : page
    return { way, node: visible, name: written, alias: isSpread ? null : name, isInner: chance(0.25), isSpread }
  })
  const distinct = children.filter((child, i) => children.findIndex((other) => other.name === child.name) === i)
  const one = distinct.filter(({ way }) => way.one !== undefined)
  const orders = [
    ...(one.length > 0 && chance(0.3) ? [{ by: 'id', from: pick(one, random).name, isDescending: chance(0.5) }] : []),
    ...(chance(0.3) ? [{ by: 'kind', from: null, isDescending: chance(0.5) }] : []),
    { by: 'id', from: null, isDescending: chance(0.3) },
  ]
  const measured = COLUMNS[table]!.includes('size') ? 'size' : 'id'
  const aggregates = [
    { name: 'count', of: null },
    { name: pick(['sum', 'min', 'max', 'count'], random), of: measured },
  ].map((made) => ({ ...made, alias: `group_${alias()}` }))
  const isPaged = !isGrouped && chance(0.3)
  return {
    table,
    columns: Array.from({ length: Math.floor(random() * 3) + (isGrouped ? 0 : 1) }, column).slice(0, isGrouped ? 1 : 3),
    aggregates: isGrouped ? aggregates : [],
    children: distinct,
    tests: Array.from({ length: chance(0.5) ? 1 : 0 }, () => randomTest(make, table, distinct)),
    orders: isGrouped ? [] : orders,
    limit: isPaged ? 1 + Math.floor(random() * 6) : null,
    offset: isPaged && depth === 0 ? Math.floor(random() * 3) : 0,
  }
}

/** Order of a resource without its aggregates; by id if it has none, as for grouped rows. */
function ordered({ orders }: Node): Node['orders'] {
  return orders.length > 0 ? orders : [{ by: 'id', from: null, isDescending: false }]
}

type Truth = boolean | null
const either = (a: Truth, b: Truth): Truth =>
  a === true || b === true ? true : a === null || b === null ? null : false
const not = (a: Truth): Truth => (a === null ? null : !a)

function randomTest({ random }: Make, table: string, children: Node['children']): Test {
  const child = children.length > 0 && random() < 0.5 ? pick(children, random).name : null
  if (child !== null) {
    const isNull = random() < 0.5
    return { name: child, text: isNull ? 'is.null' : 'not.is.null', holds: (_, found) => found(child) !== isNull }
  }
  const bound = Math.floor(random() * 15)
  const letter = pick(['a', 'b', 'c'], random)
  const number = COLUMNS[table]!.includes('size') ? 'size' : 'id'
  const less = (row: Row) => (row[number] === null ? null : (row[number] as number) < bound)
  const equal = (row: Row) => (row['kind'] === null ? null : row['kind'] === letter)
  return pick<Test>(
    [
      { name: number, text: `lt.${bound}`, holds: less },
      { name: 'kind', text: `not.eq.${letter}`, holds: (row) => not(equal(row)) },
      { name: 'kind', text: `in.(${letter},x)`, holds: equal },
      { name: number, text: 'not.is.null', holds: (row) => row[number] !== null },
      { name: 'or', text: `(${number}.lt.${bound},kind.eq.${letter})`, holds: (row) => either(less(row), equal(row)) },
      {
        name: 'not.or',
        text: `(${number}.lt.${bound},kind.eq.${letter})`,
        holds: (row) => not(either(less(row), equal(row))),
      },
    ],
    random,
  )
}

function selectOf(node: Node): string {
  const own = node.columns.map(({ name, alias }) => `${alias}:${name}`)
  const functions = node.aggregates.map(({ name, of, alias }) => `${alias}:${of === null ? '' : `${of}.`}${name}()`)
  const children = node.children.map(({ way, node: child, alias, isInner, isSpread }) => {
    return `${isSpread ? '...' : `${alias}:`}${way.text}${isInner ? '!inner' : ''}(${selectOf(child)})`
  })
  return [...own, ...functions, ...children].join(',')
}

function write(node: Node, prefix: string, parameters: URLSearchParams): void {
  for (const { name, text } of node.tests) parameters.append(`${prefix}${name}`, text)
  const order = node.orders.map(
    ({ by, from, isDescending }) => `${from === null ? by : `${from}(${by})`}${isDescending ? '.desc' : ''}`,
  )
  if (order.length > 0) parameters.append(`${prefix}order`, order.join(','))
  if (node.limit !== null) parameters.append(`${prefix}limit`, String(node.limit))
  if (node.offset > 0) parameters.append(`${prefix}offset`, String(node.offset))
  for (const child of node.children) write(child.node, `${prefix}${child.name}.`, parameters)
}

type Tables = Readonly<Record<string, readonly Row[]>>
type Evaluated = { value: Record<string, Value>; row: Row }

function evaluate(node: Node, rows: readonly Row[], tables: Tables): { rows: Evaluated[]; total: number } {
  const joined = rows.map((row) => ({
    row,
    of: new Map(
      node.children.map((child) => [child.name, evaluate(child.node, follow(child.way, row, tables), tables).rows]),
    ),
  }))
  const found = joined.filter(
    ({ row, of }) =>
      node.children.every((child) => !child.isInner || of.get(child.name)!.length > 0) &&
      node.tests.every((test) => test.holds(row, (child) => of.get(child)!.length > 0) === true),
  )
  if (node.aggregates.length > 0)
    return {
      rows: grouped(
        node,
        found.map(({ row }) => row),
      ),
      total: found.length,
    }
  const sorted = found.toSorted((a, b) => {
    for (const { by, from, isDescending } of node.orders) {
      const value = ({ row, of }: typeof a) => (from === null ? row[by] : of.get(from)![0]?.row[by]) ?? null
      const difference = compare(value(a), value(b)) * (isDescending ? -1 : 1)
      if (difference !== 0) return difference
    }
    return 0
  })
  const page = sorted.slice(node.offset, node.limit === null ? undefined : node.offset + node.limit)
  return { rows: page.map(({ row, of }) => ({ row, value: shown(node, row, of) })), total: found.length }
}

function follow({ to, one, many, visits }: Way, row: Row, tables: Tables): readonly Row[] {
  const all = tables[to]!
  if (one !== undefined) return all.filter(({ id }) => id === row[one])
  if (many !== undefined) return all.filter((other) => other[many] === row['id'])
  const other = visits === 'place' ? 'person' : 'place'
  const met = tables['visits']!.filter((visit) => visit[visits!] === row['id'])
  const others = new Set(met.map((visit) => visit[other]))
  return all.filter(({ id }) => others.has(id))
}

function shown(node: Node, row: Row, of: ReadonlyMap<string, Evaluated[]>): Record<string, Value> {
  const value: Record<string, Value> = Object.fromEntries(node.columns.map(({ name, alias }) => [alias, row[name]]))
  for (const { way, node: child, name, alias, isSpread } of node.children) {
    const values = of.get(name)!.map((evaluated) => evaluated.value)
    const isOne = way.one !== undefined
    if (!isSpread) value[alias!] = isOne ? (values[0] ?? null) : values
    else
      for (const { alias: key } of child.columns)
        value[key] = isOne ? (values[0]?.[key] ?? null) : values.map((v) => v[key])
  }
  return value
}

function grouped(node: Node, rows: readonly Row[]): Evaluated[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(node.columns.map(({ name }) => row[name])))
  if (groups.size === 0 && node.columns.length === 0) groups.set('', [])
  return [...groups.values()].map((group) => {
    const value: Record<string, Value> = Object.fromEntries(
      node.columns.map(({ name, alias }) => [alias, group[0]![name]]),
    )
    for (const { name, of, alias } of node.aggregates) value[alias] = aggregate(name, of, group)
    return { row: {}, value }
  })
}

function aggregate(name: string, of: string | null, rows: readonly Row[]): number | null {
  if (of === null) return rows.length
  const values = rows.map((row) => row[of]).filter((value) => value !== null) as number[]
  if (name === 'count') return values.length
  if (values.length === 0) return null
  return name === 'sum' ? values.reduce((a, b) => a + b) : name === 'min' ? Math.min(...values) : Math.max(...values)
}

/** Ascending, nulls last, as the server orders. */
function compare(a: number | string | null, b: number | string | null): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}
