import { createHash } from 'node:crypto'
import { type BigIntStats, createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

import { modelTampered } from '../errors.ts'
import type { ModelFile } from './manifest.ts'

/** Size and checksum of a file on disk. */
export interface FileDigest {
  readonly size: number
  readonly sha256: string
}

/** Checksums of files that have not changed since this process read them, by path. */
const known = new Map<string, { readonly stamp: string; readonly digest: FileDigest }>()

/**
 * Size and checksum of a file; null when it does not exist. Reads the file once per process while its inode, size and
 * change time are unchanged.
 */
export async function digestFile(path: string, signal?: AbortSignal): Promise<FileDigest | null> {
  const before = await statOf(path)
  if (!before) return null
  const stamp = stampOf(before)
  const earlier = known.get(path)
  if (earlier?.stamp === stamp) return earlier.digest
  const hash = createHash('sha256')
  // Chunks of half a megabyte keep each step of the event loop below a millisecond.
  const chunks: AsyncIterable<Uint8Array> = createReadStream(path, {
    highWaterMark: 1 << 19,
    ...(signal && { signal }),
  })
  for await (const chunk of chunks) hash.update(chunk)
  const digest = { size: Number(before.size), sha256: hash.digest('hex') }
  known.set(path, { stamp, digest })
  return digest
}

/** @throws MODEL_TAMPERED when the file is not the one that the manifest pins */
export function checkDigest(id: string, place: string, file: ModelFile, digest: FileDigest): void {
  if (file.size !== null && digest.size !== file.size) {
    throw modelTampered({ id, place, what: 'size', found: String(digest.size), expected: String(file.size) })
  }
  if (file.sha256 !== null && digest.sha256 !== file.sha256) {
    throw modelTampered({ id, place, what: 'sha256', found: digest.sha256, expected: file.sha256 })
  }
}

async function statOf(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true })
  } catch {
    return null
  }
}

function stampOf(stats: BigIntStats): string {
  return `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
}
