import { AREA } from '../features/feature.ts'
import type { OsmFeature } from '../features/feature.ts'
import type { TagView } from '../features/tag-view.ts'
import { areaOf, lengthOf } from './measure.ts'
import { readText } from './read-text.ts'
import type { ColumnValue, TextType } from './read-text.ts'
import type { Matched } from './filters.ts'
import type { ColumnDefinition, ColumnType, ColumnValueName, StyleColumn } from './style.ts'

/** Types of the columns of a table, as PostgreSQL calls them; `jsonb` values are JSON text, geometries EWKB. */
export type ImportColumnType = 'int8' | 'int4' | 'int2' | 'float8' | 'bool' | 'text' | 'jsonb' | 'geometry'

/** A feature, and the part of it that forms the row. */
export interface RowContext {
  readonly feature: OsmFeature
  readonly tags: TagView
  readonly matched: Matched
}

/** Returns the value of a column. */
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

/** Reads the text of the first existing key. */
function textReader(column: ColumnDefinition, tags: TagView): () => string | null {
  const [key, ...others] = columnKeys(column).map((name) => tags.numberOf(name))
  const first = (): string | null => {
    let text = tags.get(key!)
    for (let i = 0; text === null && i < others.length; i++) text = tags.get(others[i]!)
    return text
  }
  return others.length === 0 ? () => tags.get(key!) : first
}

/** Replaces a text, or each entry of a list; null removes it. */
function valueMap({ map: members }: ColumnDefinition): ((text: string) => string | null) | null {
  if (!members) return null
  const map = new Map(Object.entries(members))
  const other = map.get('*')
  return (text) => {
    const mapped = map.get(text)
    return mapped !== undefined ? mapped : other !== undefined ? other : text
  }
}

function valueReader(column: ColumnDefinition, text: () => string | null): ColumnReader {
  const { type = 'text', split } = column
  const map = valueMap(column)
  const entries = (): string[] => listOf(text(), split!).flatMap((entry) => (map ? (map(entry) ?? []) : entry))
  if (type === 'json') {
    return () => {
      const list = entries()
      return list.length > 0 ? JSON.stringify(list) : null
    }
  }
  const read: TextType = type
  if (split !== undefined) return () => readText(read, entries()[0] ?? null)
  if (!map) return () => readText(read, text())
  return () => {
    const value = text()
    return readText(read, value === null ? null : map(value))
  }
}

/** The entries of a list without blank ones. */
function listOf(text: string | null, separator: string): string[] {
  if (text === null) return []
  const entries = text.replaceAll('\0', '').split(separator)
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
}

function defaultOf({ type }: ColumnDefinition, value: string | number | boolean): ColumnValue {
  return type === 'json' ? JSON.stringify([value]) : value
}

const FORWARD = /^forward|:forward$/
const BACKWARD = /^backward|:backward$/

/** Members of relations as JSON: a relation may have rows in many tables. */
const MEMBERS_JSON = new WeakMap<Float64Array, string>()

function membersJson({ memberWays, memberRoles }: OsmFeature): string {
  let text = MEMBERS_JSON.get(memberWays)
  if (text === undefined) {
    text = JSON.stringify(Array.from(memberWays, (way, i) => ({ way, role: memberRoles[i] })))
    MEMBERS_JSON.set(memberWays, text)
  }
  return text
}

/** Values other than a tag's. */
const VALUES: Readonly<Record<ColumnValueName, ColumnReader>> = {
  tags: ({ tags }) => tags.toJson(),
  matchedKey: ({ matched }) => matched.name,
  matchedValue: ({ tags, matched }) => (matched.key < 0 ? null : tags.get(matched.key)),
  fromArea: ({ feature }) => feature.geometry === AREA,
  length: ({ feature }) => (feature.geometry === AREA ? null : lengthOf(feature)),
  area: ({ feature }) => (feature.geometry === AREA ? areaOf(feature.area) : null),
  members: ({ feature }) => (feature.element === 'relation' ? membersJson(feature) : null),
  way: ({ feature }) => feature.memberWays[feature.member]!,
  role: ({ feature }) => feature.memberRoles[feature.member]!,
  direction: ({ feature }) => {
    const role = feature.memberRoles[feature.member]!
    return FORWARD.test(role) ? 1 : BACKWARD.test(role) ? -1 : 0
  },
}
