import { parquetSchema, type FileMetaData, type SchemaTree } from 'hyparquet'
import type { FieldType } from '../feature-stream.ts'

// Columns in the schema of a Parquet file.

/** Names of the values that a column consists of. */
export function leafNames({ element, children }: SchemaTree): string[] {
  return children.length === 0 ? [element.name] : children.flatMap(leafNames)
}

/**
 * Makes the library return decimals as the stored whole numbers instead of doubles. Returns their numbers of decimal
 * places, by column name.
 */
export function takeDecimals(metadata: FileMetaData): Map<string, number> {
  const scales = new Map<string, number>()
  const top = new Set(parquetSchema(metadata).children.map(({ element }) => element))
  for (const element of metadata.schema) {
    const isDecimal = element.converted_type === 'DECIMAL' || element.logical_type?.type === 'DECIMAL'
    if (!isDecimal || !top.has(element) || element.repetition_type === 'REPEATED') continue
    scales.set(element.name, element.scale ?? (element.logical_type as { scale?: number }).scale ?? 0)
    delete element.converted_type
    delete element.logical_type
  }
  return scales
}

/**
 * Makes the library return intervals as the stored bytes instead of refusing them. Returns the names of their columns.
 */
export function takeIntervals(metadata: FileMetaData): Set<string> {
  const found = metadata.schema.filter(({ converted_type: type }) => type === 'INTERVAL')
  for (const element of found) delete element.converted_type
  return new Set(found.map(({ name }) => name))
}

/** A whole number, or the bytes of one, the most significant first. */
export function digitsOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number)
  let digits = 0n
  for (const byte of value) digits = (digits << 8n) | BigInt(byte)
  return BigInt.asIntN(value.length * 8, digits)
}

/** Number of parts of a second in columns of times of day. */
export function times(children: readonly SchemaTree[]): Map<string, bigint> {
  return new Map(
    children.map(({ element: { name, converted_type, logical_type } }) => {
      const unit = String((logical_type as { unit?: string } | undefined)?.unit ?? converted_type)
      return [name, /NANO/.test(unit) ? 1_000_000_000n : /MICRO/.test(unit) ? 1_000_000n : 1000n]
    }),
  )
}

/** The type of a column other than a list or an object. */
export function scalarType(element: SchemaTree['element']): FieldType {
  const logical = element.logical_type?.type ?? ''
  const converted = element.converted_type ?? ''
  const { isAdjustedToUTC = true } = (element.logical_type ?? {}) as { isAdjustedToUTC?: boolean }
  if (logical === 'TIMESTAMP' && !isAdjustedToUTC) return 'timestamp'
  if (logical === 'TIMESTAMP' || converted.startsWith('TIMESTAMP') || element.type === 'INT96') return 'timestamptz'
  if (logical === 'TIME' || converted.startsWith('TIME_')) return 'time'
  if (logical === 'DATE' || converted === 'DATE') return 'date'
  if (logical === 'JSON' || converted === 'JSON') return 'jsonb'
  switch (element.type) {
    case 'BOOLEAN':
      return 'bool'
    case 'INT32':
      return converted === 'UINT_32' || isUnsigned(element, 32) ? 'int8' : 'int4'
    case 'INT64':
      return converted === 'UINT_64' || isUnsigned(element, 64) ? 'numeric' : 'int8'
    case 'FLOAT':
      return 'float4'
    case 'DOUBLE':
      return 'float8'
    default:
      return logical === 'STRING' || logical === 'UUID' || logical === 'ENUM' || ['UTF8', 'ENUM'].includes(converted)
        ? 'text'
        : 'bytea'
  }
}

function isUnsigned({ logical_type }: SchemaTree['element'], width: number): boolean {
  const { isSigned, bitWidth } = (logical_type ?? {}) as { isSigned?: boolean; bitWidth?: number }
  return isSigned === false && bitWidth === width
}
