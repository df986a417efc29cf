import { columnKeys, definitionOf } from './columns.ts'
import { keysOf, union } from './filters.ts'
import { readColumn } from './read-column.ts'
import { FilterReader } from './read-filter.ts'
import { STYLE_LIMITS } from './style-limits.ts'
import { below, choiceAt, listAt, nameAt, objectAt, refuse, sizeAt } from './style-check.ts'
import { GEOMETRY_SOURCES, ROW_SOURCES } from './style.ts'
import type { GeneralizedTable, OsmStyle, RowSource, StyleGeometry, StyleTable } from './style.ts'

const TABLE_MEMBERS = ['name', 'geometry', 'from', 'where', 'areas', 'lines', 'columns', 'generalized'] as const
const SIMPLER_MEMBERS = ['name', 'toleranceMetres', 'minLengthMetres', 'minAreaMetres2', 'where'] as const
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
const GEOMETRIES = Object.keys(GEOMETRY_SOURCES) as StyleGeometry[]

/** Checks a style. @throws OSM_STYLE_INVALID with the place as a JSON pointer, and a remedy */
export function readStyle(value: unknown): OsmStyle {
  const { length, tables: mostTables, keys: mostKeys, allColumns } = STYLE_LIMITS
  const { tables, $schema: schema } = objectAt(value, '', ['tables', '$schema'])
  if (schema !== undefined && (typeof schema !== 'string' || schema.includes('\0'))) {
    refuse('/$schema', 'must be a text', 'Give the URL of the schema, or leave it out.')
  }
  const list = listAt(tables, '/tables', mostTables)
  const size = JSON.stringify(value).length
  if (size > length) refuse('', `is ${size} characters long`, `Write at most ${length} as JSON.`)
  const filters = new FilterReader()
  const names = new Set<string>()
  const read = list.map((table, i) => readTable(table, `/tables/${i}`, filters, names))
  if (names.size > mostTables) refuse('/tables', `has ${names.size} tables`, `Make at most ${mostTables}.`)
  const keys = new Set(read.flatMap(keysOfTable))
  if (keys.size > mostKeys) refuse('/tables', `reads ${keys.size} keys`, `Read at most ${mostKeys}.`)
  const columns = read.reduce((sum, table) => sum + table.columns.length * (1 + (table.generalized ?? []).length), 0)
  if (columns > allColumns) {
    refuse('/tables', `has ${columns} columns`, `Make at most ${allColumns}, those of generalized tables included.`)
  }
  return { tables: read }
}

function readTable(value: unknown, path: string, filters: FilterReader, names: Set<string>): StyleTable {
  const table = objectAt(value, path, TABLE_MEMBERS)
  takeName(table['name'], path, names)
  const geometry = choiceAt(table['geometry'], below(path, 'geometry'), GEOMETRIES)
  const from = readSources(table['from'], below(path, 'from'), geometry)
  if ('where' in table) filters.read(table['where'], below(path, 'where'))
  checkEffect(table, path, from)
  const { areas } = table
  if (typeof areas === 'object' && areas !== null) filters.read(areas, below(path, 'areas'))
  else if ('areas' in table) choiceAt(areas, below(path, 'areas'), ['byKey', 'byAnyKey', 'all'])
  if ('lines' in table) choiceAt(table['lines'], below(path, 'lines'), ['notAreaYes', 'notAreas', 'all'])
  const columns = below(path, 'columns')
  const taken = new Set<string>()
  for (const [i, each] of listAt(table['columns'], columns, STYLE_LIMITS.columns).entries()) {
    const at = below(columns, i)
    const { name } = readColumn(each, at, { geometry, from })
    if (taken.has(name)) refuse(at, `a second column "${name}"`, 'Give each column of a table a name of its own.')
    taken.add(name)
  }
  if ('generalized' in table) readGeneralized(table['generalized'], path, geometry, { filters, names })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
  return value as StyleTable
}

/** Refuses rules without an effect. */
function checkEffect(
  { areas, lines }: Readonly<Record<string, unknown>>,
  path: string,
  from: readonly RowSource[],
): void {
  if (lines !== undefined && !from.includes('line')) {
    refuse(below(path, 'lines'), 'has no effect without lines', 'Leave it out, or add "line" to from.')
  }
  if (areas !== undefined && !from.includes('area') && lines !== 'notAreas') {
    refuse(
      below(path, 'areas'),
      'has no effect without areas',
      'Leave it out, add "area" to from, or let lines be "notAreas".',
    )
  }
}

function takeName(value: unknown, path: string, names: Set<string>): void {
  const name = nameAt(value, below(path, 'name'))
  if (names.has(name)) refuse(below(path, 'name'), `a second table "${name}"`, 'Give each table a name of its own.')
  names.add(name)
}

function readSources(value: unknown, path: string, geometry: StyleGeometry): readonly RowSource[] {
  const possible: readonly RowSource[] = GEOMETRY_SOURCES[geometry]
  const sources = listAt(value, path, ROW_SOURCES.length).map((source, i) => {
    const known = choiceAt(source, below(path, i), ROW_SOURCES)
    if (possible.includes(known)) return known
    return refuse(below(path, i), `"${known}" gives no ${geometry}`, `Use ${possible.join(', ')}, or another geometry.`)
  })
  const again = sources.findIndex((source, i) => sources.indexOf(source) < i)
  if (again >= 0) refuse(below(path, again), `"${sources[again]!}" is there already`, 'Leave it out.')
  if (sources.length > 1 && sources.includes('member')) {
    refuse(path, '"member" cannot be combined with others', 'Make a table only of members.')
  }
  return sources
}

function readGeneralized(
  value: unknown,
  path: string,
  geometry: StyleGeometry,
  { filters, names }: { readonly filters: FilterReader; readonly names: Set<string> },
): void {
  const list = below(path, 'generalized')
  if (geometry === 'point') refuse(list, 'points have nothing to simplify', 'Make another table with a filter.')
  const other = geometry === 'multipolygon' ? 'minLengthMetres' : 'minAreaMetres2'
  for (const [i, each] of listAt(value, list, STYLE_LIMITS.tables).entries()) {
    const at = below(list, i)
    const table = objectAt(each, at, SIMPLER_MEMBERS)
    takeName(table['name'], at, names)
    if (Object.keys(table).length < 2) {
      refuse(at, 'is the same table again', 'Give toleranceMetres, a least size or where.')
    }
    if (other in table) refuse(below(at, other), `a ${geometry} has none`, 'Leave it out.')
    const sizes: readonly (keyof GeneralizedTable)[] = ['toleranceMetres', 'minLengthMetres', 'minAreaMetres2']
    for (const size of sizes) sizeAt(table[size], below(at, size))
    if ('where' in table) filters.read(table['where'], below(at, 'where'))
  }
}

function keysOfTable({ where, areas, columns, generalized = [] }: StyleTable): string[] {
  const filters = [where, typeof areas === 'object' ? areas : undefined, ...generalized.map((each) => each.where)]
  const { keys, prefixes } = union(filters.flatMap((filter) => (filter ? [keysOf(filter)] : [])))
  return [...keys, ...prefixes, ...columns.flatMap((column) => columnKeys(definitionOf(column)))]
}
