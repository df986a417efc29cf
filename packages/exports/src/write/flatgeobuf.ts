import { WkbCursor } from '@terrane/core'
import { Builder } from 'flatbuffers'
import type { Losses } from '../losses.ts'
import type { ExportRow } from '../rows.ts'
import type { ExportColumn, ExportSource, Kind } from '../source.ts'

/** `fgb`, version 3.0 (https://flatgeobuf.org, specification). */
const MAGIC = Uint8Array.of(0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 0)

/** Numbers of column types in the format. */
const TYPES: Readonly<Record<Exclude<Kind, 'numeric'>, number>> = {
  bool: 2,
  int2: 3,
  int4: 5,
  int8: 7,
  float4: 9,
  float8: 10,
  text: 11,
  json: 12,
  timestamptz: 13,
  bytea: 14,
  // The format has no dates and times of day.
  date: 11,
  time: 11,
}
const DOUBLE = 10
const TEXT = 11
const BINARY = 14
const EXACT_DIGITS = 15

const POINT = 1
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE = 5
const TRIANGLE = 17
const LINES = new Set([2, 8])

/** What is said of `EMPTY_PARTS_LEFT_OUT`. */
export const EMPTY_PARTS = 'The format has no empty parts of geometries.'

/**
 * Writes a FlatGeobuf without an index, feature by feature as rows come; geometries are ISO WKB in the system of the table.
 * Numbers, texts, bytes and instants keep their types, dates and times of day become texts.
 */
export async function* flatGeobufBytes(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  losses: Losses,
): AsyncGenerator<Uint8Array> {
  const types = source.columns.map((column) => typeOf(column, losses))
  const changed = source.columns.filter(({ kind }) => kind === 'date' || kind === 'time').map(({ name }) => name)
  if (changed.length > 0)
    losses.add('TYPES_CHANGED', 'Columns of dates and times became texts.', changed.length, changed)
  yield MAGIC
  yield header(source, types)
  const encoder = new FeatureEncoder(source, types, losses)
  for await (const rows of batches) yield Buffer.concat(rows.map((row) => encoder.encode(row)))
}

function typeOf(column: ExportColumn, losses: Losses): number {
  if (column.kind !== 'numeric') return TYPES[column.kind]
  if (column.precision !== null && column.precision <= EXACT_DIGITS) return DOUBLE
  const message = 'Decimals of more digits than a number of the format holds became texts.'
  losses.count('DECIMALS_AS_TEXT', message, column.name)
  return TEXT
}

function header(source: ExportSource, types: readonly number[]): Uint8Array {
  const builder = new Builder(1024)
  const { name, columns, geometry } = source
  const list = columns.map((column, i) => {
    const text = builder.createString(column.name)
    builder.startObject(11)
    builder.addFieldOffset(0, text, 0)
    builder.addFieldInt8(1, types[i]!, 0)
    return builder.endObject()
  })
  builder.startVector(4, list.length, 4)
  for (const column of list.toReversed()) builder.addOffset(column)
  const columnsAt = builder.endVector()
  const nameAt = builder.createString(name)
  builder.startObject(6)
  if (geometry?.srid) builder.addFieldInt32(1, geometry.srid, 0)
  const crs = builder.endObject()
  const codes = [...new Set((geometry?.shapes ?? []).map((type) => type % 1000))]
  const thousands = (geometry?.shapes ?? []).map((type) => Math.floor(type / 1000))
  builder.startObject(14)
  builder.addFieldOffset(0, nameAt, 0)
  // 0 stands for several types: each feature says its own.
  builder.addFieldInt8(2, codes.length === 1 ? codes[0]! : 0, 0)
  builder.addFieldInt8(3, Number(thousands.some((one) => one % 2 === 1)), 0)
  builder.addFieldInt8(4, Number(thousands.some((one) => one >= 2)), 0)
  if (list.length > 0) builder.addFieldOffset(7, columnsAt, 0)
  // A count and bounds would take a pass of their own, and may be left out. No index: its default is 16, so that 0 must be written.
  builder.addFieldInt16(9, 0, 16)
  if (geometry) builder.addFieldOffset(10, crs, 0)
  builder.finishSizePrefixed(builder.endObject())
  return builder.asUint8Array()
}

/** Encodes one row after the other. Not re-entrant. */
class FeatureEncoder {
  readonly #columns: readonly ExportColumn[]
  readonly #types: readonly number[]
  readonly #losses: Losses
  readonly #builder = new Builder(1 << 16)
  #properties = Buffer.alloc(1 << 12)
  #size = 0

  constructor(source: ExportSource, types: readonly number[], losses: Losses) {
    this.#columns = source.columns
    this.#types = types
    this.#losses = losses
  }

  encode({ values, geometry }: ExportRow): Uint8Array {
    const builder = this.#builder
    builder.clear()
    this.#size = 0
    for (const [i, value] of values.entries()) if (value !== null) this.#add(i, value)
    const properties = this.#size > 0 ? bytesOf(builder, this.#properties.subarray(0, this.#size)) : 0
    const shape = geometry === null ? 0 : this.#geometry(geometry as Uint8Array)
    builder.startObject(3)
    if (shape !== 0) builder.addFieldOffset(0, shape, 0)
    if (properties !== 0) builder.addFieldOffset(1, properties, 0)
    builder.finishSizePrefixed(builder.endObject())
    return Uint8Array.from(builder.asUint8Array())
  }

  #geometry(wkb: Uint8Array): number {
    const left = { parts: 0 }
    const found = geometryOf(this.#builder, new WkbCursor(wkb), left)
    if (found === 0) this.#losses.count('EMPTY_GEOMETRIES', 'The format has no empty geometries: they became null.')
    else if (left.parts > 0) this.#losses.count('EMPTY_PARTS_LEFT_OUT', EMPTY_PARTS)
    return found
  }

  /** Appends the number of a column and its value, little-endian. */
  #add(column: number, value: Exclude<ExportRow['values'][number], null>): void {
    const type = this.#types[column]!
    const { kind } = this.#columns[column]!
    const bytes =
      type === BINARY
        ? Buffer.from(value as string, 'hex')
        : typeof value === 'string' && type !== DOUBLE
          ? Buffer.from(value)
          : null
    this.#reserve(14 + (bytes?.length ?? 0))
    const out = this.#properties
    let at = out.writeUInt16LE(column, this.#size)
    if (bytes) {
      at = out.writeUInt32LE(bytes.length, at)
      at += bytes.copy(out, at)
    } else if (kind === 'bool') at = out.writeUInt8(Number(value), at)
    else if (kind === 'int2') at = out.writeInt16LE(Number(value), at)
    else if (kind === 'int4') at = out.writeInt32LE(Number(value), at)
    else if (kind === 'int8') at = out.writeBigInt64LE(BigInt(value), at)
    else if (kind === 'float4') at = out.writeFloatLE(Number(value), at)
    else at = out.writeDoubleLE(Number(value), at)
    this.#size = at
  }

  #reserve(more: number): void {
    if (this.#size + more <= this.#properties.length) return
    const larger = Buffer.alloc((this.#size + more) * 2)
    this.#properties.copy(larger, 0, 0, this.#size)
    this.#properties = larger
  }
}

/** Writes the geometry at a cursor; 0 where it is empty. Parts that are empty are left out and counted. */
function geometryOf(builder: Builder, cursor: WkbCursor, left: { parts: number }): number {
  const code = cursor.head()
  const { hasZ, hasM } = cursor
  const places: number[] = []
  const ends: number[] = []
  const parts: number[] = []
  const take = (count: number, isPoint = false) => {
    const start = cursor.positions(count)
    if (count === 0 || (isPoint && Number.isNaN(cursor.number(start)))) {
      left.parts++
      return
    }
    for (let i = 0; i < count; i++) places.push(start + i * cursor.stride)
    ends.push(places.length)
  }
  if (code === POINT) take(1, true)
  else {
    const count = cursor.count()
    if (LINES.has(code)) take(count)
    else {
      for (let i = 0; i < count; i++) {
        if (code === POLYGON || code === TRIANGLE) take(cursor.count())
        else if (code === MULTI_POINT || code === MULTI_LINE) {
          const isPoint = cursor.head() === POINT
          take(isPoint ? 1 : cursor.count(), isPoint)
        } else {
          const part = geometryOf(builder, cursor, left)
          if (part !== 0) parts.push(part)
        }
      }
    }
  }
  if (places.length === 0 && parts.length === 0) {
    left.parts = Math.max(left.parts, 1)
    return 0
  }
  const at = (offset: number) => places.map((place) => cursor.number(place + offset))
  const xy =
    places.length === 0
      ? 0
      : numbers(
          builder,
          places.flatMap((place) => [cursor.number(place), cursor.number(place + 8)]),
        )
  const z = hasZ && places.length > 0 ? numbers(builder, at(16)) : 0
  const m = hasM && places.length > 0 ? numbers(builder, at(hasZ ? 24 : 16)) : 0
  const partsAt = parts.length === 0 ? 0 : offsets(builder, parts)
  const endsAt = ends.length > 1 && code !== MULTI_POINT ? integers(builder, ends) : 0
  builder.startObject(8)
  if (endsAt !== 0) builder.addFieldOffset(0, endsAt, 0)
  if (xy !== 0) builder.addFieldOffset(1, xy, 0)
  if (z !== 0) builder.addFieldOffset(2, z, 0)
  if (m !== 0) builder.addFieldOffset(3, m, 0)
  builder.addFieldInt8(6, code, 0)
  if (partsAt !== 0) builder.addFieldOffset(7, partsAt, 0)
  return builder.endObject()
}

// A FlatBuffer grows from its end to its beginning, so vectors are filled from their last value.
function numbers(builder: Builder, values: readonly number[]): number {
  builder.startVector(8, values.length, 8)
  for (let i = values.length - 1; i >= 0; i--) builder.addFloat64(values[i]!)
  return builder.endVector()
}

function integers(builder: Builder, values: readonly number[]): number {
  builder.startVector(4, values.length, 4)
  for (let i = values.length - 1; i >= 0; i--) builder.addInt32(values[i]!)
  return builder.endVector()
}

function offsets(builder: Builder, values: readonly number[]): number {
  builder.startVector(4, values.length, 4)
  for (let i = values.length - 1; i >= 0; i--) builder.addOffset(values[i]!)
  return builder.endVector()
}

function bytesOf(builder: Builder, bytes: Uint8Array): number {
  return builder.createByteVector(bytes)
}
