import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Identity } from './task.ts'

/** A hash of files in order, and of other inputs of the rows; another run continues only with the same one. */
export function identityOf(files: readonly string[], ...of: readonly unknown[]): Identity {
  let found: Promise<string> | null = null
  return () => (found ??= hashOf(files, of))
}

async function hashOf(files: readonly string[], of: readonly unknown[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(of))
  for (const path of files) await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { end: false })
  return hash.digest('hex')
}
