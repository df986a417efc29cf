import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { TerraneError } from '@terrane/core'
import { Upload } from 'tus-js-client'
import { ask, type Connection } from './connection.ts'

/** Where files go that are brought by a command, as by the console. */
const BUCKET = 'uploads'
/** As clients of Supabase storage send them. */
const CHUNK_BYTES = 6 * 1024 * 1024

export interface StoredFile {
  readonly bucket: string
  readonly path: string
}

/** Brings a local file into the storage of the project, in chunks that are tried again when the connection breaks. */
export async function upload(
  connection: Connection,
  file: string,
  onPercent: (percent: number) => void,
): Promise<StoredFile> {
  const size = await sizeOf(file)
  await makeBucket(connection)
  const name = basename(file).replaceAll(/[^\w.-]+/g, '_')
  const path = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}/${name}`
  await new Promise<void>((resolve, reject) => {
    new Upload(createReadStream(file), {
      endpoint: `${connection.url}/storage/v1/upload/resumable`,
      uploadSize: size,
      chunkSize: CHUNK_BYTES,
      retryDelays: [0, 1000, 3000, 5000, 10_000],
      headers: { apikey: connection.key, authorization: `Bearer ${connection.key}` },
      metadata: { bucketName: BUCKET, objectName: path, contentType: 'application/octet-stream' },
      onProgress: (sent, total) => onPercent(total ? (100 * sent) / total : 100),
      onSuccess: () => resolve(),
      onError: reject,
    }).start()
  })
  return { bucket: BUCKET, path }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null)
  if (found?.isFile()) return found.size
  throw new TerraneError('FILE_UNREADABLE', 'not_found', `There is no file ${file}`, {
    hint: 'Give the path of a file, or an https address.',
  })
}

async function makeBucket(connection: Connection): Promise<void> {
  const body = JSON.stringify({ id: BUCKET, name: BUCKET, public: false })
  await ask(connection, '/storage/v1/bucket', { method: 'POST', body }).catch((error: unknown) => {
    if (!/exists|duplicate/i.test(error instanceof Error ? error.message : '')) throw error
  })
}

/** A table name made of a file's: `My Parcels (2).gpkg` → `my_parcels_2`. */
export function tableNameOf(file: string): string {
  const words = basename(file)
    .split('.', 1)
    .join('')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, 60)
  const bare = words.replace(/^_/, '').replace(/_$/, '')
  return /^[a-z]/.test(bare) ? bare : `t_${bare}`
}
