import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ObjectStore } from '@terrane/storage'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BUCKET, bytesOf, readChecked, writeManifest, writePart } from '../src/backup/manifest.ts'
import { placeOf } from '../src/backup/places.ts'

let folder: string
let place: ObjectStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-backup-'))
  place = placeOf(folder, {})
  await place.createBucket(BUCKET, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
})
afterEach(() => rm(folder, { recursive: true }))

async function write(): Promise<void> {
  const database = { before: [], tables: [], after: [], inventory: [], migrations: [], warnings: [] }
  const part = await writePart(place, 'storage/0', bytesOf('an object'))
  const object = { bucket: 'b', key: 'k', contentType: 'text/plain', cacheControl: 'no-cache', metadata: {}, part }
  await writeManifest(place, {
    format: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    database,
    rows: [await writePart(place, 'rows/0.gz', bytesOf('rows'))],
    stores: { storage: { buckets: [], objects: [object] }, functions: { buckets: [], objects: [] } },
    keys: await writePart(place, 'keys.json', bytesOf('{}')),
  })
}

test('a whole backup is read as it was written', async () => {
  await write()
  expect((await readChecked(place)).stores.storage.objects[0]).toMatchObject({ key: 'k', part: { bytes: 9 } })
})

test('a backup that was broken off is none', async () => {
  await write()
  await place.remove(BUCKET, ['complete.sha256'])
  await expect(readChecked(place)).rejects.toMatchObject({ code: 'NOT_A_BACKUP' })
})

test.each(['rows/0.gz', 'storage/0', 'keys.json', 'manifest.json'])('a change of %s is noticed', async (name) => {
  await write()
  const chunks: Uint8Array[] = []
  for await (const chunk of (await place.get(BUCKET, name)).body) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  bytes[1]! ^= 1
  await place.put(BUCKET, name, bytesOf(bytes), { upsert: true })
  await expect(readChecked(place)).rejects.toMatchObject({
    code: 'BACKUP_DAMAGED',
    message: expect.stringContaining(name),
  })
  await place.remove(BUCKET, [name])
  await expect(readChecked(place)).rejects.toMatchObject({ code: 'BACKUP_DAMAGED' })
})
