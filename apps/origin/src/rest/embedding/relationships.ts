import { viewColumns } from './view-columns.ts'

/** A table or view as the catalog has it. */
export interface CatalogTable {
  /** Object id. */
  readonly id: string
  readonly schema: string
  readonly name: string
  readonly isView: boolean
  /** Whether its schema is exposed and the caller's role may use it. */
  readonly isOpen: boolean
  readonly columns: readonly CatalogColumn[]
  /** Numbers of the primary key's columns. */
  readonly key: readonly number[] | null
  readonly references: readonly CatalogReference[] | null
  /** The rewrite rule of a view. */
  readonly rule: string | null
}

export interface CatalogColumn {
  readonly number: number
  readonly name: string
  /** Whether the caller's role may read it. */
  readonly isReadable: boolean
}

/** A foreign key. */
export interface CatalogReference {
  readonly name: string
  readonly columns: readonly number[]
  readonly target: string
  readonly targetColumns: readonly number[]
  /** Whether its columns are those of a unique or primary key. */
  readonly isUnique: boolean
}

/** A function of one row of a table that gives rows of a table. */
export interface CatalogFunction {
  readonly schema: string
  readonly name: string
  readonly table: string
  readonly target: string
  readonly isSingle: boolean
}

/** Pairs of a column of the table and one of the other table. */
type Pairs = readonly (readonly [own: string, other: string])[]

/** A relationship from the rows of a table to rows of another one. */
export interface Relationship {
  readonly table: CatalogTable
  readonly target: CatalogTable
  readonly cardinality: 'one-to-many' | 'many-to-one' | 'one-to-one' | 'many-to-many' | 'computed'
  readonly isToOne: boolean
  /** Name of the foreign key, or of the function. */
  readonly name: string
  /** Columns of the table with those of the target; none through a junction or a function. */
  readonly pairs: Pairs
  readonly junction: {
    readonly table: CatalogTable
    readonly names: readonly [string, string]
    /** Columns of the table, and of the target, with those of the junction. */
    readonly own: Pairs
    readonly other: Pairs
  } | null
  readonly functionSchema: string | null
}

/** Maximum combinations of a view's columns for the columns of a key. */
const MAX_COMBINATIONS = 16

/**
 * The relationships that a role may follow: foreign keys in both directions, those of views whose columns are columns of
 * keys, junction tables whose primary key holds two foreign keys, and functions. A relationship with a table or a column
 * that the role may not read is not among them.
 */
export function relationshipsOf(
  tables: readonly CatalogTable[],
  functions: readonly CatalogFunction[],
): Relationship[] {
  const byId = new Map(tables.map((table) => [table.id, table]))
  const images = imagesOf(tables, byId)
  const references = tables.flatMap((table) => (table.references ?? []).flatMap((key) => toOne(table, key, images)))
  const all = [
    ...references,
    ...references.map(inverse),
    ...throughJunctions(references, images),
    ...computed(functions, byId),
  ]
  const rank = ({ cardinality }: Relationship) => ORDER.indexOf(cardinality)
  return all.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

const ORDER = ['one-to-many', 'many-to-one', 'one-to-one', 'many-to-many', 'computed']

/** A table or a view of it, with the names of its columns there; a column has several when the view repeats it. */
interface Image {
  readonly table: CatalogTable
  readonly names: ReadonlyMap<number, readonly string[]>
}

/** Each table with itself and the views that show its columns. */
function imagesOf(tables: readonly CatalogTable[], byId: ReadonlyMap<string, CatalogTable>): Map<string, Image[]> {
  const images = new Map<string, Image[]>()
  for (const table of tables.filter((t) => !t.isView))
    images.set(table.id, [{ table, names: new Map(table.columns.map((c) => [c.number, [c.name]])) }])
  const parsed = new Map<string, Map<number, [string, number][]>>()
  for (const view of tables.filter((t) => t.isView)) {
    const names = new Map<string, Map<number, string[]>>()
    for (const column of view.columns) {
      for (const [source, number] of originsOf(view, column.number, byId, parsed)) {
        const ofSource = names.get(source) ?? new Map<number, string[]>()
        ofSource.set(number, [...(ofSource.get(number) ?? []), column.name])
        names.set(source, ofSource)
      }
    }
    for (const [source, ofSource] of names) images.get(source)?.push({ table: view, names: ofSource })
  }
  return images
}

/** The table columns from which a column of a view comes, also through other views. */
function originsOf(
  view: CatalogTable,
  column: number,
  byId: ReadonlyMap<string, CatalogTable>,
  parsed: Map<string, Map<number, [string, number][]>>,
): [table: string, column: number][] {
  let columns = parsed.get(view.id)
  if (!columns) {
    // Stored before it is filled, so that a view that refers to itself ends here.
    parsed.set(view.id, (columns = new Map()))
    for (const { column: own, source, sourceColumn } of viewColumns(view.rule ?? '')) {
      const from = byId.get(source)
      columns.set(own, from?.isView ? originsOf(from, sourceColumn, byId, parsed) : [[source, sourceColumn]])
    }
  }
  return columns.get(column) ?? []
}

/** The foreign key between each image of its table and each image of its target. */
function toOne(table: CatalogTable, key: CatalogReference, images: ReadonlyMap<string, Image[]>): Relationship[] {
  const sources = namings(images.get(table.id) ?? [], key.columns)
  const targets = namings(images.get(key.target) ?? [], key.targetColumns)
  return sources.flatMap((source) =>
    targets.map((target) => ({
      table: source.table,
      target: target.table,
      cardinality: key.isUnique ? ('one-to-one' as const) : ('many-to-one' as const),
      isToOne: true,
      name: key.name,
      pairs: source.names.map((name, i) => [name, target.names[i] as string] as const),
      junction: null,
      functionSchema: null,
    })),
  )
}

/** The images that the role may read and that have all columns of a key, with the names of these. */
function namings(images: readonly Image[], columns: readonly number[]): { table: CatalogTable; names: string[] }[] {
  return images.flatMap(({ table, names }) => {
    if (!table.isOpen) return []
    const readable = new Set(table.columns.filter((c) => c.isReadable).map((c) => c.name))
    let combinations: string[][] = [[]]
    for (const column of columns) {
      const ways = (names.get(column) ?? []).filter((name) => readable.has(name))
      combinations = combinations.flatMap((before) => ways.map((name) => [...before, name])).slice(0, MAX_COMBINATIONS)
    }
    return combinations.map((combination) => ({ table, names: combination }))
  })
}

function swapped(pairs: Pairs): Pairs {
  return pairs.map(([own, other]) => [other, own])
}

function inverse(relationship: Relationship): Relationship {
  const { table, target, cardinality, pairs } = relationship
  const isUnique = cardinality === 'one-to-one'
  return {
    ...relationship,
    table: target,
    target: table,
    cardinality: isUnique ? 'one-to-one' : 'one-to-many',
    isToOne: isUnique,
    pairs: swapped(pairs),
  }
}

/** Two foreign keys whose columns are a part of the primary key make their table a junction. */
function throughJunctions(references: readonly Relationship[], images: ReadonlyMap<string, Image[]>): Relationship[] {
  const keys = keysOf(images)
  const byTable = Map.groupBy(
    references.filter((r) => r.cardinality === 'many-to-one'),
    (r) => r.table,
  )
  return [...byTable].flatMap(([table, own]) => {
    const key = keys.get(table) ?? new Set()
    const inKey = own.filter((reference) => reference.pairs.every(([column]) => key.has(column)))
    return inKey.flatMap((a) =>
      inKey
        .filter((b) => b.name !== a.name)
        .map((b) => ({
          table: a.target,
          target: b.target,
          cardinality: 'many-to-many' as const,
          isToOne: false,
          name: table.name,
          pairs: [],
          junction: { table, names: [a.name, b.name] as const, own: swapped(a.pairs), other: swapped(b.pairs) },
          functionSchema: null,
        })),
    )
  })
}

/** Columns of primary keys by table; a view has those of each table whose key it shows whole. */
function keysOf(images: ReadonlyMap<string, Image[]>): Map<CatalogTable, Set<string>> {
  const keys = new Map<CatalogTable, Set<string>>()
  for (const [original, ...views] of images.values()) {
    for (const { table, names } of original ? [original, ...views] : []) {
      const columns = (original?.table.key ?? []).map((number) => names.get(number)?.[0])
      if (columns.every((name) => name !== undefined))
        keys.set(table, new Set([...(keys.get(table) ?? []), ...columns]))
    }
  }
  return keys
}

function computed(functions: readonly CatalogFunction[], byId: ReadonlyMap<string, CatalogTable>): Relationship[] {
  return functions.flatMap(({ schema, name, table: from, target: to, isSingle }) => {
    const [table, target] = [byId.get(from), byId.get(to)]
    if (!table?.isOpen || !target?.isOpen) return []
    const cardinality = 'computed' as const
    return [{ table, target, cardinality, isToOne: isSingle, name, pairs: [], junction: null, functionSchema: schema }]
  })
}
