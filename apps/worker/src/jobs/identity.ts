import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Identity } from './task.ts'

/**
 * A hash of the bytes of files, in the order given, and of whatever else rows are made of: JSON. Another run may go on only
 * with the same.
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
