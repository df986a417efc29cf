import { columnKeys } from './columns.ts'
import { STYLE_LIMITS } from './style-limits.ts'
import { below, choiceAt, listAt, nameAt, objectAt, refuse, textAt } from './style-check.ts'
import { COLUMN_TYPES, COLUMN_VALUES } from './style.ts'
import type { ColumnDefinition, ColumnType, ColumnValueName, StyleTable } from './style.ts'

const MEMBERS = ['name', 'key', 'keys', 'prefix', 'value', 'type', 'map', 'split', 'default'] as const
const ORIGINS = ['key', 'keys', 'prefix', 'value'] as const
const TRANSFORMS = ['type', 'map', 'split', 'default'] as const
/** Columns that every table has, the database's own among them. */
const TAKEN: ReadonlySet<string> = new Set(
  'id osm_type osm_id member part geom ctid xmin xmax cmin cmax tableoid'.split(' '),
)

type Geometry = Pick<StyleTable, 'geometry' | 'from'>

/** Checks a column. @throws OSM_STYLE_INVALID */
export function readColumn(value: unknown, path: string, table: Geometry): ColumnDefinition {
  if (typeof value === 'string') return { name: columnName(value, path) }
  const column = objectAt(value, path, MEMBERS)
  columnName(column['name'], below(path, 'name'))
  const origins = ORIGINS.filter((name) => name in column)
  if (origins.length > 1) {
    refuse(below(path, origins[1]!), `does not go with ${origins[0]!}`, `Use one of ${ORIGINS.join(', ')}.`)
  }
  readOrigin(column, path, table)
  const [origin] = origins
  const transform = TRANSFORMS.find((name) => name in column)
  if (transform && (origin === 'prefix' || origin === 'value')) {
    refuse(below(path, transform), `does not go with ${origin}`, `Leave it out: ${origin} has a type of its own.`)
  }
  readTransforms(column, path)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
  const definition = column as unknown as ColumnDefinition
  for (const key of columnKeys(definition)) textAt(key, path)
  return definition
}

function columnName(value: unknown, path: string): string {
  const name = nameAt(value, path)
  if (TAKEN.has(name))
    refuse(path, `"${name}" is the name of a column that every table has`, 'Give the column another name and a key.')
  return name
}

function readOrigin(column: Readonly<Record<string, unknown>>, path: string, table: Geometry): void {
  const { key, keys, prefix, value } = column
  if ('key' in column) textAt(key, below(path, 'key'))
  if ('prefix' in column) textAt(prefix, below(path, 'prefix'))
  if ('keys' in column) {
    const list = listAt(keys, below(path, 'keys'), STYLE_LIMITS.list)
    for (const [i, each] of list.entries()) textAt(each, below(below(path, 'keys'), i))
  }
  if ('value' in column) checkValue(choiceAt(value, below(path, 'value'), COLUMN_VALUES), below(path, 'value'), table)
}

/** Refuses a value that the sources or the geometry of the table lack. */
function checkValue(value: ColumnValueName, path: string, { geometry, from }: Geometry): void {
  const isOfMembers = from.includes('member')
  const isOfRelations = from.some((source) => source !== 'node' && source !== 'line' && source !== 'member')
  const needs: Partial<Record<ColumnValueName, readonly [boolean, string]>> = {
    way: [isOfMembers, 'from ["member"]'],
    role: [isOfMembers, 'from ["member"]'],
    direction: [isOfMembers, 'from ["member"]'],
    members: [isOfRelations, 'relations'],
    length: [geometry.endsWith('linestring'), 'lines'],
    area: [from.includes('area'), 'areas'],
    fromArea: [from.includes('area'), 'areas'],
  }
  const [isThere, wanted] = needs[value] ?? [true, '']
  if (!isThere) refuse(path, `"${value}" has no value here`, `Use it in a table of ${wanted}.`)
}

function readTransforms(column: Readonly<Record<string, unknown>>, path: string): void {
  const type = column['type'] === undefined ? 'text' : choiceAt(column['type'], below(path, 'type'), COLUMN_TYPES)
  if ('split' in column) textAt(column['split'], below(path, 'split'))
  else if (type === 'json') {
    refuse(
      below(path, 'type'),
      'json holds a list or several tags',
      'Add split, or use prefix or value instead of type.',
    )
  }
  if ('map' in column) readMap(column['map'], below(path, 'map'))
  if ('default' in column && type === 'oneway') {
    refuse(below(path, 'default'), 'has no effect: oneway is 0 without the tag', 'Leave it out.')
  }
  if ('default' in column && !isOfType(column['default'], type)) {
    refuse(below(path, 'default'), `must be a value of type ${type}`, `Give a ${DEFAULTS[type]}.`)
  }
}

function readMap(value: unknown, path: string): void {
  const map = objectAt(value, path, null)
  const names = Object.keys(map)
  listAt(names, path, STYLE_LIMITS.list)
  for (const [from, to] of Object.entries(map)) {
    textAt(from, below(path, from))
    if (to !== null) textAt(to, below(path, from))
  }
}

const DEFAULTS: Readonly<
  Record<ColumnType, 'text' | 'whole number of 32 bits' | 'number' | 'boolean' | 'whole number of 16 bits'>
> = {
  text: 'text',
  json: 'text',
  integer: 'whole number of 32 bits',
  number: 'number',
  metres: 'number',
  kmh: 'whole number of 16 bits',
  oneway: 'whole number of 16 bits',
  flag: 'boolean',
  bool: 'boolean',
}

function isOfType(value: unknown, type: ColumnType): boolean {
  switch (DEFAULTS[type]) {
    case 'text':
      return typeof value === 'string' && value.length <= STYLE_LIMITS.text && !value.includes('\0')
    case 'boolean':
      return typeof value === 'boolean'
    case 'number':
      return Number.isFinite(value)
    case 'whole number of 32 bits':
      return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31
    case 'whole number of 16 bits':
      return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 15
  }
}
