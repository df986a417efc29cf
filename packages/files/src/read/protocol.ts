import { deserialize, serialize } from 'node:v8'
import type { PlainError, Warning } from '@terrane/core/errors'
import type { AskedTypes } from './asked-types.ts'
import type { FeatureBatch, FieldType, LayerSchema } from '../feature-stream.ts'

/** Formats that are read without the engine. */
export const READ_FORMATS = [
  'GPKG',
  'SQLite',
  'GeoJSON',
  'GeoJSONSeq',
  'CSV',
  'KML',
  'GPX',
  'FlatGeobuf',
  'ESRI Shapefile',
  'Parquet',
  'Arrow',
] as const
export type ReadFormat = (typeof READ_FORMATS)[number]

/** Types of fields by layer and name. */
export type TypesOfLayers = Readonly<Record<string, Readonly<Record<string, FieldType>>>>

/** Meaning of missing numbers: NaN in the source, if its format has no null; otherwise null or NaN. */
export type MissingNumbers = 'NaN' | 'null or NaN'

/** Options for reading a data set. */
export interface ReadRequest {
  readonly path: string
  readonly format: ReadFormat
  /** Character encoding of a CSV or of a Shapefile's table; detected when absent. */
  readonly encoding?: string
  /** EPSG code of the coordinates of a CSV or of sheets; 4326 when absent. */
  readonly srid?: number
  /** Types of fields, by layer, that a GeoPackage has as texts. */
  readonly types?: TypesOfLayers
  /** Whether texts of a GeoPackage may be values of any type, because its source has no types. */
  readonly isUntyped?: boolean
  /** Columns that hold coordinates or WKT, of a CSV or of sheets. */
  readonly csv?: { readonly x?: string; readonly y?: string; readonly wkt?: string }
  /** Types of columns that the caller requests, by their names. */
  readonly columnTypes?: AskedTypes
  /**
   * Meaning of missing numbers in a GeoPackage of the engine, which cannot hold NaN; absent if its source format has no
   * NaN.
   */
  readonly missing?: MissingNumbers
  /** A GeoPackage has the sheets of a workbook, whose columns may hold coordinates. */
  readonly isWorkbook?: boolean
}

/** Request for a layer: encoded by a plan, or as batches. */
export interface LayerRequest {
  readonly layer: number
  readonly plan?: unknown
}

/** Messages of the reading process, in this order: the layers, then batches or encoded rows of each requested layer. */
export type Frame =
  | { readonly kind: 'layers'; readonly layers: readonly LayerSchema[]; readonly warnings: readonly Warning[] }
  | { readonly kind: 'batch'; readonly layer: number; readonly batch: FeatureBatch }
  | { readonly kind: 'rows'; readonly layer: number; readonly note: unknown }
  | {
      readonly kind: 'end'
      readonly layer: number
      readonly warnings: readonly Warning[]
      readonly unkept: readonly Warning[]
    }
  | { readonly kind: 'error'; readonly error: PlainError }

/** A frame that was read, and the bytes that came with it. */
export interface ReceivedFrame {
  readonly frame: Frame
  readonly chunks: readonly Buffer[]
}

const LENGTHS_BYTES = 8

/** Parts of a message: the lengths of the serialized frame and of the raw bytes, then the frame, then the bytes. */
export function frameBytes(frame: Frame, bytes?: Uint8Array): Uint8Array[] {
  const own = serialize(frame)
  const lengths = Buffer.alloc(LENGTHS_BYTES)
  lengths.writeUInt32LE(own.length)
  lengths.writeUInt32LE(bytes?.length ?? 0, 4)
  return bytes ? [lengths, own, bytes] : [lengths, own]
}

/** Reads frames from the output of a process. */
export async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<ReceivedFrame> {
  const pieces = new Pieces()
  let lengths: { readonly frame: number; readonly bytes: number } | null = null
  for await (const chunk of chunks) {
    pieces.push(chunk)
    for (;;) {
      if (lengths === null) {
        if (pieces.size < LENGTHS_BYTES) break
        const head = Buffer.concat(pieces.take(LENGTHS_BYTES))
        lengths = { frame: head.readUInt32LE(), bytes: head.readUInt32LE(4) }
      }
      if (pieces.size < lengths.frame + lengths.bytes) break
      const frame = deserialize(Buffer.concat(pieces.take(lengths.frame))) as Frame
      yield { frame, chunks: pieces.take(lengths.bytes) }
      lengths = null
    }
  }
}

/** Received bytes; they are taken from the front. */
class Pieces {
  size = 0
  #pieces: Buffer[] = []

  push(piece: Buffer): void {
    this.#pieces.push(piece)
    this.size += piece.length
  }

  take(bytes: number): Buffer[] {
    const taken: Buffer[] = []
    this.size -= bytes
    let left = bytes
    let whole = 0
    for (; left > 0 && this.#pieces[whole]!.length <= left; whole++) left -= this.#pieces[whole]!.length
    taken.push(...this.#pieces.splice(0, whole))
    if (left > 0) {
      const [first] = this.#pieces as [Buffer]
      taken.push(first.subarray(0, left))
      this.#pieces[0] = first.subarray(left)
    }
    return taken
  }
}
