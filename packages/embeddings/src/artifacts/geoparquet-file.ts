import { zstdCompressSync } from 'node:zlib'

import type { ParquetType, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

import { type BoundingBox, type Polygon, boundsOf, encodeWkb } from './wkb.ts'

/** Result of writing a file. */
export interface GeoParquetSummary {
  readonly rows: number
  readonly bytes: number
  /** Bounding box of all geometries; null without rows. */
  readonly bbox: BoundingBox | null
}

/** A column besides geometry and embedding; without nulls. */
export interface ColumnSpec {
  readonly name: string
  readonly type: 'int32' | 'int64' | 'float' | 'string'
}

export interface ParquetSetup {
  readonly columns: readonly ColumnSpec[]
  /** Length of an embedding. */
  readonly dims: number
  /** JSON for the file's key `emb`: model, source and parameters of the embeddings. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Some rows, column by column; all of one length. */
export interface GeoRows {
  readonly columns: Readonly<Record<string, ArrayLike<number> | readonly string[]>>
  /** One polygon per row, or its parts on both sides of the antimeridian. */
  readonly geometries: readonly (readonly Polygon[])[]
  /** `rows · dims`. */
  readonly embeddings: Float32Array
}

/** Methods of the thread; it emits the bytes of the file as events. */
export interface ParquetMethods {
  append(rows: GeoRows): void
  finish(input: null): GeoParquetSummary
}

/** Maximum rows of a row group. */
const MAX_ROWS = 5000
/** Maximum bytes of the embeddings of a row group; the encoder needs about ten times as much memory. */
const MAX_BYTES = 2 << 20

const PHYSICAL = { int32: 'INT32', int64: 'INT64', float: 'FLOAT', string: 'BYTE_ARRAY' } as const
const BBOX = ['xmin', 'ymin', 'xmax', 'ymax'] as const

/**
 * Encodes a GeoParquet file row group by row group. Synchronous: meant for a thread of its own.
 *
 * Source: GeoParquet 1.1.0.
 */
export class GeoParquetFile {
  readonly #setup: ParquetSetup
  readonly #writer: StreamWriter
  readonly #parquet: ParquetWriter
  readonly #groupRows: number
  #rows: RowGroup
  #bbox: BoundingBox | null = null
  #kinds = new Set<string>()
  #count = 0

  constructor(setup: ParquetSetup, emit: (bytes: Uint8Array<ArrayBuffer>) => void) {
    this.#setup = setup
    this.#writer = new StreamWriter(emit)
    const compressors = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) }
    this.#parquet = new ParquetWriter({ writer: this.#writer, schema: schemaOf(setup), codec: 'ZSTD', compressors })
    this.#groupRows = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_BYTES / (setup.dims * 4))))
    this.#rows = emptyGroup(setup)
  }

  append(rows: GeoRows): void {
    const { dims, columns } = this.#setup
    const { geometries, embeddings } = rows
    if (embeddings.length !== geometries.length * dims) {
      throw new RangeError(
        `${geometries.length} rows need ${geometries.length * dims} numbers, not ${embeddings.length}`,
      )
    }
    for (const [i, polygons] of geometries.entries()) {
      const box = boundsOf(polygons)
      this.#bbox = this.#bbox ? unite(this.#bbox, box) : box
      this.#kinds.add(polygons.length === 1 ? 'Polygon' : 'MultiPolygon')
      this.#rows.geometry.push(encodeWkb(polygons))
      this.#rows.bbox.push({ xmin: box[0], ymin: box[1], xmax: box[2], ymax: box[3] })
      this.#rows.embedding.push(Array.from(embeddings.subarray(i * dims, (i + 1) * dims)))
      for (const { name, type } of columns) {
        const value = rows.columns[name]?.[i]
        if (value === undefined) throw new RangeError(`column ${name} has no row ${i}`)
        this.#rows.columns.get(name)!.push(type === 'int64' ? BigInt(value) : value)
      }
      if (this.#rows.geometry.length === this.#groupRows) this.#writeGroup()
    }
  }

  finish(): GeoParquetSummary {
    if (this.#rows.geometry.length > 0) this.#writeGroup()
    this.#parquet.kvMetadata = [
      { key: 'geo', value: JSON.stringify(this.#geoMetadata()) },
      { key: 'emb', value: JSON.stringify(this.#setup.metadata) },
    ]
    void this.#parquet.finish() // synchronous, as our writer is
    this.#writer.flush()
    return { rows: this.#count, bytes: this.#writer.offset, bbox: this.#bbox }
  }

  #writeGroup(): void {
    const { geometry, bbox, embedding, columns } = this.#rows
    const plain = [...columns].map(([name, data]) => ({ name, data }))
    void this.#parquet.write({
      columnData: [
        ...plain,
        { name: 'geometry', data: geometry, statistics: false },
        { name: 'bbox', data: bbox },
        { name: 'embedding', data: embedding, encoding: 'BYTE_STREAM_SPLIT', statistics: false },
      ],
      rowGroupSize: geometry.length,
    })
    this.#count += geometry.length
    this.#rows = emptyGroup(this.#setup)
  }

  #geoMetadata(): object {
    const covering = Object.fromEntries(BBOX.map((field) => [field, ['bbox', field]]))
    const geometry = {
      encoding: 'WKB',
      geometry_types: [...this.#kinds].toSorted(),
      orientation: 'counterclockwise',
      ...(this.#bbox && { bbox: this.#bbox }),
      covering: { bbox: covering },
    }
    return { version: '1.1.0', primary_column: 'geometry', columns: { geometry } }
  }
}

/** Passes the written bytes on at the end of each row group and of the file. */
class StreamWriter extends ByteWriter {
  readonly #emit: (bytes: Uint8Array<ArrayBuffer>) => void

  constructor(emit: (bytes: Uint8Array<ArrayBuffer>) => void) {
    super(1 << 16)
    this.#emit = emit
  }

  flush(): void {
    if (this.index === 0) return
    this.#emit(new Uint8Array(this.buffer.slice(0, this.index)))
    this.index = 0
  }
}

interface RowGroup {
  readonly columns: ReadonlyMap<string, unknown[]>
  readonly geometry: Uint8Array[]
  readonly bbox: Readonly<Record<(typeof BBOX)[number], number>>[]
  readonly embedding: number[][]
}

function emptyGroup({ columns }: ParquetSetup): RowGroup {
  return { columns: new Map(columns.map(({ name }) => [name, []])), geometry: [], bbox: [], embedding: [] }
}

function schemaOf({ columns }: ParquetSetup): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length + 3 },
    ...columns.map(({ name, type }) => leaf(name, PHYSICAL[type], type === 'string')),
    leaf('geometry', 'BYTE_ARRAY'),
    group('bbox', BBOX.length),
    ...BBOX.map((name) => leaf(name, 'DOUBLE')),
    group('embedding', 1, true),
    { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
    leaf('element', 'FLOAT'),
  ]
}

function leaf(name: string, type: ParquetType, text = false): SchemaElement {
  return { name, type, repetition_type: 'REQUIRED', ...(text && { converted_type: 'UTF8' }) }
}

function group(name: string, size: number, list = false): SchemaElement {
  return { name, num_children: size, repetition_type: 'REQUIRED', ...(list && { converted_type: 'LIST' }) }
}

function unite(a: BoundingBox, b: BoundingBox): BoundingBox {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
}
