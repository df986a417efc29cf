import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { refuseOtherVersion } from '@terrane/database'
import { refuseUnlessEmpty, writeDatabase, type Transferred } from '@terrane/database/transfer'
import { startPgliteServer } from '@terrane/pglite-server'
import type { ObjectStore } from '@terrane/storage'
import { placeTaken } from './errors.ts'
import { readChecked, readPart, type SavedStore } from './manifest.ts'
import type { Places } from './places.ts'

/**
 * Restores a backup into empty locations. The backup is checked completely, and the locations are checked, before
 * anything is written. The database is written last, in one transaction. Without the URL of a database, an embedded one
 * is created in the home folder.
 *
 * @throws NOT_A_BACKUP, BACKUP_DAMAGED, SCHEMA_TOO_NEW, SCHEMA_TOO_OLD, PLACE_TAKEN, DATABASE_NOT_EMPTY, TRANSFER_DIFFERS
 */
export async function restore(from: ObjectStore, to: Places): Promise<Transferred & { readonly objects: number }> {
  const manifest = await readChecked(from)
  await refuseOtherVersion(manifest.database.migrations)
  const { storage, functions } = manifest.stores
  await refuseBuckets(to.storage, 'The storage')
  await refuseBuckets(to.functions, 'The storage of functions')
  const keysPath = join(to.home, 'keys.json')
  if (manifest.keys && existsSync(keysPath)) throw placeTaken({ place: keysPath })
  await using database = await openTarget(to)
  await refuseUnlessEmpty(database.url)

  await restoreStore(from, storage, to.storage)
  await restoreStore(from, functions, to.functions)
  if (manifest.keys) {
    await mkdir(to.home, { recursive: true, mode: 0o700 })
    await writeFile(keysPath, Readable.from(readPart(from, manifest.keys)), { mode: 0o600, flag: 'wx' })
  }
  const rowsOf = new Map(manifest.database.tables.map((table, i) => [table, manifest.rows[i]!]))
  const done = await writeDatabase(database.url, manifest.database, (table) =>
    Readable.from(readPart(from, rowsOf.get(table)!)).compose(createGunzip()),
  )
  return { ...done, objects: storage.objects.length + functions.objects.length }
}

async function openTarget({ databaseUrl, home }: Places): Promise<{ readonly url: string } & AsyncDisposable> {
  if (databaseUrl !== null) return { url: databaseUrl, [Symbol.asyncDispose]: async () => {} }
  const dataDir = join(home, 'pglite')
  // Another process may have opened the database.
  if (existsSync(dataDir)) throw placeTaken({ place: dataDir })
  await mkdir(home, { recursive: true, mode: 0o700 })
  return await startPgliteServer({ dataDir })
}

async function refuseBuckets(store: ObjectStore, place: string): Promise<void> {
  const [bucket] = await store.listBuckets()
  if (bucket) throw placeTaken({ place: `${place} has a bucket '${bucket.id}': it` })
}

async function restoreStore(from: ObjectStore, saved: SavedStore, to: ObjectStore): Promise<void> {
  for (const { id, ...rules } of saved.buckets) await to.createBucket(id, rules)
  for (const { bucket, key, part, ...options } of saved.objects) {
    await to.put(bucket, key, readPart(from, part), options)
  }
}
