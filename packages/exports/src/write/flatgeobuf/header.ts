import { Builder } from 'flatbuffers'
import type { Losses } from '../../losses.ts'
import type { Box } from '../../shape-facts.ts'
import type { ExportColumn, ExportSource, Kind } from '../../source.ts'

/** `fgb`, version 3.0 (https://flatgeobuf.org, specification). */
export const MAGIC = Uint8Array.of(0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 0)
/** Readers access numbers in place, so lengths of the header and of features are multiples of 8 bytes. */
export const ALIGNMENT = 8

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
  timestamp: 13,
  bytea: 14,
  // The format has no dates and times of day.
  date: 11,
  time: 11,
}
export const DOUBLE = 10
const TEXT = 11
export const INSTANT = 13
export const BINARY = 14
const EXACT_DIGITS = 15

// Slots of the header.
const NAME = 0
const ENVELOPE = 1
const TYPE = 2
const HAS_Z = 3
const HAS_M = 4
const COLUMNS = 7
const FEATURES = 8
const NODE_SIZE = 9
const CRS = 10
const SLOTS = 14
/** Default node size of the format. */
const USUAL_NODE_SIZE = 16

/** Dimensions that the header promises for each geometry. */
export interface Dimensions {
  readonly hasZ: boolean
  readonly hasM: boolean
}

/** Facts about a file after all features were seen. */
export interface FileFacts {
  readonly features: number
  readonly envelope: Box | null
  /** Items of a node of the index; 0 for no index. */
  readonly nodeSize: number
}

/** Types of the columns of a source. Converted types are counted. */
export function columnTypes(columns: readonly ExportColumn[], losses: Losses): number[] {
  const changed = columns.filter(({ kind }) => kind === 'date' || kind === 'time').map(({ name }) => name)
  const message = 'Columns of dates and of times of day became texts.'
  if (changed.length > 0) losses.add('TYPES_CHANGED', message, changed.length, changed)
  return columns.map((column) => typeOf(column, losses))
}

function typeOf(column: ExportColumn, losses: Losses): number {
  if (column.kind !== 'numeric') return TYPES[column.kind]
  if (column.precision !== null && column.precision <= EXACT_DIGITS) return DOUBLE
  const message = 'Decimals of more digits than a number of the format holds became texts.'
  losses.count('DECIMALS_AS_TEXT', message, column.name)
  return TEXT
}

/** Dimensions that a file of a source has: those of any of its geometries. */
export function dimensionsOf({ geometry }: ExportSource): Dimensions {
  const thousands = (geometry?.shapes ?? []).map((type) => Math.floor(type / 1000))
  return { hasZ: thousands.some((one) => one % 2 === 1), hasM: thousands.some((one) => one >= 2) }
}

/** The header of a file, with its size in front. */
export function headerBytes(source: ExportSource, types: readonly number[], facts: FileFacts): Uint8Array {
  const builder = new Builder(1024)
  const { name, columns, geometry } = source
  const columnsAt = columnsOf(builder, columns, types)
  const nameAt = builder.createString(name)
  const envelopeAt = facts.envelope ? doubles(builder, facts.envelope) : 0
  builder.startObject(6)
  if (geometry?.srid) builder.addFieldInt32(1, geometry.srid, 0)
  const crs = builder.endObject()
  const codes = [...new Set((geometry?.shapes ?? []).map((type) => type % 1000))]
  const { hasZ, hasM } = dimensionsOf(source)
  builder.prep(ALIGNMENT, 0)
  builder.startObject(SLOTS)
  builder.addFieldOffset(NAME, nameAt, 0)
  if (envelopeAt !== 0) builder.addFieldOffset(ENVELOPE, envelopeAt, 0)
  // 0 means several types: each feature has its own.
  builder.addFieldInt8(TYPE, codes.length === 1 ? codes[0]! : 0, 0)
  builder.addFieldInt8(HAS_Z, Number(hasZ), 0)
  builder.addFieldInt8(HAS_M, Number(hasM), 0)
  if (columns.length > 0) builder.addFieldOffset(COLUMNS, columnsAt, 0)
  if (facts.features > 0) builder.addFieldInt64(FEATURES, BigInt(facts.features), 0n)
  builder.addFieldInt16(NODE_SIZE, facts.nodeSize, USUAL_NODE_SIZE)
  if (geometry) builder.addFieldOffset(CRS, crs, 0)
  builder.finishSizePrefixed(builder.endObject())
  return builder.asUint8Array()
}

function columnsOf(builder: Builder, columns: readonly ExportColumn[], types: readonly number[]): number {
  const list = columns.map((column, i) => {
    const text = builder.createString(column.name)
    builder.startObject(11)
    builder.addFieldOffset(0, text, 0)
    builder.addFieldInt8(1, types[i]!, 0)
    return builder.endObject()
  })
  builder.startVector(4, list.length, 4)
  for (const column of list.toReversed()) builder.addOffset(column)
  return builder.endVector()
}

/** A vector of numbers. A FlatBuffer grows from its end to its beginning, so vectors are filled from their last value. */
export function doubles(builder: Builder, values: readonly number[]): number {
  builder.startVector(8, values.length, 8)
  for (let i = values.length - 1; i >= 0; i--) builder.addFloat64(values[i]!)
  return builder.endVector()
}
