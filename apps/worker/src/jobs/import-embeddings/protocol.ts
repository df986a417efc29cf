import type { JobWarning } from '@terrane/contracts'
import type { EmbeddingKind } from '@terrane/database/geoembeddings'
import type { Quantization } from '@terrane/embeddings/products'
import type { VectorColumns } from '@terrane/files/parquet'
import type { CrsEntry } from '@terrane/tiling/raster'

/** Contents of the headers of a file. */
export interface FileHeader {
  readonly rows: number
  readonly dims: number
  readonly storedType: string
  readonly srid: number | null
  /** The reference system is not stated, and the first place lies beyond longitude and latitude. */
  readonly isBeyondDegrees: boolean
  readonly names: readonly string[]
  readonly metadata: ReadonlyMap<string, string>
  /** The first place is a point. */
  readonly hasPoints: boolean
}

/** How rows are made from a file. */
export interface RowPlan {
  readonly kind: EmbeddingKind
  /** Set when the file is of one of our own tables, with the columns of that table. */
  readonly own: { readonly columns: readonly string[]; readonly hasLabels: boolean } | null
  readonly id: string | null
  readonly datetimeColumn: string | null
  readonly datetime: string | null
  readonly quantization: Quantization | null
  readonly groundSizeMeters: number | null
  /** EPSG code of the places. */
  readonly srid: number
  /** Reference systems that the operator adds. */
  readonly crs: readonly CrsEntry[]
  readonly normalize: boolean
}

/** Rows for the table. */
export interface ImportedRows {
  readonly ids: readonly number[]
  readonly polygons: readonly (readonly Float64Array[])[]
  readonly attributes: readonly (readonly unknown[])[]
  readonly labels: readonly (string | null)[]
  /** `rows · dims` */
  readonly vectors: Float32Array
  /** Rows of the file that were read so far. */
  readonly done: number
}

/** Left-out rows, and facts that are known at the end. */
export interface ReadSummary {
  /** Rows whose vector contains NaN or infinity. */
  readonly invalid: number
  readonly isUnit: boolean
  readonly warnings: readonly JobWarning[]
}

/** Methods of the thread. */
export interface ReadMethods {
  open(input: { readonly path: string; readonly columns: VectorColumns }): Promise<FileHeader>
  begin(plan: RowPlan): void
  /** Null at the end. */
  next(input: null): Promise<ImportedRows | null>
  summary(input: null): ReadSummary
}
