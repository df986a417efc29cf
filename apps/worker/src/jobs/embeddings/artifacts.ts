import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmbeddingKind, EmbeddingTableShape } from '@terrane/database'
import {
  openGeoParquet,
  stacItem,
  type ByteSink,
  type ColumnSpec,
  type GeoParquetWriter,
  type GeoRows,
  type StacItemRequest,
} from '@terrane/embeddings'
import { publish, type ArtifactStore, type ObjectInfo } from '@terrane/storage'
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

/** What the artifacts of one job are called. */
function artifactKeys(tableName: string): { parquet: string; stac: string } {
  return { parquet: `${tableName}/${tableName}.parquet`, stac: `${tableName}/${tableName}.stac.json` }
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

/** Uploads the file and the STAC item that describes it. A run before this one may have left some of it: it is replaced. */
export async function uploadArtifacts(
  store: ArtifactStore,
  tableName: string,
  path: string,
  item: Omit<StacItemRequest, 'embeddings' | 'id'>,
  signal: AbortSignal,
): Promise<{ bucket: string; path: string; bytes: number }[]> {
  if (!(await store.getBucket(ARTIFACT_BUCKET))) {
    await store.createBucket(ARTIFACT_BUCKET, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  }
  const keys = artifactKeys(tableName)
  const address = (key: string) => ({ bucket: ARTIFACT_BUCKET, key })
  const parquet = await publish(store, address(keys.parquet), createReadStream(path) as AsyncIterable<Uint8Array>, {
    contentType: 'application/vnd.apache.parquet',
    upsert: true,
    signal,
  })
  const text = JSON.stringify(
    stacItem({ ...item, id: tableName, embeddings: { href: `./${tableName}.parquet`, bytes: parquet.size } }),
    null,
    2,
  )
  const stac = await publish(store, address(keys.stac), [Buffer.from(text)] as unknown as AsyncIterable<Uint8Array>, {
    contentType: 'application/geo+json',
    upsert: true,
    signal,
  })
  return [parquet, stac].map((info: ObjectInfo) => ({ bucket: info.bucket, path: info.key, bytes: info.size }))
}

/** Takes back what {@link uploadArtifacts} put, however far it came. */
export async function removeArtifacts(store: ArtifactStore, tableName: string): Promise<void> {
  if (!(await store.getBucket(ARTIFACT_BUCKET))) return
  const keys = artifactKeys(tableName)
  await store.remove(ARTIFACT_BUCKET, [keys.parquet, keys.stac])
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
