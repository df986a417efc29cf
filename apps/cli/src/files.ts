import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { TerraneError } from '@terrane/core/errors'
import { ask, request, type Connection } from './connection.ts'

/** Buckets for files that a command or the console uploads, and for results that are downloaded. */
const UPLOADS = 'uploads'
const EXPORTS = 'exports'
/** Chunk size of Supabase storage clients. */
const CHUNK_BYTES = 6 * 1024 * 1024

export interface StoredFile {
  readonly bucket: string
  readonly path: string
}

/** Uploads a local file into the storage of the project, in chunks that are retried when the connection breaks. */
export async function upload(
  connection: Connection,
  file: string,
  onPercent: (percent: number) => void,
): Promise<StoredFile> {
  const size = await sizeOf(file)
  await makeBucket(connection, UPLOADS)
  const name = basename(file).replaceAll(/[^\w.-]+/g, '_')
  const path = `${newFolder()}/${name}`
  // Imported here so that other commands start sooner, as are the two modules below.
  const { Upload } = await import('tus-js-client')
  await new Promise<void>((resolve, reject) => {
    new Upload(createReadStream(file), {
      endpoint: `${connection.url}/storage/v1/upload/resumable`,
      uploadSize: size,
      chunkSize: CHUNK_BYTES,
      retryDelays: [0, 1000, 3000, 5000, 10_000],
      headers: { apikey: connection.key, authorization: `Bearer ${connection.key}` },
      metadata: { bucketName: UPLOADS, objectName: path, contentType: 'application/octet-stream' },
      onProgress: (sent, total) => onPercent(total ? (100 * sent) / total : 100),
      onSuccess: () => resolve(),
      onError: reject,
    }).start()
  })
  return { bucket: UPLOADS, path }
}

/**
 * The file to upload for a path: itself, or a temporary zip of the files of a Shapefile, a MapInfo data set or a file
 * geodatabase. Temporary files are deleted when the result is disposed of.
 *
 * @throws DATASET_NOT_WHOLE with the files that are missing
 */
export async function datasetFile(path: string): Promise<{ readonly file: string } & AsyncDisposable> {
  const found = await partsOf(path)
  if (found === null) return { file: path, [Symbol.asyncDispose]: async () => {} }
  const folder = await mkdtemp(join(tmpdir(), 'terrane-zip-'))
  const file = join(folder, `${found.stem}.zip`)
  await pipeline(zipOf(found.parts), createWriteStream(file))
  return { file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

interface Part {
  readonly name: string
  readonly path: string
}

async function partsOf(path: string): Promise<{ readonly stem: string; readonly parts: readonly Part[] } | null> {
  const folder = dirname(path)
  const name = basename(path)
  if (/\.gdb$/i.test(name) && (await stat(path).catch(() => null))?.isDirectory()) {
    const names = (await readdir(path)).toSorted()
    return { stem: name, parts: names.map((file) => ({ name: `${name}/${file}`, path: join(path, file) })) }
  }
  const { datasetFiles } = await import('@terrane/core')
  const known = datasetFiles(name, await readdir(folder).catch(() => []))
  if (known === null || known.files.length === 0) return null
  const { stem, files, missing } = known
  if (missing.length > 0) {
    const others = missing.map((ending) => `${stem}.${ending}`).join(' and ')
    throw new TerraneError(
      'DATASET_NOT_WHOLE',
      'invalid',
      `${name} is incomplete: ${others} must be in the same folder`,
    )
  }
  return { stem, parts: files.map((file) => ({ name: file, path: join(folder, file) })) }
}

/** The bytes of an uncompressed zip of files. */
async function* zipOf(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  const { Zip, ZipPassThrough } = await import('fflate')
  let ready: Uint8Array[] = []
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    ready.push(bytes)
  })
  for (const { name, path } of parts) {
    const entry = new ZipPassThrough(name)
    zip.add(entry)
    for await (const chunk of createReadStream(path)) {
      entry.push(chunk as Buffer)
      yield* ready
      ready = []
    }
    entry.push(new Uint8Array(), true)
  }
  zip.end()
  yield* ready
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null)
  if (found?.isFile()) return found.size
  throw new TerraneError('FILE_UNREADABLE', 'not_found', `There is no file ${file}`, {
    hint: 'Give the path of a file, or an https address.',
  })
}

/** A path in the storage for a job's result, to be downloaded under this name. */
export async function placeFor(connection: Connection, name: string): Promise<StoredFile> {
  await makeBucket(connection, EXPORTS)
  return { bucket: EXPORTS, path: `${newFolder()}/${name}` }
}

/** Moves a stored file to disk. An existing file is replaced only after all bytes have arrived. */
export async function fetchAway(connection: Connection, { bucket, path }: StoredFile, to: string): Promise<void> {
  const { body } = await request(connection, `/storage/v1/object/${bucket}/${path}`)
  await replaceFile(to, body!)
  await ask(connection, `/storage/v1/object/${bucket}/${path}`, { method: 'DELETE' })
}

/** Writes a temporary file that replaces `to` after all bytes have arrived, and is removed after a failure. */
export async function replaceFile(to: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const draft = `${to}.${randomBytes(4).toString('hex')}.part`
  try {
    await pipeline(body, createWriteStream(draft, { flags: 'wx' }))
    await rename(draft, to)
  } finally {
    await rm(draft, { force: true })
  }
}

async function makeBucket(connection: Connection, id: string): Promise<void> {
  const body = JSON.stringify({ id, name: id, public: false })
  await ask(connection, '/storage/v1/bucket', { method: 'POST', body }).catch((error: unknown) => {
    if (!/exists|duplicate/i.test(error instanceof Error ? error.message : '')) throw error
  })
}

/** A folder name for an upload: the time, and random letters against collisions within a second. */
function newFolder(): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  return `${time}-${randomBytes(4).toString('hex')}`
}
