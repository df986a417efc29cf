import { AREA } from '../features/feature.ts'
import type { OsmFeature } from '../features/feature.ts'
import type { TagView } from '../features/tag-view.ts'
import { areaOf, lengthOf } from './measure.ts'
import { readText } from './read-text.ts'
import type { ColumnValue, TextType } from './read-text.ts'
import type { ColumnDefinition, ColumnType, ColumnValueName, StyleColumn } from './style.ts'

/** Types of the columns of a table, as PostgreSQL calls them; `jsonb` values are JSON text, geometries EWKB. */
export type ImportColumnType = 'int8' | 'int4' | 'int2' | 'float8' | 'bool' | 'text' | 'jsonb' | 'geometry'

/** A feature, and what in it made the row. */
export interface RowContext {
  readonly feature: OsmFeature
  readonly tags: TagView
  /** Number of the first key of the filter that fits, and its name; -1 and the empty string where there is none. */
  readonly matched: { readonly key: number; readonly name: string }
}

/** Gives the value of a column. */
export type ColumnReader = (row: RowContext) => ColumnValue

const SQL_TYPES: Readonly<Record<ColumnType, ImportColumnType>> = {
  text: 'text',
  integer: 'int4',
  number: 'float8',
  metres: 'float8',
  kmh: 'int2',
  flag: 'bool',
  bool: 'bool',
  oneway: 'int2',
  json: 'jsonb',
}

const VALUE_TYPES: Readonly<Record<ColumnValueName, ImportColumnType>> = {
  tags: 'jsonb',
  matchedKey: 'text',
  matchedValue: 'text',
  fromArea: 'bool',
  length: 'float8',
  area: 'float8',
  members: 'jsonb',
  way: 'int8',
  role: 'text',
  direction: 'int2',
}

export function definitionOf(column: StyleColumn): ColumnDefinition {
  return typeof column === 'string' ? { name: column } : column
}

/** The type of a column in the database. */
export function sqlTypeOf({ value, prefix, type = 'text' }: ColumnDefinition): ImportColumnType {
  return value ? VALUE_TYPES[value] : prefix === undefined ? SQL_TYPES[type] : 'jsonb'
}

/** The keys that a column is read from. */
export function columnKeys({ name, key, keys, prefix, value }: ColumnDefinition): readonly string[] {
  return value || prefix !== undefined ? [] : (keys ?? [key ?? name])
}

export function compileColumn(column: ColumnDefinition, tags: TagView): ColumnReader {
  if (column.value) return VALUES[column.value]
  if (column.prefix !== undefined) {
    const { prefix } = column
    return () => tags.prefixJson(prefix)
  }
  const text = textReader(column, tags)
  const read = valueReader(column, text)
  const { default: fallback } = column
  return fallback === undefined ? read : (row) => read(row) ?? defaultOf(column, fallback)
}

/** The text of the first key that is there, with the map in effect. */
function textReader(column: ColumnDefinition, tags: TagView): () => string | null {
  const [key, ...others] = columnKeys(column).map((name) => tags.numberOf(name))
  const first = (): string | null => {
    let text = tags.get(key!)
    for (let i = 0; text === null && i < others.length; i++) text = tags.get(others[i]!)
    return text
  }
  if (!column.map) return others.length === 0 ? () => tags.get(key!) : first
  const map = new Map(Object.entries(column.map))
  const isTotal = map.has('*')
  const other = map.get('*') ?? null
  return () => {
    const text = first()
    if (text === null) return null
    const mapped = map.get(text)
    return mapped !== undefined ? mapped : isTotal ? other : text
  }
}

function valueReader({ type = 'text', split }: ColumnDefinition, text: () => string | null): ColumnReader {
  const entries = (): string[] | null => listOf(text(), split!)
  if (type === 'json') {
    return () => {
      const list = entries()
      return list && JSON.stringify(list)
    }
  }
  const read: TextType = type
  return split === undefined ? () => readText(read, text()) : () => readText(read, entries()?.[0] ?? null)
}

/** The entries of a list without blank ones; null when there is none. */
function listOf(text: string | null, separator: string): string[] | null {
  if (text === null) return null
  const entries = text.replaceAll('\0', '').split(separator)
  const list = entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
  return list.length > 0 ? list : null
}

function defaultOf({ type }: ColumnDefinition, value: string | number | boolean): ColumnValue {
  return type === 'json' ? JSON.stringify(value) : value
}

const FORWARD = /^forward|:forward$/
const BACKWARD = /^backward|:backward$/

/** Values other than a tag's. */
const VALUES: Readonly<Record<ColumnValueName, ColumnReader>> = {
  tags: ({ tags }) => tags.toJson(),
  matchedKey: ({ matched }) => matched.name,
  matchedValue: ({ tags, matched }) => (matched.key < 0 ? null : tags.get(matched.key)),
  fromArea: ({ feature }) => feature.geometry === AREA,
  length: ({ feature }) => (feature.geometry === AREA ? null : lengthOf(feature)),
  area: ({ feature }) => (feature.geometry === AREA ? areaOf(feature.area) : null),
  members: ({ feature: { element, memberWays, memberRoles } }) =>
    element === 'relation' ? JSON.stringify(memberWays.map((way, i) => ({ way, role: memberRoles[i] }))) : null,
  way: ({ feature }) => feature.memberWays[feature.member]!,
  role: ({ feature }) => feature.memberRoles[feature.member]!,
  direction: ({ feature }) => {
    const role = feature.memberRoles[feature.member]!
    return FORWARD.test(role) ? 1 : BACKWARD.test(role) ? -1 : 0
  },
}
