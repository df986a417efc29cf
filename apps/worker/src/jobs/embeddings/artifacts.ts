import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { quoteIdentifier, type Database } from '@terrane/database'
import { stagedPages, vectorNumbers } from '@terrane/database/vector-pages'
import type { EmbeddingKind, EmbeddingTableShape } from '@terrane/database/geoembeddings'
import type { PackedBytes, ScanColumn } from '@terrane/database/scan'
import type { JobRun, StagedTable } from '@terrane/database/staging'
import {
  openGeoParquet,
  stacItem,
  type ByteSink,
  type ColumnSpec,
  type GeoRows,
  type Polygon,
  type StacItemRequest,
} from '@terrane/embeddings'
import { upload, type ArtifactStore, type Upload } from '@terrane/storage'
import { uploadNames } from '../publish-object.ts'

/** The bucket of embedding artifacts; it is created private when missing. */
const ARTIFACT_BUCKET = 'geoembeddings'

/** Bytes of the rows that are read at once. */
const PAGE_BYTES = 2 ** 23
/** Approximate size of the geometry and the attributes of a row, in bytes. */
const ROW_BYTES = 512

/** Geometry type in WKB. */
const MULTIPOLYGON = 6

const TILE_COLUMNS: readonly ColumnSpec[] = [
  { name: 'tile_x', type: 'int32' },
  { name: 'tile_y', type: 'int32' },
  { name: 'px', type: 'int32' },
  { name: 'py', type: 'int32' },
  { name: 'valid_fraction', type: 'float' },
]

/** The attributes of each kind of row, with the types of the table. */
const ATTRIBUTES: Readonly<Record<EmbeddingKind, readonly ColumnSpec[]>> = {
  tile: TILE_COLUMNS,
  patch: [...TILE_COLUMNS, { name: 'patch', type: 'int32' }],
  h3: [{ name: 'h3_index', type: 'string' }],
  place: [
    { name: 'place_id', type: 'string' },
    { name: 'datetime', type: 'string' },
    { name: 'valid_fraction', type: 'float' },
  ],
}

/** An unknown time is an empty text, because columns of the file have no nulls. */
const DATETIME = `coalesce(to_char(datetime at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '')`

/** Writes the rows of a loaded but unfinished staging table, in their order, to a GeoParquet file. */
export async function writeArtifact(
  database: Database,
  staged: StagedTable,
  { kind, dims }: EmbeddingTableShape,
  metadata: Readonly<Record<string, unknown>>,
  path: string,
): Promise<void> {
  const columns: readonly ColumnSpec[] = [{ name: 'id', type: 'int64' }, ...ATTRIBUTES[kind]]
  await using file = await open(path, 'w')
  const sink: ByteSink = {
    write: async (bytes) => {
      let at = 0
      while (at < bytes.byteLength) at += (await file.write(bytes, at)).bytesWritten
    },
  }
  await using writer = openGeoParquet({ columns, dims, metadata }, sink)
  const scanned: ScanColumn[] = [
    ...columns.map(({ name, type }) => ({
      sql: name === 'datetime' ? DATETIME : quoteIdentifier(name),
      type: SCANNED[type],
    })),
    { sql: "st_asbinary(geom, 'NDR')", type: 'bytes' },
    { sql: 'vector_send(embedding)', type: 'bytes' },
  ]
  const limit = Math.max(1, Math.floor(PAGE_BYTES / (4 * dims + ROW_BYTES)))
  for await (const batch of stagedPages(database, staged, scanned, limit)) {
    const values = batch.columns.slice(0, -2)
    const [geometries, embeddings] = batch.columns.slice(-2) as [PackedBytes, PackedBytes]
    await writer.append({
      columns: Object.fromEntries(columns.map(({ name }, i) => [name, values[i]])) as GeoRows['columns'],
      geometries: Array.from(geometries.ends, (end, i) =>
        outerRings(geometries.bytes.subarray(i && geometries.ends[i - 1], end)),
      ),
      embeddings: vectorNumbers(embeddings, dims),
    })
  }
  await writer.finish()
  await file.sync()
}

const SCANNED = { int32: 'int8', int64: 'int8', float: 'float8', string: 'text' } as const

/** Outer rings of little-endian WKB polygons as the table stores them: one ring each. */
function outerRings(wkb: Uint8Array): Polygon[] {
  const view = new DataView(wkb.buffer, wkb.byteOffset, wkb.byteLength)
  let at = 5
  const polygons: Polygon[] = []
  const parts = view.getUint32(1, true) === MULTIPOLYGON ? view.getUint32(at, true) : 1
  if (parts !== 1 || view.getUint32(1, true) === MULTIPOLYGON) at += 4 + 5
  for (let part = 0; part < parts; part++) {
    const positions = view.getUint32(at + 4, true)
    at += 8
    const ring = Array.from({ length: positions }, (_, i): [number, number] => [
      view.getFloat64(at + 16 * i, true),
      view.getFloat64(at + 16 * i + 8, true),
    ])
    polygons.push([ring])
    at += 16 * positions + 5
  }
  return polygons
}

/** Uploaded artifacts under temporary names. They get their final names when the table is swapped in. */
export interface UploadedArtifacts {
  /** Their final names. */
  readonly files: readonly { readonly bucket: string; readonly path: string; readonly bytes: number }[]
  /** Renames them to their final names, replacing artifacts of an earlier table of the name: all, or none. */
  place(): Promise<void>
  /** Removes artifacts that have no final name yet. */
  discard(): Promise<void>
}

/** Uploads the file and the STAC item that describes it, under temporary names of the run. */
export async function uploadArtifacts(
  store: ArtifactStore,
  { tableName, run }: { readonly tableName: string; readonly run: JobRun },
  path: string,
  item: Omit<StacItemRequest, 'embeddings' | 'id'>,
  signal: AbortSignal,
): Promise<UploadedArtifacts> {
  await ensureBucket(store)
  const bytes = (await stat(path)).size
  const description = { ...item, id: tableName, embeddings: { href: `./${tableName}.parquet`, bytes } }
  const { temporaryName, abandonedNames } = uploadNames(run)
  const text = Buffer.from(JSON.stringify(stacItem(description), null, 2))
  const parts = [
    { ending: 'parquet', contentType: 'application/vnd.apache.parquet', bytes, body: () => createReadStream(path) },
    { ending: 'stac.json', contentType: 'application/geo+json', bytes: text.length, body: () => [text] },
  ].map((part) => ({ ...part, key: `${tableName}/${tableName}.${part.ending}` }))
  const uploads: Upload[] = []
  const discard = async () => void (await Promise.all(uploads.map((part) => part.discard())))
  try {
    for (const { ending, key, contentType, bytes: size, body } of parts) {
      signal.throwIfAborted()
      const pieces = body() as unknown as AsyncIterable<Uint8Array>
      const names = {
        temporaryName: `${temporaryName}.${ending}`,
        abandonedNames: abandonedNames.map((name) => `${name}.${ending}`),
      }
      const address = { bucket: ARTIFACT_BUCKET, key }
      uploads.push(await upload(store, address, pieces, { contentType, size, upsert: true, signal, ...names }))
    }
  } catch (error) {
    await discard()
    throw error
  }
  return {
    files: parts.map((part) => ({ bucket: ARTIFACT_BUCKET, path: part.key, bytes: part.bytes })),
    place: async () => {
      try {
        for (const part of uploads) await part.place()
      } catch (error) {
        await store.remove(
          ARTIFACT_BUCKET,
          parts.map((part) => part.key),
        )
        throw error
      }
    },
    discard,
  }
}

async function ensureBucket(store: ArtifactStore): Promise<void> {
  if (await store.getBucket(ARTIFACT_BUCKET)) return
  try {
    await store.createBucket(ARTIFACT_BUCKET, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  } catch (error) {
    // Another job may have created the bucket in the meantime.
    if (!(await store.getBucket(ARTIFACT_BUCKET))) throw error
  }
}
