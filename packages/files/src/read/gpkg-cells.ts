import type { SQLOutputValue } from 'node:sqlite'
import type { FieldType } from '../feature-stream.ts'
import { kindOfCell, timeText, valueOfCell } from './value-types.ts'

/** Types of numbers, in the order of their range. */
export const NUMBERS: readonly FieldType[] = ['int4', 'int8', 'numeric', 'float8']

/**
 * Converts a value to its field's type, because SQLite stores any type in any column; undefined when it does not fit.
 */
export function cellOf(value: SQLOutputValue, type: FieldType): unknown {
  if (value === null) return null
  if (typeof value === 'string' && NUMBERS.includes(type)) return numberOf(value, type)
  switch (type) {
    case 'bool':
      return typeof value === 'bigint' ? value !== 0n : truthOf(value)
    case 'int2':
    case 'int4':
      return typeof value === 'bigint' ? Number(value) : undefined
    case 'int8':
      return typeof value === 'bigint' ? narrowed(value) : undefined
    case 'float4':
    case 'float8':
      return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined
    case 'bytea':
      return value instanceof Uint8Array ? value : undefined
    case 'jsonb':
      return typeof value === 'string' ? parsed(value) : undefined
    case 'text':
      return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value)
    default:
      return typeof value === 'string' ? timeText(value) : undefined
  }
}

/** Parses a number; null for an empty text, undefined for a text that the type cannot hold. */
function numberOf(text: string, type: FieldType): unknown {
  const kind = kindOfCell(text)
  if (kind === null) return null
  const isHeld = /^(float8|numeric)$/.test(type) || NUMBERS.indexOf(kind) <= NUMBERS.indexOf(type)
  return NUMBERS.includes(kind) && isHeld ? valueOfCell(text, type) : undefined
}

/** Booleans as T/F/Y/N of dBASE and MapInfo; `?` and a blank are null. */
function truthOf(value: SQLOutputValue): boolean | null | undefined {
  const letter = typeof value === 'string' ? value.trim().toUpperCase() : 'X'
  if (letter === '' || letter === '?') return null
  return /^([TY1]|TRUE)$/.test(letter) ? true : /^([FN0]|FALSE)$/.test(letter) ? false : undefined
}

/** Parses a cell of a JSON column; invalid JSON is a text, because GDAL writes texts there without quotes. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function narrowed(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

/** A name in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
