import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmbeddingKind, EmbeddingTableShape, JobRun } from '@terrane/database'
import {
  openGeoParquet,
  stacItem,
  type ByteSink,
  type ColumnSpec,
  type GeoParquetWriter,
  type GeoRows,
  type StacItemRequest,
} from '@terrane/embeddings'
import { upload, type ArtifactStore, type Upload } from '@terrane/storage'
import { uploadNames } from '../upload-names.ts'
import type { PlacedRow } from './rows.ts'

/** The bucket of embedding artifacts; made private when it is missing. */
const ARTIFACT_BUCKET = 'geoembeddings'

const TILE_COLUMNS: readonly ColumnSpec[] = [
  { name: 'tile_x', type: 'int32' },
  { name: 'tile_y', type: 'int32' },
  { name: 'px', type: 'int32' },
  { name: 'py', type: 'int32' },
  { name: 'valid_fraction', type: 'float' },
]

/** The attributes of each kind of row, as they stand in the table. */
const ATTRIBUTES: Readonly<Record<EmbeddingKind, readonly ColumnSpec[]>> = {
  tile: TILE_COLUMNS,
  patch: [...TILE_COLUMNS, { name: 'patch', type: 'int32' }],
  h3: [{ name: 'h3_index', type: 'string' }],
}

/** A GeoParquet file that grows beside the table, with the same rows in the same order. */
export interface ArtifactFile extends AsyncDisposable {
  append(rows: readonly PlacedRow[]): Promise<void>
  /** Writes the footer. */
  finish(): Promise<void>
  readonly path: string
}

/** Starts the file in the job's folder. */
export async function openArtifact(
  workdir: string,
  { kind, dims }: EmbeddingTableShape,
  metadata: Readonly<Record<string, unknown>>,
): Promise<ArtifactFile> {
  const path = join(workdir, 'embeddings.parquet')
  const file = await open(path, 'w')
  const sink: ByteSink = {
    write: async (bytes) => {
      let at = 0
      while (at < bytes.byteLength) at += (await file.write(bytes, at)).bytesWritten
    },
  }
  const attributes = ATTRIBUTES[kind]
  const columns: ColumnSpec[] = [{ name: 'id', type: 'int64' }, ...attributes]
  const writer: GeoParquetWriter = openGeoParquet({ columns, dims, metadata }, sink)
  return {
    path,
    append: (rows) => writer.append(toGeoRows(rows, dims, attributes)),
    finish: async () => {
      await writer.finish()
      await file.sync()
    },
    [Symbol.asyncDispose]: async () => {
      await writer[Symbol.asyncDispose]()
      await file.close()
    },
  }
}

/** Artifacts in the storage that do not have their names yet: whose those are is known when the table is in its place. */
export interface UploadedArtifacts {
  /** What they will be called. */
  readonly files: readonly { readonly bucket: string; readonly path: string; readonly bytes: number }[]
  /** Gives them their names, in the place of what an earlier table of the name may have left. All of them, or none. */
  place(): Promise<void>
  /** Removes what has not been placed. */
  discard(): Promise<void>
}

/** Uploads the file and the STAC item that describes it, under names of the run's own. */
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
    for (const { ending, key, contentType, body } of parts) {
      signal.throwIfAborted()
      const pieces = body() as unknown as AsyncIterable<Uint8Array>
      const names = {
        temporaryName: `${temporaryName}.${ending}`,
        abandonedNames: abandonedNames.map((name) => `${name}.${ending}`),
      }
      const address = { bucket: ARTIFACT_BUCKET, key }
      uploads.push(await upload(store, address, pieces, { contentType, upsert: true, signal, ...names }))
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
    // Another job may have made it in the meantime.
    if (!(await store.getBucket(ARTIFACT_BUCKET))) throw error
  }
}

function toGeoRows(rows: readonly PlacedRow[], dims: number, attributes: readonly ColumnSpec[]): GeoRows {
  const embeddings = new Float32Array(rows.length * dims)
  rows.forEach((row, i) => embeddings.set(row.embedding, i * dims))
  const columns = attributes.map(({ name }, i) => [name, rows.map((row) => row.attributes[i])] as const)
  return {
    // The attributes of a row are those of its table, whose types are the same.
    columns: { id: rows.map((row) => row.id), ...(Object.fromEntries(columns) as GeoRows['columns']) },
    geometries: rows.map((row) => row.parts),
    embeddings,
  }
}
