import { createHash } from 'node:crypto'
import type { DatabaseOutline } from '@terrane/database/transfer'
import type { BucketRules, ObjectStore } from '@terrane/storage'
import { backupDamaged, notABackup } from './errors.ts'

/** Bucket of a backup in the storage that it is written to. */
export const BUCKET = 'backup'
const MANIFEST = 'manifest.json'
/** Checksum of the manifest, which is written last. */
const COMPLETE = 'complete.sha256'

/** One object of a backup, with its size and checksum. */
export interface Part {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

/** An object of the project, and the part with its bytes. */
export interface SavedObject {
  readonly bucket: string
  readonly key: string
  readonly contentType: string
  readonly cacheControl: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly part: Part
}

export interface SavedStore {
  readonly buckets: readonly ({ readonly id: string } & BucketRules)[]
  readonly objects: readonly SavedObject[]
}

/** Manifest of a backup. */
export interface Manifest {
  readonly format: 1
  readonly createdAt: string
  readonly database: DatabaseOutline
  /** Compressed rows of the tables in the outline, in their order. */
  readonly rows: readonly Part[]
  readonly stores: { readonly storage: SavedStore; readonly functions: SavedStore }
  /** The keys of a local stack; null without them. */
  readonly keys: Part | null
}

/** Writes a part and returns its size and checksum. */
export async function writePart(to: ObjectStore, name: string, source: AsyncIterable<Uint8Array>): Promise<Part> {
  const hash = createHash('sha256')
  let bytes = 0
  const counted = async function* () {
    for await (const chunk of source) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  await to.put(BUCKET, name, counted())
  return { name, bytes, sha256: hash.digest('hex') }
}

export async function writeManifest(to: ObjectStore, manifest: Manifest): Promise<void> {
  const { sha256 } = await writePart(to, MANIFEST, bytesOf(JSON.stringify(manifest)))
  await to.put(BUCKET, COMPLETE, bytesOf(sha256))
}

/** Reads a manifest and checks every part. @throws NOT_A_BACKUP for an incomplete one, BACKUP_DAMAGED */
export async function readChecked(from: ObjectStore): Promise<Manifest> {
  if (!(await from.getBucket(BUCKET)) || !(await from.head(BUCKET, COMPLETE))) throw notABackup()
  const text = (await collect(from, MANIFEST)).toString()
  if (createHash('sha256').update(text).digest('hex') !== (await collect(from, COMPLETE)).toString()) {
    throw backupDamaged({ part: MANIFEST })
  }
  const manifest = JSON.parse(text) as Manifest
  if (manifest.format !== 1) throw notABackup()
  const { storage, functions } = manifest.stores
  const objects = [...storage.objects, ...functions.objects].map(({ part }) => part)
  for (const part of [...manifest.rows, ...objects, ...(manifest.keys ? [manifest.keys] : [])]) await check(from, part)
  return manifest
}

export async function* readPart(from: ObjectStore, { name }: Part): AsyncGenerator<Uint8Array> {
  yield* (await from.get(BUCKET, name)).body
}

/** The bytes of a text or a buffer as a stream. */
export async function* bytesOf(content: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content)
}

async function check(from: ObjectStore, part: Part): Promise<void> {
  const found = await from.head(BUCKET, part.name)
  if (found?.size !== part.bytes) throw backupDamaged({ part: part.name })
  const hash = createHash('sha256')
  for await (const chunk of readPart(from, part)) hash.update(chunk)
  if (hash.digest('hex') !== part.sha256) throw backupDamaged({ part: part.name })
}

async function collect(from: ObjectStore, name: string): Promise<Buffer> {
  if (!(await from.head(BUCKET, name))) throw backupDamaged({ part: name })
  const chunks: Uint8Array[] = []
  for await (const chunk of (await from.get(BUCKET, name)).body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
