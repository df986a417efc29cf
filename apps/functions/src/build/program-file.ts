import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Writes a bundled program into a folder, unless the file exists, and returns its path; the file name contains a hash
 * of the content.
 */
export async function writeProgram(name: string, code: Uint8Array, folder: string): Promise<string> {
  const file = join(folder, `${name}-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`)
  const known = await readFile(file).catch(() => null)
  if (known?.equals(code)) return file
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const draft = `${file}.${process.pid}`
  await writeFile(draft, code, { mode: 0o644 })
  await rename(draft, file)
  return file
}
