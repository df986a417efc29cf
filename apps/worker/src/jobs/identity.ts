import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Identity } from './task.ts'

/**
 * A hash of the bytes of files, in the given order, and of other inputs of the rows as JSON. Another run may continue
 * only with the same hash.
 */
export function identityOf(files: readonly string[], ...of: readonly unknown[]): Identity {
  let found: Promise<string> | null = null
  return () => (found ??= hashOf(files, of))
}

async function hashOf(files: readonly string[], of: readonly unknown[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(of))
  for (const path of files) await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { end: false })
  return hash.digest('hex')
}
