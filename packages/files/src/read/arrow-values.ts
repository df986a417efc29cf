import { DataType, DateUnit, MapRow, Precision, StructRow, TimeUnit, Vector } from 'apache-arrow'
import type { FieldType } from '../feature-stream.ts'
import { decimalText, isoOfCount, isoOfDays, isoTimeOfCount } from './instants.ts'

/** Returns the value of a column at a row. */
export type ValueOf = (vector: Vector, row: number) => unknown

/** Type of a column, and the conversion of its values to the forms of `FeatureBatch`. */
export interface ArrowColumn {
  readonly type: FieldType
  readonly valueOf: ValueOf
}

const PER_SECOND: Readonly<Record<number, bigint>> = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
}

/** The column for an Arrow type; types without an equivalent become JSON. */
export function arrowColumn(type: DataType): ArrowColumn {
  if (DataType.isDictionary(type)) return arrowColumn(type.dictionary)
  if (DataType.isInt(type)) {
    const { bitWidth, isSigned } = type
    const bits = isSigned ? bitWidth : bitWidth + 1
    return { type: bits <= 16 ? 'int2' : bits <= 32 ? 'int4' : bits <= 64 ? 'int8' : 'numeric', valueOf: plain }
  }
  if (DataType.isFloat(type)) return { type: type.precision === Precision.DOUBLE ? 'float8' : 'float4', valueOf: plain }
  if (DataType.isBool(type)) return { type: 'bool', valueOf: plain }
  if (DataType.isDecimal(type)) return { type: 'numeric', valueOf: (v, row) => decimalOf(v.get(row), type.scale) }
  if (DataType.isDate(type)) {
    const isDay = type.unit === DateUnit.DAY
    return {
      type: 'date',
      valueOf: (v, row) => mapped(rawOf(v, row), (raw) => isoOfDays(Number(raw) / (isDay ? 1 : 86_400_000))),
    }
  }
  if (DataType.isTimestamp(type)) {
    const unit = PER_SECOND[type.unit]!
    return {
      type: type.timezone ? 'timestamptz' : 'timestamp',
      valueOf: (v, row) => mapped(rawOf(v, row), (raw) => isoOfCount(raw, unit)),
    }
  }
  if (DataType.isTime(type)) {
    const unit = PER_SECOND[type.unit]!
    return { type: 'time', valueOf: (v, row) => mapped(rawOf(v, row), (raw) => isoTimeOfCount(raw, unit)) }
  }
  const isBytes = DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type)
  if (isBytes || DataType.isBinaryView(type)) return { type: 'bytea', valueOf: plain }
  const isText = DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type)
  return { type: isText || DataType.isNull(type) ? 'text' : 'jsonb', valueOf: isText ? plain : deep }
}

/** A nested value as JSON has it: lists, objects, numbers and texts. */
export function deep(vector: Vector, row: number): unknown {
  return plainOf(vector.get(row))
}

function mapped(raw: bigint | null, make: (raw: bigint) => string): string | null {
  return raw === null ? null : make(raw)
}

function plain(vector: Vector, row: number): unknown {
  return vector.get(row)
}

function plainOf(value: unknown): unknown {
  if (value instanceof Vector) return Array.from(value, plainOf)
  if (value instanceof StructRow || value instanceof MapRow) {
    return Object.fromEntries(Object.entries(value.toJSON()).map(([key, part]) => [key, plainOf(part)]))
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<unknown>, plainOf) : value
}

/** The stored whole number of a time; the library would return a double. */
function rawOf(vector: Vector, row: number): bigint | null {
  if (!vector.isValid(row)) return null
  let at = row
  for (const data of vector.data) {
    if (at >= data.length) {
      at -= data.length
      continue
    }
    const { type, values, stride, dictionary } = data
    if (DataType.isDictionary(type)) return rawOf(dictionary!, Number(values[at]))
    const isPair = values instanceof Int32Array && stride === 2
    return isPair ? (BigInt(values[2 * at + 1]!) << 32n) | BigInt(values[2 * at]! >>> 0) : BigInt(values[at] as number)
  }
  return null
}

function decimalOf(value: unknown, scale: number): string | null {
  if (value === null || value === undefined) return null
  const words = value as Uint32Array
  let digits = 0n
  for (let i = words.length - 1; i >= 0; i--) digits = (digits << 32n) | BigInt(words[i]!)
  return decimalText(BigInt.asIntN(words.length * 32, digits), scale)
}
