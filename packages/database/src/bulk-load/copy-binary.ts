import { daysOf, encodeNumeric, microsOf, microsOfDay } from '@terrane/core/columns'
import { EWKB_EXTRA, writeEwkb } from '@terrane/core/wkb'
import { jsonText, toHalf, withoutNul, type Column, type ColumnType, type Row } from './columns.ts'

/** PGCOPY header: signature, flags, extension length (PostgreSQL manual, COPY, binary format). */
export const COPY_HEADER = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex')
export const COPY_TRAILER = Buffer.from([0xff, 0xff])
const MICROS_TO_2000 = 946_684_800_000_000n

/** Encodes rows in PostgreSQL's binary COPY format, without its header and end mark, into one growing buffer. */
export class CopyEncoder {
  #buffer = Buffer.allocUnsafe(1 << 18)
  #length = 0
  readonly #columns: readonly Pick<Column, 'type'>[]

  constructor(columns: readonly Pick<Column, 'type'>[]) {
    this.#columns = columns
  }

  /** Bytes that {@link take} will return. */
  get size(): number {
    return this.#length
  }

  /** Appends a row. @throws RangeError when a value does not fit its column */
  write(row: Row): void {
    const start = this.#length
    try {
      this.beginRow()
      for (let i = 0; i < this.#columns.length; i++) this.value(this.#columns[i]!.type, row[i])
    } catch (error) {
      this.#length = start
      throw error
    }
  }

  /** Begins a row whose values are appended one by one. */
  beginRow(): void {
    this.#reserve(2)
    this.#length = this.#buffer.writeInt16BE(this.#columns.length, this.#length)
  }

  /** Appends the next value of a row. @throws RangeError when it does not fit its column */
  value(type: ColumnType, value: unknown): void {
    if (value !== null && value !== undefined) {
      this.#value(type, value)
      return
    }
    this.#reserve(4)
    this.#length = this.#buffer.writeInt32BE(-1, this.#length)
  }

  /** Appends the EWKB of a geometry in `source[start, end)`, as {@link writeEwkb} makes it, as the next value of a row. */
  ewkb(source: Uint8Array, start: number, end: number, srid: number, multi: boolean): void {
    this.#reserve(4 + end - start + EWKB_EXTRA)
    const at = this.#length + 4
    this.#length = writeEwkb(this.#buffer, at, source, start, end, srid, multi)
    this.#buffer.writeInt32BE(this.#length - at, at - 4)
  }

  /** Returns the bytes written since the last call, and starts a new buffer. */
  take(): Buffer {
    const chunk = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.allocUnsafe(Math.max(1 << 18, this.#length))
    this.#length = 0
    return chunk
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }

  #value(type: ColumnType, value: unknown): void {
    switch (type) {
      case 'int2':
        this.#fixed(2)
        this.#length = this.#buffer.writeInt16BE(value as number, this.#length)
        return
      case 'int4':
        return this.#int4(value as number)
      case 'int8':
        return this.#int8(value as number | bigint)
      case 'float4':
        this.#fixed(4)
        this.#length = this.#buffer.writeFloatBE(value as number, this.#length)
        return
      case 'float8':
        this.#fixed(8)
        this.#length = this.#buffer.writeDoubleBE(value as number, this.#length)
        return
      case 'bool':
        this.#fixed(1)
        this.#length = this.#buffer.writeUInt8(value === true ? 1 : 0, this.#length)
        return
      case 'timestamptz':
      case 'timestamp':
        return this.#micros(
          typeof value === 'string' ? microsOf(value) : BigInt((value as Date).getTime()) * 1000n - MICROS_TO_2000,
        )
      case 'time':
        return this.#micros(microsOfDay(value as string))
      case 'date':
        return this.#int4(daysOf(value as string))
      case 'numeric':
        return this.#bytes(encodeNumeric(String(value)))
      case 'uuid':
        this.#fixed(16)
        this.#length += this.#buffer.write((value as string).replaceAll('-', ''), this.#length, 16, 'hex')
        return
      case 'text':
        return this.#text(withoutNul(value as string), 0)
      case 'jsonb':
        return this.#text(jsonText(value), 1)
      case 'bytea':
      case 'geometry':
        return this.#bytes(value as Uint8Array)
      case 'vector':
        return this.#vector(value as Float32Array)
      case 'halfvec':
        return this.#halfvec(value as Float32Array)
    }
  }

  /** Writes the length field and makes room for the value. */
  #fixed(bytes: number): void {
    this.#reserve(4 + bytes)
    this.#length = this.#buffer.writeInt32BE(bytes, this.#length)
  }

  #int4(value: number): void {
    this.#fixed(4)
    this.#length = this.#buffer.writeInt32BE(value, this.#length)
  }

  #micros(value: bigint): void {
    this.#fixed(8)
    this.#length = this.#buffer.writeBigInt64BE(value, this.#length)
  }

  #bytes(value: Uint8Array): void {
    this.#fixed(value.byteLength)
    this.#buffer.set(value, this.#length)
    this.#length += value.byteLength
  }

  /** Numbers are written in two halves, because a BigInt for each would take longer than the rest of the row. */
  #int8(value: number | bigint): void {
    this.#fixed(8)
    if (typeof value === 'bigint' || !Number.isSafeInteger(value)) {
      this.#length = this.#buffer.writeBigInt64BE(BigInt(value), this.#length)
      return
    }
    const high = Math.floor(value / 2 ** 32)
    this.#length = this.#buffer.writeInt32BE(high, this.#length)
    this.#length = this.#buffer.writeUInt32BE(value - high * 2 ** 32, this.#length)
  }

  /** `version` bytes (jsonb has one, of value 1) and the text. */
  #text(text: string, version: 0 | 1): void {
    this.#reserve(5 + text.length * 3)
    const at = this.#length
    this.#length += 4
    if (version === 1) this.#length = this.#buffer.writeUInt8(1, this.#length)
    this.#length += this.#buffer.write(text, this.#length, 'utf8')
    this.#buffer.writeInt32BE(this.#length - at - 4, at)
  }

  /** pgvector: int16 dimensions, int16 0, then float4 each. */
  #vector(values: Float32Array): void {
    this.#fixed(4 + values.length * 4)
    const buffer = this.#buffer
    let at = buffer.writeInt32BE(values.length << 16, this.#length)
    for (let i = 0; i < values.length; i++) at = buffer.writeFloatBE(values[i] as number, at)
    this.#length = at
  }

  #halfvec(values: Float32Array): void {
    this.#fixed(4 + values.length * 2)
    const buffer = this.#buffer
    let at = buffer.writeInt32BE(values.length << 16, this.#length)
    for (let i = 0; i < values.length; i++) at = buffer.writeUInt16BE(toHalf(values[i] as number), at)
    this.#length = at
  }
}
