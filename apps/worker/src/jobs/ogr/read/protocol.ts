import { deserialize, serialize } from 'node:v8'
import type { JobWarning } from '@terrane/contracts'
import type { PlainError } from '@terrane/core'
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

/** How a data set is to be read. */
export interface ReadRequest {
  readonly path: string
  readonly format: ReadFormat
  /** Character encoding of a CSV or of a Shapefile's table; found out when absent. */
  readonly encoding?: string
  /** EPSG code of a CSV's coordinates; 4326 when absent. */
  readonly srid?: number
  /** Types of fields, by layer, that a GeoPackage has as texts. */
  readonly types?: TypesOfLayers
  /** A GeoPackage has texts of values that its source says no types of. */
  readonly isUntyped?: boolean
  /** Columns of a CSV that hold coordinates or WKT. */
  readonly csv?: { readonly x?: string; readonly y?: string; readonly wkt?: string }
}

/** What the reading process says, in this order: the layers, then batches of each layer that was asked for. */
export type Frame =
  | { readonly kind: 'layers'; readonly layers: readonly LayerSchema[]; readonly warnings: readonly JobWarning[] }
  | { readonly kind: 'batch'; readonly layer: number; readonly batch: FeatureBatch }
  | { readonly kind: 'end'; readonly layer: number; readonly warnings: readonly JobWarning[] }
  | { readonly kind: 'error'; readonly error: PlainError }

/** A frame as bytes: its length and itself, in the engine's own form of values. */
export function frameBytes(frame: Frame): Buffer[] {
  const bytes = serialize(frame)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return [length, bytes]
}

/** Reads frames from the output of a process. */
export async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let pending: Buffer[] = []
  let size = 0
  let wanted = 4
  let inHead = true
  for await (const chunk of chunks) {
    pending.push(chunk)
    size += chunk.length
    while (size >= wanted) {
      const bytes = pending.length === 1 ? pending[0]! : Buffer.concat(pending)
      const part = bytes.subarray(0, wanted)
      pending = [bytes.subarray(wanted)]
      size -= wanted
      if (inHead) wanted = part.readUInt32LE()
      else {
        yield deserialize(part) as Frame
        wanted = 4
      }
      inHead = !inHead
    }
  }
}
