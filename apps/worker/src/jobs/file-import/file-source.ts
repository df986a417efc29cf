import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Ogr2ogrImport } from '@terrane/contracts'
import { downloadToFile, type GuardedFetch } from '@terrane/service'
import { objectTooLarge, type ObjectStore } from '@terrane/storage'
import { fileMissing } from './errors.ts'

/** Dependencies for copying a file. */
export interface FileSourceDeps {
  readonly fetch: GuardedFetch
  readonly store: Pick<ObjectStore, 'get'>
  readonly signal: AbortSignal
  readonly onBytes?: (done: number, total: number | null) => void
}

/**
 * Writes the file of a request to a path: from a URL by the guarded fetch, or from the project's storage.
 *
 * @throws FILE_REQUIRED, OBJECT_TOO_LARGE, and what the fetch and the storage throw
 */
export async function writeSource(
  { fileUrl, url, storagePath }: Pick<Ogr2ogrImport, 'fileUrl' | 'url' | 'storagePath'>,
  maxBytes: number,
  { fetch, store, signal, onBytes }: FileSourceDeps,
  path: string,
): Promise<void> {
  const address = fileUrl ?? url
  if (address !== undefined) {
    await downloadToFile(fetch, address, path, { maxBytes, signal, ...(onBytes && { onBytes }) })
    return
  }
  if (!storagePath) throw fileMissing()
  const { info, body } = await store.get(storagePath.bucket, storagePath.path, { signal })
  if (info.size > maxBytes) throw objectTooLarge({ limit: maxBytes })
  await pipeline(body, createWriteStream(path, { flags: 'wx' }), { signal })
}
