import type { Warning, Warnings } from '@terrane/core/errors'

/** Type of a field, by its name in PostgreSQL. */
export type FieldType =
  | 'bool'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'float4'
  | 'float8'
  | 'numeric'
  | 'text'
  | 'jsonb'
  | 'bytea'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'

/** A field of a layer, under the name that the file gives it. */
export interface Field {
  readonly name: string
  readonly type: FieldType
}

/** Schema of a layer before its rows are read, from the whole file, not from its first rows. */
export interface LayerSchema {
  readonly name: string
  readonly rows: number
  readonly fields: readonly Field[]
  readonly hasGeometry: boolean
  /** Geometry types present, as in ISO WKB: code, +1000 with heights, +2000 with measures. */
  readonly geometryTypes: readonly number[]
  /** EPSG code; null when the file does not state it. */
  readonly srid: number | null
  /** Columns in which missing numbers may have been NaN; absent when not looked for. */
  readonly lacking?: readonly string[]
}

/**
 * Some rows of a layer. Values by the type of their field: booleans, numbers (`int8` a bigint where a number is not
 * exact), texts, bytes, ISO 8601 texts of dates and times, decimal texts of `numeric`, and any JSON value for `jsonb`;
 * null for an empty value.
 */
export interface FeatureBatch {
  readonly rows: number
  /** WKB of all rows in order; row `i` ends at `geometryEnds[i]`, and an empty range is a missing geometry. */
  readonly geometry: Uint8Array
  readonly geometryEnds: Uint32Array
  /** Per field the values of the rows. */
  readonly columns: readonly (readonly unknown[])[]
}

/** A file that was opened. It is read in one process, layer by layer. */
export interface FeatureReader {
  readonly layers: readonly LayerSchema[]
  /** The rows of a layer, in the order of the file. */
  read(layer: number): AsyncIterable<FeatureBatch> | Iterable<FeatureBatch>
  /** Warnings since the last call: first of the file, then of the layer that was read. */
  takeWarnings(): readonly Warning[]
}

/** Maximum rows and approximate maximum bytes of a batch. */
const BATCH_ROWS = 2000
const BATCH_BYTES = 4 << 20

/** Layers that can be read: of one file, or of several. */
export interface LayerSource extends AsyncDisposable {
  readonly layers: readonly LayerSchema[]
  /** Warnings at the end of the layer that was read last. */
  readonly warnings: readonly Warning[]
  /** The rows of layers, one layer after the other, by their numbers. */
  read(layers: readonly number[]): AsyncIterable<{ readonly layer: number; readonly batch: FeatureBatch }>
  /**
   * The rows of layers, encoded in the reading process by a plan for each layer. Ends early when no plan needs more
   * rows.
   */
  encode(plans: readonly LayerPlan[]): AsyncIterable<EncodedRows>
}

/** Encoding of the rows of a layer. */
export interface LayerPlan {
  readonly layer: number
  /** JSON, which only the encoder understands. */
  readonly plan: unknown
}

/** Encoded rows of a layer. */
export interface EncodedRows {
  readonly layer: number
  /** The encoder's note about the bytes; null at the end of the layer. */
  readonly note: unknown
  readonly chunks: readonly Uint8Array[]
  /** Warnings of the encoder, at the end of the layer. */
  readonly warnings: readonly Warning[]
}

/** Makes bytes of the rows of a layer, in the process that reads them. */
export interface RowEncoder {
  /** True when no more rows are needed. */
  readonly isComplete: boolean
  /** Warnings about values that could not be kept. */
  readonly warnings: Warnings
  add(batch: FeatureBatch): void
  /** Sends the rows added so far. */
  flush(): void
}

/** Makes the encoder of a layer by its plan; `send` hands on bytes, with a note about them that is plain data. */
export type MakeEncoder = (plan: unknown, send: (note: unknown, bytes: Uint8Array) => void) => RowEncoder

/** Gathers rows into batches. */
export class BatchBuilder {
  #geometry = new Uint8Array(1 << 16)
  #filled = 0
  #ends: number[] = []
  #columns: unknown[][]
  readonly #width: number

  constructor(width: number) {
    this.#width = width
    this.#columns = Array.from({ length: width }, () => [])
  }

  /** True when the batch should be taken. */
  get isFull(): boolean {
    return this.#ends.length >= BATCH_ROWS || this.#filled >= BATCH_BYTES
  }

  get isEmpty(): boolean {
    return this.#ends.length === 0
  }

  add(geometry: Uint8Array | null, values: readonly unknown[]): void {
    if (geometry) {
      this.#reserve(geometry.length)
      this.#geometry.set(geometry, this.#filled)
      this.#filled += geometry.length
    }
    this.#ends.push(this.#filled)
    for (let i = 0; i < this.#width; i++) this.#columns[i]!.push(values[i] ?? null)
  }

  take(): FeatureBatch {
    const batch = {
      rows: this.#ends.length,
      geometry: this.#geometry.slice(0, this.#filled),
      geometryEnds: Uint32Array.from(this.#ends),
      columns: this.#columns,
    }
    this.#filled = 0
    this.#ends = []
    this.#columns = Array.from({ length: this.#width }, () => [])
    return batch
  }

  #reserve(bytes: number): void {
    if (this.#filled + bytes <= this.#geometry.length) return
    const larger = new Uint8Array(Math.max(this.#filled + bytes, this.#geometry.length * 2))
    larger.set(this.#geometry.subarray(0, this.#filled))
    this.#geometry = larger
  }
}
