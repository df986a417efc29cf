/** Column types for bulk loads, and the values of rows in each; null is NULL everywhere. */
interface ColumnValues {
  /** Whole number in range. */
  int2: number
  int4: number
  int8: number | bigint
  float4: number
  float8: number
  bool: boolean
  /** NUL characters, which PostgreSQL cannot store, are left out. */
  text: string
  /** Anything JSON can express, or a {@link JsonText}; NUL characters in texts are left out. */
  jsonb: unknown
  bytea: Uint8Array
  /** 36 characters. */
  uuid: string
  /** A Date, or ISO 8601 text, which may have microseconds and years before Christ. */
  timestamptz: Date | string
  /** ISO 8601 texts; the year before 0001 is 0000. */
  timestamp: string
  date: string
  time: string
  /** Decimal text, or a whole number. */
  numeric: string | bigint | number
  /** EWKB, any byte order. */
  geometry: Uint8Array
  vector: Float32Array
  /** Rounded to half precision. */
  halfvec: Float32Array
}
export type ColumnType = keyof ColumnValues

/** A column to be loaded. */
export interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** One value per column, in the order of the columns. */
export type Row = readonly unknown[]

/** Text without NUL characters. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

/** JSON as text. It is sent without a check, so it must be valid and contain no `\\u0000`. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON text that jsonb accepts: `\u0000` is legal JSON but cannot be stored. */
export function jsonText(value: unknown): string {
  if (value instanceof JsonText) return value.text
  const text = JSON.stringify(value) ?? 'null'
  return text.includes('\\u0000')
    ? JSON.stringify(value, (_, v: unknown) => (typeof v === 'string' ? withoutNul(v) : v))
    : text
}

/** Rounds to IEEE 754 binary16 and returns its bits; too large becomes infinity. */
export function toHalf(value: number): number {
  scratchFloat[0] = value
  const bits = scratchBits[0] ?? 0
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 0xff) - 127 + 15
  const mantissa = bits & 0x7fffff
  if (exponent >= 31) return sign | 0x7c00 | ((bits & 0x7fffffff) > 0x7f800000 ? 0x200 : 0)
  if (exponent <= 0) {
    if (exponent < -10) return sign
    const shifted = (mantissa | 0x800000) >>> (1 - exponent)
    const round = (shifted & 0x1fff) > 0x1000 || ((shifted & 0x1fff) === 0x1000 && (shifted & 0x2000) !== 0) ? 1 : 0
    return sign | ((shifted >>> 13) + round)
  }
  const half = (exponent << 10) | (mantissa >>> 13)
  const rest = mantissa & 0x1fff
  const round = rest > 0x1000 || (rest === 0x1000 && (half & 1) === 1) ? 1 : 0
  return sign | (half + round)
}

const scratchFloat = new Float32Array(1)
const scratchBits = new Uint32Array(scratchFloat.buffer)
