import type { SchemaElement } from 'hyparquet'
import type { Losses } from '../../losses.ts'
import type { ExportRow } from '../../rows.ts'
import type { ExportColumn, Kind } from '../../source.ts'
import { daysOf, leftOut, microsOf } from '../../times.ts'

/** Digits that a 64-bit decimal has room for. */
const LONGEST_DECIMAL = 18

type Leaf = Omit<SchemaElement, 'name' | 'repetition_type'>

const LEAVES: Readonly<Record<Exclude<Kind, 'numeric'>, Leaf>> = {
  int2: { type: 'INT32', converted_type: 'INT_16' },
  int4: { type: 'INT32' },
  int8: { type: 'INT64' },
  float4: { type: 'FLOAT' },
  float8: { type: 'DOUBLE' },
  bool: { type: 'BOOLEAN' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  date: { type: 'INT32', converted_type: 'DATE' },
  // Converted types of times are instants, so local ones have only the logical type.
  time: { type: 'INT64', logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' } },
  timestamp: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' } },
  timestamptz: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  bytea: { type: 'BYTE_ARRAY' },
}

/** Schema element of a column. Converted types are counted. */
export function columnElement(column: ExportColumn, losses: Losses): SchemaElement {
  const about = { name: column.name, repetition_type: 'OPTIONAL' } as const
  if (column.kind !== 'numeric') return { ...about, ...LEAVES[column.kind] }
  const { precision, scale } = column
  if (isDecimal(column)) {
    return { ...about, type: 'INT64', converted_type: 'DECIMAL', precision: precision!, scale: scale! }
  }
  const message = 'Decimals of more digits than a number of the format holds became texts.'
  losses.count('DECIMALS_AS_TEXT', message, column.name)
  return { ...about, ...LEAVES.text }
}

/** How a column is declared. JSON is written as text and declared last, because the library would round numbers. */
export function declaredElement(element: SchemaElement, column: ExportColumn | undefined): SchemaElement {
  return column?.kind === 'json' ? { ...element, converted_type: 'JSON' } : element
}

/** A value in the library's form; a value without an equivalent becomes null and is counted. */
export function valueOf(column: ExportColumn, value: ExportRow['values'][number], losses: Losses): unknown {
  if (value === null) return null
  switch (column.kind) {
    case 'int8':
      return BigInt(value)
    case 'numeric':
      return isDecimal(column) ? digitsOf(String(value), column, losses) : value
    case 'bytea':
      return new Uint8Array(Buffer.from(value as string, 'hex'))
    case 'date':
      return found(daysOf(value as string), column, losses)
    case 'timestamp':
    case 'timestamptz':
      return found(microsOf(value as string), column, losses)
    case 'time': {
      const [hours = '0', minutes = '0', seconds = '0', fraction = ''] = (value as string).split(/[:.]/)
      const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
      return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
    }
    default:
      return value
  }
}

function isDecimal({ precision, scale }: ExportColumn): boolean {
  return precision !== null && scale !== null && precision <= LONGEST_DECIMAL && scale <= precision
}

function found<T>(time: T | null, { name }: ExportColumn, losses: Losses): T | null {
  if (time === null) leftOut(name, losses)
  return time
}

function digitsOf(text: string, { name, scale }: ExportColumn, losses: Losses): bigint | null {
  if (text === 'NaN') {
    losses.count('NUMBERS_NOT_FINITE', 'Decimals of the format have no word for NaN: it became null.', name)
    return null
  }
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale ?? 0, '0'))
}
