import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A view in a file can make rows without end. */
const MOST_GROWTH = 100
const MOST_OF_LIMIT = 16
const ALWAYS_ALLOWED_BYTES = 2 ** 28

/** Files of a folder and of those in it, in one order, and what they take. */
export async function filesIn(folder: string): Promise<{ readonly files: readonly string[]; readonly bytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  let bytes = 0
  for (const path of files) bytes += (await stat(path)).size
  return { files: files.toSorted(), bytes }
}

/** Most bytes that the rows of files may take. */
export function mostBytesOf(bytes: number, maxBytes: number): number {
  return Math.max(ALWAYS_ALLOWED_BYTES, Math.min(bytes * MOST_GROWTH, maxBytes * MOST_OF_LIMIT))
}
