import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { openDatabase } from '@terrane/database'
import { DatabaseReader } from '@terrane/database/transfer'
import { objectNotFound, type ObjectStore } from '@terrane/storage'
import { placeTaken } from './errors.ts'
import { BUCKET, writeManifest, writePart, type SavedObject, type SavedStore } from './manifest.ts'
import type { Places } from './places.ts'

/** Result of a backup. */
export interface Saved {
  readonly tables: number
  readonly objects: number
  readonly bytes: number
  readonly warnings: readonly string[]
}

/**
 * Saves a snapshot of the database, then the objects, the archives of deployed functions and the keys, while the apps
 * run. The backup is valid once its last part is written.
 *
 * @throws PLACE_TAKEN when the target already holds a backup
 */
export async function backUp(from: Places & { readonly databaseUrl: string }, to: ObjectStore): Promise<Saved> {
  if (await to.getBucket(BUCKET)) throw placeTaken({ place: 'The place of the backup' })
  await to.createBucket(BUCKET, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  const warnings: string[] = []
  const rows = []
  await using database = await DatabaseReader.open(from.databaseUrl)
  const { outline } = database
  warnings.push(...outline.warnings)
  for (const [i, table] of outline.tables.entries()) {
    rows.push(await writePart(to, `rows/${i}.gz`, compressed(database.rows(table))))
  }
  await database[Symbol.asyncDispose]()
  const storage = await saveStore(from.storage, to, 'storage', warnings)
  const functions = await saveStore(from.functions, to, 'functions', warnings)
  const keysPath = join(from.home, 'keys.json')
  const keys = existsSync(keysPath) ? await writePart(to, 'keys.json', createReadStream(keysPath)) : null
  await writeManifest(to, {
    format: 1,
    createdAt: new Date().toISOString(),
    database: outline,
    rows,
    stores: { storage, functions },
    keys,
  })
  const objects = [...storage.objects, ...functions.objects]
  const bytes = [...rows, ...objects.map(({ part }) => part)].reduce((sum, part) => sum + part.bytes, 0)
  return { tables: rows.length, objects: objects.length, bytes, warnings }
}

/** Records that a backup has ended, for the workers' metric of the age of the last backup. */
export async function recordBackup(databaseUrl: string, place: 'file' | 's3', bytes: number): Promise<void> {
  await using database = await openDatabase({ url: databaseUrl, max: 1, applicationName: 'terrane backup' })
  await database.query('insert into terrane.backups (place, bytes) values ($1, $2)', [place, bytes])
}

async function saveStore(from: ObjectStore, to: ObjectStore, name: string, warnings: string[]): Promise<SavedStore> {
  const buckets = await from.listBuckets()
  const objects: SavedObject[] = []
  for (const { id } of buckets) {
    for await (const { key } of from.list(id, '')) {
      try {
        const { info, body } = await from.get(id, key)
        const part = await writePart(to, `${name}/${objects.length}`, body)
        const { contentType, cacheControl, metadata } = info
        objects.push({ bucket: id, key, contentType, cacheControl, metadata, part })
      } catch (error) {
        if ((error as { code?: unknown }).code !== objectNotFound({ bucket: id, key }).code) throw error
        warnings.push(`${id}/${key} was deleted while the backup was made`)
      }
    }
  }
  return {
    buckets: buckets.map(({ id, public: isPublic, fileSizeLimit, allowedMimeTypes }) => ({
      id,
      public: isPublic,
      fileSizeLimit,
      allowedMimeTypes,
    })),
    objects,
  }
}

function compressed(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return Readable.from(source).compose(createGzip({ level: 1 }))
}
