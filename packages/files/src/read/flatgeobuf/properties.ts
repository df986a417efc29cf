import type { FieldType } from '../../feature-stream.ts'
import { timeText } from '../value-types.ts'
import { bytesAt } from './table.ts'

/** A column of FlatGeobuf by the number of its type. */
export interface FlatColumn {
  readonly name: string
  readonly type: number
}

/** Types of fields by the numbers of the format: Byte, UByte, Bool, Short, UShort, Int, UInt, Long, ULong, Float, Double, String, Json, DateTime, Binary. */
export const FIELD_TYPES: readonly FieldType[] = [
  'int4',
  'int4',
  'bool',
  'int2',
  'int4',
  'int4',
  'int8',
  'int8',
  'numeric',
  'float4',
  'float8',
  'text',
  'jsonb',
  'timestamptz',
  'bytea',
]
/** Bytes of the values of those types; 0 for values that begin with their length. */
const SIZES = [1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0, 0, 0, 0]
/** Bytes of the column number before each value. */
const NUMBER_BYTES = 2
const STRING = 11
const JSON_TEXT = 12
const DATE_TIME = 13
const utf8 = new TextDecoder()

/**
 * The values of a feature in the order of the columns, null where it has none. The first value of a column counts,
 * because some writers leave trailing zeros. Invalid JSON stays a text.
 *
 * @param at offset of its properties in `view`; they are column numbers, each before its value
 * @param length bytes of its properties
 * @throws RangeError
 */
export function cellsOf(view: DataView, at: number, length: number, columns: readonly FlatColumn[]): unknown[] {
  const cells: unknown[] = Array.from({ length: columns.length }, () => null)
  const end = at + length
  for (let i = at; i + NUMBER_BYTES < end;) {
    const number = view.getUint16(i, true)
    const column = columns[number]
    if (column === undefined) throw new RangeError(`a value is of column ${number}, which there is not`)
    i += NUMBER_BYTES
    const size = SIZES[column.type]!
    if (size > 0) {
      cells[number] ??= numberAt(view, i, column.type)
      i += size
      continue
    }
    const bytes = bytesAt(view, i + 4, view.getUint32(i, true))
    cells[number] ??= valueOf(bytes, column.type)
    i += 4 + bytes.length
  }
  return cells
}

function numberAt(view: DataView, at: number, type: number): number | bigint | boolean | string {
  switch (type) {
    case 0:
      return view.getInt8(at)
    case 1:
      return view.getUint8(at)
    case 2:
      return view.getUint8(at) !== 0
    case 3:
      return view.getInt16(at, true)
    case 4:
      return view.getUint16(at, true)
    case 5:
      return view.getInt32(at, true)
    case 6:
      return view.getUint32(at, true)
    case 7:
      return view.getBigInt64(at, true)
    case 8:
      return String(view.getBigUint64(at, true))
    case 9:
      return view.getFloat32(at, true)
    default:
      return view.getFloat64(at, true)
  }
}

function valueOf(bytes: Uint8Array, type: number): unknown {
  if (type < STRING || type > DATE_TIME) return bytes.slice()
  const text = utf8.decode(bytes)
  if (type === JSON_TEXT) return parsed(text)
  return type === DATE_TIME ? timeText(text) : text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
