import type { SchemaTree } from 'hyparquet'

/** Type of a column, by its name in PostgreSQL. */
type ColumnType = 'bool' | 'int4' | 'int8' | 'float4' | 'float8' | 'text' | 'jsonb' | 'timestamptz'

/** A column of an imported table and where it comes from: a field of the file, or a member of one. */
export interface OvertureColumn {
  readonly name: string
  readonly type: ColumnType
  readonly field: string
  readonly member: string | null
}

/** Fields whose columns are made separately. */
const APART: ReadonlySet<string> = new Set(['id', 'geometry', 'bbox'])

/** Members that are columns of their own, beside the column of the whole field. */
const FLATTENED = [
  { field: 'names', member: 'primary', name: 'name' },
  { field: 'categories', member: 'primary', name: 'category' },
] as const

/**
 * The columns of a table for the fields of a type's files: scalars as they are, everything nested as jsonb, the
 * primary name and category also as text. Files of one type may differ: the result has the fields of all of them.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { columnsOf } from '@terrane/overture'
 *
 * const names = { children: [], count: 1, path: ['version'], element: { name: 'version', type: 'INT32' } } as const
 * const root = { ...names, path: [], children: [names], element: { name: 'schema' } }
 * assert.deepEqual(
 *   columnsOf([root as never]).map(({ name, type }) => `${name} ${type}`),
 *   ['id text', 'version int4'],
 * )
 * ```
 */
export function columnsOf(schemas: readonly SchemaTree[]): OvertureColumn[] {
  const columns = new Map<string, OvertureColumn>()
  const add = (column: OvertureColumn) => {
    if (!columns.has(column.name)) columns.set(column.name, column)
  }
  add({ name: 'id', type: 'text', field: 'id', member: null })
  const fields = schemas.flatMap(({ children }) => children)
  const names = new Set(fields.map(({ element }) => element.name))
  for (const { element, children } of fields) {
    const { name } = element
    if (APART.has(name)) continue
    for (const flat of FLATTENED) {
      const hasMember = children.some((child) => child.element.name === flat.member)
      if (flat.field === name && hasMember && !names.has(flat.name)) add({ type: 'text', ...flat })
    }
    add({ name, type: children.length > 0 ? 'jsonb' : scalarType(element), field: name, member: null })
  }
  return [...columns.values()]
}

function scalarType(element: SchemaTree['element']): ColumnType {
  if (element.repetition_type === 'REPEATED') return 'jsonb'
  const logical = element.logical_type?.type
  if (logical === 'TIMESTAMP' || element.converted_type?.startsWith('TIMESTAMP')) return 'timestamptz'
  if (logical === 'JSON' || element.converted_type === 'JSON') return 'text'
  switch (element.type) {
    case 'BOOLEAN':
      return 'bool'
    case 'INT32':
      return logical === 'DATE' || element.converted_type === 'DATE' ? 'timestamptz' : 'int4'
    case 'INT64':
      return 'int8'
    case 'FLOAT':
      return 'float4'
    case 'DOUBLE':
      return 'float8'
    default:
      return 'text'
  }
}
