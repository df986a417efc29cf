import { WkbCursor } from '@terrane/core'
import { Builder } from 'flatbuffers'
import type { Losses } from '../../losses.ts'
import type { ExportRow } from '../../rows.ts'
import type { ExportColumn, ExportSource } from '../../source.ts'
import { isoOrNull } from '../../times.ts'
import { geometryOf } from './geometry.ts'
import { ALIGNMENT, BINARY, DOUBLE, INSTANT, dimensionsOf, type Dimensions } from './header.ts'

/** Message of `EMPTY_PARTS_LEFT_OUT`. */
export const EMPTY_PARTS = 'The format has no empty parts of geometries.'
const FILLED =
  'The format has the same dimensions in each row: heights and measures became 0 where a row has none and others have.'

type Value = Exclude<ExportRow['values'][number], null>

/** Encodes one row after the other. Not re-entrant. */
export class FeatureEncoder {
  readonly #columns: readonly ExportColumn[]
  readonly #types: readonly number[]
  readonly #dimensions: Dimensions
  readonly #losses: Losses
  readonly #builder = new Builder(1 << 16)
  #properties = Buffer.alloc(1 << 12)
  #size = 0

  /** @param types of the columns, by their numbers in the format */
  constructor(source: ExportSource, types: readonly number[], losses: Losses) {
    this.#columns = source.columns
    this.#types = types
    this.#dimensions = dimensionsOf(source)
    this.#losses = losses
  }

  /** A feature, with its size in front. */
  encode({ values, geometry }: ExportRow): Uint8Array {
    const builder = this.#builder
    builder.clear()
    this.#size = 0
    for (const [i, value] of values.entries()) {
      const held = value === null ? null : this.#held(i, value)
      if (held !== null) this.#add(i, held)
    }
    const properties = this.#size > 0 ? builder.createByteVector(this.#properties.subarray(0, this.#size)) : 0
    const shape = geometry === null ? 0 : this.#geometry(geometry as Uint8Array)
    builder.prep(ALIGNMENT, 0)
    builder.startObject(3)
    if (shape !== 0) builder.addFieldOffset(0, shape, 0)
    if (properties !== 0) builder.addFieldOffset(1, properties, 0)
    builder.finishSizePrefixed(builder.endObject())
    return Uint8Array.from(builder.asUint8Array())
  }

  #geometry(wkb: Uint8Array): number {
    const lost = { emptyParts: 0, isFilled: false }
    const found = geometryOf(this.#builder, new WkbCursor(wkb), this.#dimensions, lost)
    if (found === 0) this.#losses.count('EMPTY_GEOMETRIES', 'The format has no empty geometries: they became null.')
    else if (lost.emptyParts > 0) this.#losses.count('EMPTY_PARTS_LEFT_OUT', EMPTY_PARTS)
    if (found !== 0 && lost.isFilled) this.#losses.count('DIMENSIONS_FILLED', FILLED)
    return found
  }

  #held(column: number, value: Value): Value | null {
    return this.#types[column] === INSTANT ? isoOrNull(value as string, this.#columns[column]!, this.#losses) : value
  }

  /** Appends the number of a column and its value, little-endian. */
  #add(column: number, value: Value): void {
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
